package retrieve

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"interlock/internal/document"
	"interlock/internal/fault"
)

// An AddRequest names documents to index.
type AddRequest struct {
	// Owner is who may find them; "" is everybody.
	Owner string
	// Collection or Thread is what they belong to; one of both is required.
	Collection, Thread string
	// Path is a folder, all documents in which are added, or one document. Required.
	Path string
	// WordsOnly leaves out embedding: the documents are found by meaning after [Index.EmbedDocuments].
	WordsOnly bool
	// Progress is told how far it is. Default: nobody is.
	Progress func(Progress)
}

// A Progress tells how far an Add is. Documents are found by their words once they are read, and by
// meaning once they are embedded.
type Progress struct {
	Stage string // "reading" counts files, "embedding" passages
	Done  int
	Total int
	File  string // that is being read
}

// The stages of an Add.
const (
	StageReading   = "reading"
	StageEmbedding = "embedding"
)

// An AddReport says what became of the documents.
type AddReport struct {
	Added     int              `json:"added"`
	Changed   int              `json:"changed"`
	Unchanged int              `json:"unchanged"`
	Removed   int              `json:"removed"` // they are no longer in the folder
	Chunks    int              `json:"chunks"`  // of what was added or changed
	Problems  []DocumentReport `json:"problems,omitempty"`
}

// A DocumentReport names a document that could not be read, or not whole.
type DocumentReport struct {
	File       string     `json:"source_file"`
	Code       fault.Code `json:"error,omitempty"` // "" where only a part is missing
	Message    string     `json:"message"`
	Suggestion string     `json:"suggestion,omitempty"`
}

