package data

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"interlock/internal/document"
	"interlock/internal/fault"
	"interlock/internal/retrieve"
	"interlock/internal/server"
)

// DocumentsConfig says where documents are kept.
type DocumentsConfig struct {
	Index *retrieve.Index // required
	Dir   string          // of uploaded documents; required
	// MaxBytes bounds one document. Default 256 MiB.
	MaxBytes int64
	Log      *slog.Logger // default: none
}

// Documents are the documents of users as the server stores, lists, opens and searches them: uploaded ones,
// in a folder for each owner and collection or thread, and those that the operator has indexed in place.
// They implement server.Documents. One goroutine at most embeds in the background; it ends with Close.
type Documents struct {
	cfg DocumentsConfig // fixed at creation

	life      context.Context // ends with Close; embedding outlives the request that began it
	end       context.CancelFunc
	working   sync.WaitGroup
	embedding chan struct{} // holds the one who embeds
}

// NewDocuments makes Documents and goes on with embedding where another process stopped.
func NewDocuments(c DocumentsConfig) *Documents {
	if c.MaxBytes == 0 {
		c.MaxBytes = 256 << 20
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	d := &Documents{cfg: c, embedding: make(chan struct{}, 1)}
	d.life, d.end = context.WithCancel(context.Background())
	d.embedInBackground()
	return d
}

// Close ends what runs in the background.
func (d *Documents) Close() error {
	d.end()
	d.working.Wait()
	return nil
}

// ListDocuments implements server.DocumentReader.
func (d *Documents) ListDocuments(ctx context.Context, user, thread string) (any, error) {
	list, err := d.cfg.Index.List(ctx, retrieve.Scope{Owner: user, Thread: thread})
	return map[string]any{"documents": list}, err
}

// OpenDocument implements server.DocumentReader.
func (d *Documents) OpenDocument(ctx context.Context, user, id, place string) (any, error) {
	return d.cfg.Index.OpenPlace(ctx, user, id, place)
}

// SearchDocuments implements server.DocumentReader.
func (d *Documents) SearchDocuments(ctx context.Context, q server.DocumentQuery) (any, error) {
	scope := retrieve.Scope{Owner: q.User, Thread: q.Thread}
	if q.Collection != "" {
		scope.Collections = []string{q.Collection}
	}
	found, err := d.cfg.Index.Search(ctx, retrieve.Query{Scope: scope, Text: q.Text, Limit: q.Limit})
	return map[string]any{"chunks": found}, err
}

// folder is where the uploaded documents of a shelf are. Names are encoded, so that no name of a user,
// collection or thread leads elsewhere.
func (d *Documents) folder(s server.Shelf) string {
	encode := func(kind, name string) string { return kind + "-" + hex.EncodeToString([]byte(name)) }
	if s.Thread != "" {
		return filepath.Join(d.cfg.Dir, encode("user", s.User), encode("thread", s.Thread))
	}
	return filepath.Join(d.cfg.Dir, encode("user", s.User), encode("collection", s.Collection))
}

const maxDocumentName = 120 // bytes

// documentName gives the name under which an uploaded document is kept.
func documentName(given string) (string, error) {
	name := filepath.Base(filepath.ToSlash(strings.ReplaceAll(given, `\`, "/")))
	switch {
	case name == "." || name == "/" || strings.HasPrefix(name, ".") || len(name) > maxDocumentName || strings.ContainsFunc(name, unicode.IsControl):
		return "", fault.New(fault.BadRequest, "%q cannot be the name of a document", name).Suggest("Use a name of up to %d bytes that does not begin with a dot.", maxDocumentName)
	case document.KindOf(name) == "":
		return "", fault.New(fault.DocumentUnreadable, "%s is no kind of document that can be read", name).Suggest("Documents are txt, md, html, pdf, docx and csv files.")
	}
	return name, nil
}

// KeepDocument implements server.DocumentStore. The file gets its name when it is whole.
func (d *Documents) KeepDocument(_ context.Context, f server.DocumentFile, content io.Reader) (name string, err error) {
	if name, err = documentName(f.Name); err != nil {
		return "", err
	}
	if err := retrieve.CheckCollection(f.Collection, f.Thread); err != nil {
		return "", err
	}
	dir := d.folder(f.Shelf)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making a folder for documents: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("opening a folder of documents: %w", err)
	}
	defer root.Close()
	if _, err := root.Lstat(name); err == nil && !f.Replace {
		return "", fault.New(fault.Conflict, "there is a document %s already", name).Suggest("Upload it with replace=true, or under another name.")
	}
	part := ".upload-" + rand.Text()
	defer func() { _ = root.Remove(part) }() // gone where it was renamed
	if err := d.receive(root, part, name, content); err != nil {
		return "", err
	}
	if err := root.Rename(part, name); err != nil {
		return "", fmt.Errorf("putting a document in its place: %w", err)
	}
	return name, nil
}

func (d *Documents) receive(root *os.Root, part, name string, content io.Reader) error {
	file, err := root.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("making a file for a document: %w", err)
	}
	n, err := io.Copy(file, io.LimitReader(content, d.cfg.MaxBytes+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("receiving a document: %w", err)
	}
	if n > d.cfg.MaxBytes {
		return fault.New(fault.TooLarge, "%s is larger than the %d MB that a document may have", name, d.cfg.MaxBytes>>20).Suggest("Split the document.")
	}
	return nil
}

// IndexDocuments implements server.DocumentStore.
func (d *Documents) IndexDocuments(_ context.Context, s server.Shelf, progress func(server.DocumentProgress)) (any, error) {
	told := func(p retrieve.Progress) {
		if progress != nil {
			progress(server.DocumentProgress{Stage: p.Stage, Done: p.Done, Total: p.Total, File: p.File})
		}
	}
	d.working.Add(1)
	defer d.working.Done()
	report, err := d.cfg.Index.Add(d.life, retrieve.AddRequest{Owner: s.User, Collection: s.Collection, Thread: s.Thread, Path: d.folder(s), WordsOnly: true, Progress: told})
	if err != nil {
		return nil, err
	}
	if progress == nil {
		d.embedInBackground()
		return report, nil
	}
	return report, d.embed(told)
}

// embedInBackground embeds what is missing, unless somebody does so already and will see it.
func (d *Documents) embedInBackground() {
	d.working.Go(func() {
		if err := d.embed(nil); err != nil && d.life.Err() == nil {
			d.cfg.Log.Warn("documents cannot be found by meaning", "err", err)
		}
	})
}

// embed waits for its turn and embeds what is missing then.
func (d *Documents) embed(progress func(retrieve.Progress)) error {
	select {
	case d.embedding <- struct{}{}:
		defer func() { <-d.embedding }()
	case <-d.life.Done():
		return d.life.Err()
	}
	return d.cfg.Index.EmbedDocuments(d.life, progress)
}

// DeleteDocument implements server.DocumentStore. The file of an uploaded document is deleted; one that was
// indexed in place stays where it is.
func (d *Documents) DeleteDocument(ctx context.Context, user, id string) error {
	gone, err := d.cfg.Index.RemoveDocument(ctx, user, id)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(gone.Folder, filepath.Clean(d.cfg.Dir)+string(filepath.Separator)) {
		return nil
	}
	if err := os.Remove(filepath.Join(gone.Folder, filepath.FromSlash(gone.File))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("deleting a document: %w", err)
	}
	return nil
}
