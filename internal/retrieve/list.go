package retrieve

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"interlock/internal/document"
	"interlock/internal/fault"
)

// A Scope says whose documents are meant. Documents of nobody are everybody's to see; only the
// operator, whose Owner is "", may change those.
type Scope struct {
	Owner string
	// Collections are those to look into. Empty is all that the owner may see.
	Collections []string
	// Thread adds what is attached to this thread.
	Thread string
}

// condition selects the documents d of a scope.
func (s Scope) condition() (where string, args []any) {
	where, args = "d.owner IN ('', ?) AND (d.thread = '' ", []any{s.Owner}
	if len(s.Collections) > 0 {
		where += "AND d.collection IN (?" + strings.Repeat(",?", len(s.Collections)-1) + ")"
		for _, c := range s.Collections {
			args = append(args, c)
		}
	}
	where += " OR d.thread <> '' AND d.thread = ?)"
	return where, append(args, s.Thread)
}

// A Document is an indexed file.
type Document struct {
	ID         string          `json:"document_id"`
	Owner      string          `json:"owner,omitempty"`
	Collection string          `json:"collection,omitempty"`
	Thread     string          `json:"thread,omitempty"`
	File       string          `json:"source_file"`
	Folder     string          `json:"-"`
	Title      string          `json:"title,omitempty"`
	Bytes      int64           `json:"bytes"`
	Pages      int             `json:"pages,omitempty"`
	Chunks     int             `json:"chunks"`
	Embedded   int             `json:"embedded"` // chunks that are found by meaning as well
	Added      time.Time       `json:"added"`
	Notes      []string        `json:"notes,omitempty"`
	Problem    *DocumentReport `json:"problem,omitempty"`
}

// selectDocuments selects what scanDocument reads; its argument is the name of the encoder.
const selectDocuments = `SELECT d.key, d.owner, d.collection, d.thread, d.folder, d.file, d.title, d.size, d.pages, d.added, d.notes, d.problem,
	(SELECT count(*) FROM chunks c WHERE c.document = d.id), (SELECT count(*) FROM chunks c JOIN chunk_vectors v ON v.id = c.id WHERE c.document = d.id AND v.encoder = ?)
	FROM documents d`

// List returns the documents of a scope, ordered by collection and file.
func (x *Index) List(ctx context.Context, s Scope) ([]Document, error) {
	where, args := s.condition()
	out := []Document{}
	err := eachRow(ctx, x.db, func(rows *sql.Rows) error {
		d, err := scanDocument(rows)
		out = append(out, d)
		return err
	}, selectDocuments+` WHERE `+where+` ORDER BY d.collection, d.thread, d.file, d.id`, append([]any{x.encoder.Name()}, args...)...)
	if err != nil {
		return nil, storeFault(err, "listing documents")
	}
	return out, nil
}

func scanDocument(rows *sql.Rows) (d Document, err error) {
	var added int64
	var notes, problem string
	if err := rows.Scan(&d.ID, &d.Owner, &d.Collection, &d.Thread, &d.Folder, &d.File, &d.Title, &d.Bytes, &d.Pages, &added, &notes, &problem, &d.Chunks, &d.Embedded); err != nil {
		return d, err
	}
	d.Added = time.Unix(added, 0).UTC()
	err = json.Unmarshal([]byte(notes), &d.Notes)
	if err == nil && problem != "" {
		err = json.Unmarshal([]byte(problem), &d.Problem)
	}
	return d, err
}

// CheckKnown says that a collection has no document that the owner may see, and names those that have.
func (x *Index) CheckKnown(ctx context.Context, owner, collection string) error {
	var names []string
	err := eachRow(ctx, x.db, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	}, "SELECT DISTINCT collection FROM documents WHERE owner IN ('', ?) AND thread = '' ORDER BY collection", owner)
	switch {
	case err != nil:
		return storeFault(err, "listing collections")
	case slices.Contains(names, collection):
		return nil
	case len(names) == 0:
		return fault.New(fault.NotFound, "there is no collection %q: no documents have been added", collection).Suggest("Add a folder with `interlock docs add`.")
	}
	return fault.New(fault.NotFound, "there is no collection %q", collection).Suggest("Collections: %s.", strings.Join(names[:min(len(names), maxNamed)], ", "))
}

// maxNamed bounds the collections that an error names.
const maxNamed = 20

