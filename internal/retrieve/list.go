package retrieve

import (
	"context"
	"database/sql"
	"encoding/json"
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

// Remove forgets the documents that belong to the owner itself in one collection or thread: all of
// them, or only those named. It returns how many there were.
func (x *Index) Remove(ctx context.Context, owner, collection, thread string, files ...string) (int, error) {
	if collection == "" && thread == "" {
		return 0, fault.New(fault.BadRequest, "there is no collection to remove documents from").Suggest("Name a collection.")
	}
	var ids []int64
	if err := eachRow(ctx, x.db, func(rows *sql.Rows) error {
		var id int64
		var file string
		err := rows.Scan(&id, &file)
		if len(files) == 0 || slices.Contains(files, file) {
			ids = append(ids, id)
		}
		return err
	}, "SELECT id, file FROM documents WHERE owner = ? AND collection = ? AND thread = ?", owner, collection, thread); err != nil {
		return 0, storeFault(err, "removing documents")
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
// ones are read again, missing ones removed. It looks at sizes and times first and costs little when
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
	return report, x.EmbedDocuments(ctx, q.Progress)
}

// refreshFolder compares the known documents of a folder with their files.
func (x *Index) refreshFolder(ctx context.Context, q AddRequest, reader *document.Reader, folder string, report *AddReport) error {
	known, err := x.knownFiles(ctx, q, folder)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
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