var collectionName = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$`)

// Add indexes the documents below a path. Those that have not changed since the last time are left as
// they are, those that are gone from the folder are removed. A document that cannot be read stands in
// the report; only what ends everything is an error. An Add that is cancelled goes on where it was when
// it is repeated.
func (x *Index) Add(ctx context.Context, q AddRequest) (AddReport, error) {
	var report AddReport
	if err := q.check(); err != nil {
		return report, err
	}
	if q.Progress == nil {
		q.Progress = func(Progress) {}
	}
	folder, files, err := x.findFiles(q.Path)
	if err != nil {
		return report, err
	}
	known, err := x.knownFiles(ctx, q, folder)
	if err != nil {
		return report, storeFault(err, "listing documents")
	}
	reader := document.NewReader(x.cfg.Documents)
	defer reader.Close()
	one := len(files) == 1 && files[0].single
	for i, f := range files {
		q.Progress(Progress{StageReading, i, len(files), f.name})
		if err := x.addFile(ctx, q, reader, folder, f, known[f.name], &report); err != nil {
			return report, storeFault(err, "adding "+f.name)
		}
		delete(known, f.name)
	}
	q.Progress(Progress{StageReading, len(files), len(files), ""})
	if !one {
		for _, gone := range known {
			if err := x.removeDocument(ctx, gone.id); err != nil {
				return report, storeFault(err, "removing a document")
			}
			report.Removed++
		}
	}
	if q.WordsOnly {
		return report, nil
	}
	return report, x.EmbedDocuments(ctx, q.Progress)
}

// EmbedDocuments embeds the passages of all documents that have not been. If it is cancelled, the
// next call goes on. progress may be nil.
func (x *Index) EmbedDocuments(ctx context.Context, progress func(Progress)) error {
	if progress == nil {
		progress = func(Progress) {}
	}
	return storeFault(x.embedDocuments(ctx, progress), "embedding documents")
}

func (q AddRequest) check() error {
	if q.Path == "" {
		return fault.New(fault.BadRequest, "there is no path of documents to add")
	}
	return CheckCollection(q.Collection, q.Thread)
}

// CheckCollection says what is wrong with a name of a collection; where there is a thread it may be empty.
func CheckCollection(name, thread string) error {
	switch {
	case name == "" && thread == "":
		return fault.New(fault.BadRequest, "documents belong to a collection or to a thread").Suggest("Name a collection.")
	case name != "" && !collectionName.MatchString(name):
		return fault.New(fault.BadRequest, "%q cannot be the name of a collection", name).Suggest("Use up to 64 letters, digits, spaces, dots, hyphens and underscores.")
	}
	return nil
}

// A foundFile is a document below the path of a request.
type foundFile struct {
	name     string // from the folder, with slashes
	size     int64
	modified time.Time
	single   bool // it was named itself
}

// findFiles lists the documents of a folder, without hidden files and without following links.
func (x *Index) findFiles(path string) (folder string, files []foundFile, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, fault.Wrap(err, fault.NotFound, "%s cannot be opened: %v", path, err).Suggest("Name a folder of documents, or a document.")
	}
	if !info.IsDir() {
		if !info.Mode().IsRegular() { // opening a pipe would wait for its writer
			return "", nil, fault.New(fault.DocumentUnreadable, "%s is neither a file nor a folder", path).Suggest("Name a folder of documents, or a document.")
		}
		if document.KindOf(path) == "" {
			return "", nil, fault.New(fault.DocumentUnreadable, "%s is no kind of document that can be read", path).Suggest("Documents are txt, md, html, pdf, docx and csv files.")
		}
		return filepath.Dir(path), []foundFile{{filepath.Base(path), info.Size(), info.ModTime(), true}}, nil
	}
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != path && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || document.KindOf(name) == "":
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(path, name)
		if err != nil {
			return err
		}
		if files = append(files, foundFile{filepath.ToSlash(rel), info.Size(), info.ModTime(), false}); len(files) > x.cfg.MaxFiles {
			return fault.New(fault.TooMany, "%s holds more than %d documents", path, x.cfg.MaxFiles).Suggest("Add its folders one by one.")
		}
		return nil
	})
	return path, files, err
}

// A knownFile is a document as it was when it was indexed.
type knownFile struct {
	id       int64
	hash     string
	size     int64
	modified int64
}

func (x *Index) knownFiles(ctx context.Context, q AddRequest, folder string) (map[string]knownFile, error) {
	out := map[string]knownFile{}
	err := eachRow(ctx, x.db, func(rows *sql.Rows) error {
		var name string
		var k knownFile
		err := rows.Scan(&name, &k.id, &k.hash, &k.size, &k.modified)
		out[name] = k
		return err
	}, "SELECT file, id, hash, size, modified FROM documents WHERE owner = ? AND collection = ? AND thread = ? AND folder = ?", q.Owner, q.Collection, q.Thread, folder)
	return out, err
}

// addFile reads a document that is new or has changed and stores it.
func (x *Index) addFile(ctx context.Context, q AddRequest, reader *document.Reader, folder string, f foundFile, known knownFile, report *AddReport) error {
	if known.id != 0 && known.size == f.size && known.modified == f.modified.UnixNano() {
		report.Unchanged++
		return nil
	}
	path := filepath.Join(folder, filepath.FromSlash(f.name))
	hash, err := hashFile(path)
	if err != nil {
		report.Problems = append(report.Problems, DocumentReport{f.name, fault.DocumentUnreadable, fmt.Sprintf("it cannot be opened: %v", err), ""})
		return nil
	}
	if known.id != 0 && known.hash == hash {
		report.Unchanged++
		_, err := x.db.ExecContext(ctx, "UPDATE documents SET size = ?, modified = ? WHERE id = ?", f.size, f.modified.UnixNano(), known.id)
		return err
	}
	d := storedDocument{file: f, folder: folder, hash: hash}
	doc, err := reader.ReadFile(ctx, path)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		found := fault.From(err)
		d.problem = &DocumentReport{f.name, found.Code, strings.TrimPrefix(found.Message, path+" "), found.Suggestion}
		report.Problems = append(report.Problems, *d.problem)
	default:
		d.title, d.pages, d.notes, d.chunks = doc.Title, doc.Pages, doc.Notes, makeChunks(doc.Parts)
		for _, note := range doc.Notes {
			report.Problems = append(report.Problems, DocumentReport{File: f.name, Message: note})
		}
	}
	stored, err := x.storeDocument(ctx, q, d)
	if err != nil {
		return err
	}
	switch {
	case !stored:
		report.Unchanged++
		return nil
	case known.id != 0:
		report.Changed++
	default:
		report.Added++
	}
	report.Chunks += len(d.chunks)
	return nil
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// A storedDocument is a document on its way into the file. One with a problem is stored too, so
// that it is listed, and read again only when it changes.
type storedDocument struct {
	file    foundFile
	folder  string
	hash    string
	title   string
	pages   int
	notes   []string
	problem *DocumentReport
	chunks  []chunk
}

// storeDocument stores a document in place of what the index had of it. It reports false if
// another process has stored the same content meanwhile.
func (x *Index) storeDocument(ctx context.Context, q AddRequest, d storedDocument) (stored bool, err error) {
	notes, err := json.Marshal(append([]string{}, d.notes...))
	if err != nil {
		return false, err
	}
	problem := ""
	if d.problem != nil {
		text, err := json.Marshal(d.problem)
		if err != nil {
			return false, err
		}
		problem = string(text)
	}
	err = x.change(ctx, func(tx *sql.Tx) error {
		var before int64
		var hash string
		var embedded map[string][]byte
		err := tx.QueryRowContext(ctx, "SELECT id, hash FROM documents WHERE owner = ? AND collection = ? AND thread = ? AND folder = ? AND file = ?", q.Owner, q.Collection, q.Thread, d.folder, d.file.name).Scan(&before, &hash)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case hash == d.hash:
			return nil
		}
		if embedded, err = x.embeddedTexts(ctx, tx, before, d.hash); err != nil {
			return err
		}
		if before != 0 {
			if err := deleteDocument(ctx, tx, before); err != nil {
				return err
			}
		}
		stored = true
		var total int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM chunks").Scan(&total); err != nil {
			return err
		}
		if total+len(d.chunks) > x.cfg.MaxChunks {
			return fault.New(fault.TooLarge, "the index would hold more than %d passages", x.cfg.MaxChunks).Suggest("Remove collections that nobody uses with `interlock docs remove`.")
		}
		r, err := tx.ExecContext(ctx, "INSERT INTO documents (key, owner, collection, thread, folder, file, title, hash, size, modified, pages, notes, problem, added) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
			documentKey(q, d.folder, d.file.name), q.Owner, q.Collection, q.Thread, d.folder, d.file.name, d.title, d.hash, d.file.size, d.file.modified.UnixNano(), d.pages, string(notes), problem, time.Now().Unix())
		if err != nil {
			return err
		}
		id, err := r.LastInsertId()
		if err != nil {
			return err
		}
		if err := x.insertChunks(ctx, tx, id, d, embedded); err != nil {
			return err
		}
		if err := keepWords(ctx, tx, d.chunks); err != nil {
			return err
		}
		return raiseGeneration(ctx, tx, "documents")
	})
	return stored && err == nil, err
}

// documentKey is the id under which others know a document. It stays when the content changes.
func documentKey(q AddRequest, folder, file string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{q.Owner, q.Collection, q.Thread, folder, file}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// embeddedTexts returns the vectors of the texts that the document had before and that documents with the
// same content have: what they share with the new one need not be embedded again.
func (x *Index) embeddedTexts(ctx context.Context, tx *sql.Tx, before int64, hash string) (map[string][]byte, error) {
	out := map[string][]byte{}
	err := eachRow(ctx, tx, func(rows *sql.Rows) error {
		var text labelledText
		var vector []byte
		err := rows.Scan(&text.title, &text.file, &text.place, &text.heading, &text.content, &vector)
		out[text.embedded()] = vector
		return err
	}, `SELECT d.title, d.file, c.place, c.heading, c.content, v.vector FROM documents d JOIN chunks c ON c.document = d.id JOIN chunk_vectors v ON v.id = c.id
		WHERE v.encoder = ? AND d.id IN (?, (SELECT min(id) FROM documents WHERE hash = ? AND problem = ''))`, x.encoder.Name(), before, hash)
	return out, err
}

// insertChunks stores the passages of a document, with the vectors of those that were embedded before.
func (x *Index) insertChunks(ctx context.Context, tx *sql.Tx, document int64, d storedDocument, embedded map[string][]byte) (err error) {
	text, err := tx.PrepareContext(ctx, "INSERT INTO chunks (document, number, place, heading, content) VALUES (?,?,?,?,?)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, text.Close()) }()
	words, err := tx.PrepareContext(ctx, insertWords)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, words.Close()) }()
	for i, c := range d.chunks {
		r, err := text.ExecContext(ctx, document, i, c.place, c.heading, c.content)
		if err != nil {
			return err
		}
		id, err := r.LastInsertId()
		if err != nil {
			return err
		}
		labelled := labelledText{d.title, d.file.name, c.place, c.heading, c.content}
		if _, err := words.ExecContext(ctx, id, c.content, labelled.label(), labelled.gloss()); err != nil {
			return err
		}
		if vector := embedded[labelled.embedded()]; vector != nil {
			if _, err := tx.ExecContext(ctx, "INSERT INTO chunk_vectors (id, encoder, vector) VALUES (?,?,?)", id, x.encoder.Name(), vector); err != nil {
				return err
			}
		}
	}
	return nil
}

// embedDocuments makes the missing vectors of all documents.
func (x *Index) embedDocuments(ctx context.Context, progress func(Progress)) error {
	const missing = " FROM chunks c JOIN documents d ON d.id = c.document WHERE NOT EXISTS (SELECT 1 FROM chunk_vectors v WHERE v.id = c.id AND v.encoder = ?)"
	var total, done int
	if err := x.db.QueryRowContext(ctx, "SELECT count(*)"+missing, x.encoder.Name()).Scan(&total); err != nil || total == 0 {
		return err
	}
	progress(Progress{StageEmbedding, 0, total, ""})
	next := func(ctx context.Context, after int64, n int) (out []pending, err error) {
		err = eachRow(ctx, x.db, func(rows *sql.Rows) error {
			var id int64
			var text labelledText
			err := rows.Scan(&id, &text.title, &text.file, &text.place, &text.heading, &text.content)
			out = append(out, pending{id, text.embedded()})
			return err
		}, "SELECT c.id, d.title, d.file, c.place, c.heading, c.content"+missing+" AND c.id > ? ORDER BY c.id LIMIT ?", x.encoder.Name(), after, n)
		return out, err
	}
	return x.embedPending(ctx, "documents", "chunk_vectors", next, func(n int) {
		done += n
		progress(Progress{StageEmbedding, done, max(total, done), ""})
	})
}