// Remove forgets the documents that belong to the owner itself in one collection or thread: all of
// them, or only those named. It returns how many there were. A name that no document has is an error, and
// nothing is removed.
func (x *Index) Remove(ctx context.Context, owner, collection, thread string, files ...string) (int, error) {
	if collection == "" && thread == "" {
		return 0, fault.New(fault.BadRequest, "there is no collection to remove documents from").Suggest("Name a collection.")
	}
	var ids []int64
	missing := slices.Clone(files)
	if err := eachRow(ctx, x.db, func(rows *sql.Rows) error {
		var id int64
		var file string
		err := rows.Scan(&id, &file)
		if len(files) == 0 || slices.Contains(files, file) {
			ids = append(ids, id)
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == file })
		return err
	}, "SELECT id, file FROM documents WHERE owner = ? AND collection = ? AND thread = ?", owner, collection, thread); err != nil {
		return 0, storeFault(err, "removing documents")
	}
	if len(missing) > 0 {
		return 0, fault.New(fault.NotFound, "there is no document %q in %q", missing[0], cmp.Or(collection, thread)).Suggest("`interlock docs list` shows the names.")
	}
	for i, id := range ids {
		if err := x.removeDocument(ctx, id); err != nil {
			return i, storeFault(err, "removing documents")
		}
	}
	return len(ids), nil
}

func (x *Index) removeDocument(ctx context.Context, id int64) error {
	return x.change(ctx, func(tx *sql.Tx) error {
		if err := deleteDocument(ctx, tx, id); err != nil {
			return err
		}
		return raiseGeneration(ctx, tx, "documents")
	})
}

// deleteDocument deletes a document with its passages, their words and vectors.
func deleteDocument(ctx context.Context, tx *sql.Tx, id int64) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM chunk_words WHERE rowid IN (SELECT id FROM chunks WHERE document = ?)", id); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM documents WHERE id = ?", id)
	return err
}

// Refresh brings the owner's documents in a collection or thread up to date with their files: changed
// ones are read again, missing ones removed. A folder that is not there, such as that of a disk which is not
// mounted, changes nothing. It looks at sizes and times first and costs little when
// nothing has changed. q.Path is not used: files that are new in a folder are found by Add.
func (x *Index) Refresh(ctx context.Context, q AddRequest) (AddReport, error) {
	var report AddReport
	q.Path = "."
	if err := q.check(); err != nil {
		return report, err
	}
	if q.Progress == nil {
		q.Progress = func(Progress) {}
	}
	list, err := x.List(ctx, Scope{Owner: q.Owner, Collections: []string{q.Collection}, Thread: q.Thread})
	if err != nil {
		return report, err
	}
	reader := document.NewReader(x.cfg.Documents)
	defer reader.Close()
	seen := map[string]bool{}
	for _, d := range list {
		if d.Owner != q.Owner || d.Collection != q.Collection || d.Thread != q.Thread || seen[d.Folder] {
			continue
		}
		seen[d.Folder] = true
		if err := x.refreshFolder(ctx, q, reader, d.Folder, &report); err != nil {
			return report, storeFault(err, "refreshing "+d.Folder)
		}
	}
	if q.WordsOnly {
		return report, nil
	}
	return report, x.EmbedDocuments(ctx, q.Progress)
}

// refreshFolder compares the known documents of a folder with their files.
func (x *Index) refreshFolder(ctx context.Context, q AddRequest, reader *document.Reader, folder string, report *AddReport) error {
	known, err := x.knownFiles(ctx, q, folder)
	if err != nil {
		return err
	}
	if _, err := os.ReadDir(folder); err != nil {
		report.Unchanged += len(known)
		report.Problems = append(report.Problems, DocumentReport{File: folder, Message: "the folder cannot be read: what was indexed of it stays as it is"})
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name)))
		if err == nil && !info.Mode().IsRegular() {
			err = fs.ErrNotExist // a folder or a pipe has taken its name
		}
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			report.Unchanged++
			report.Problems = append(report.Problems, DocumentReport{File: name, Message: "it cannot be opened: what was indexed of it stays as it is"})
			continue
		case err != nil:
			if err := x.removeDocument(ctx, known[name].id); err != nil {
				return err
			}
			report.Removed++
			continue
		}
		f := foundFile{name: name, size: info.Size(), modified: info.ModTime()}
		if err := x.addFile(ctx, q, reader, folder, f, known[name], report); err != nil {
			return err
		}
	}
	return nil
}
