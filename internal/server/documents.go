package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"interlock/internal/fault"
)

// Documents keeps documents of users and finds passages in them.
type Documents interface {
	DocumentReader
	DocumentStore
}

// A DocumentReader shows documents: those of the user and the operator's, which everybody sees. One of
// another user does not exist.
type DocumentReader interface {
	ListDocuments(ctx context.Context, user, thread string) (any, error)
	// OpenDocument gives the text at a place of a document; "" is the first.
	OpenDocument(ctx context.Context, user, id, place string) (any, error)
	SearchDocuments(ctx context.Context, q DocumentQuery) (any, error)
}

// A DocumentStore changes the documents of a user.
type DocumentStore interface {
	// KeepDocument stores an uploaded file and gives the name that it has there.
	KeepDocument(ctx context.Context, f DocumentFile, content io.Reader) (name string, err error)
	// IndexDocuments reads what is new on a shelf. It returns when the documents are found by their
	// words; with progress, which is told how far it is, when they are found by meaning. A client that
	// goes away ends nothing.
	IndexDocuments(ctx context.Context, s Shelf, progress func(DocumentProgress)) (any, error)
	DeleteDocument(ctx context.Context, user, id string) error
}

// A Shelf is what documents belong to: a collection or a thread of a user. User "" is the operator,
// whose documents everybody sees.
type Shelf struct{ User, Collection, Thread string }

// A DocumentFile is to be stored. Its name is what the client sent.
type DocumentFile struct {
	Shelf
	Name    string
	Replace bool
}

// A DocumentQuery asks for passages.
type DocumentQuery struct {
	User, Collection, Thread, Text string
	Limit                          int
}

// A DocumentProgress says how far the indexing of documents is.
type DocumentProgress struct {
	Stage string `json:"stage"` // reading counts files, embedding passages
	Done  int    `json:"done"`
	Total int    `json:"total"`
	File  string `json:"file,omitempty"`
}

func (s *Server) documents(ctx context.Context, in *struct {
	Thread string `query:"thread" maxLength:"200" doc:"List what is attached to this thread, too"`
},
) (any, error) {
	if err := s.checkThread(ctx, in.Thread); err != nil {
		return nil, err
	}
	return s.cfg.Documents.ListDocuments(ctx, noteOf(ctx).user.Name, in.Thread)
}

func (s *Server) openDocument(ctx context.Context, in *struct {
	ID    string `path:"id" maxLength:"60"`
	Place string `query:"place" maxLength:"400" doc:"The place that a citation names; the first if absent"`
},
) (any, error) {
	return s.cfg.Documents.OpenDocument(ctx, noteOf(ctx).user.Name, in.ID, in.Place)
}

func (s *Server) searchDocuments(ctx context.Context, in *struct {
	Text       string `query:"query" required:"true" minLength:"1" maxLength:"8000"`
	Collection string `query:"collection" maxLength:"200"`
	Thread     string `query:"thread" maxLength:"200"`
	Limit      int    `query:"limit" default:"10" minimum:"1" maximum:"100"`
},
) (any, error) {
	if err := s.checkThread(ctx, in.Thread); err != nil {
		return nil, err
	}
	return s.cfg.Documents.SearchDocuments(ctx, DocumentQuery{User: noteOf(ctx).user.Name, Collection: in.Collection, Thread: in.Thread, Text: in.Text, Limit: in.Limit})
}

type deletedDocument struct {
	ID      string `json:"document_id"`
	Deleted bool   `json:"deleted"`
}

func (s *Server) deleteDocument(ctx context.Context, in *struct {
	ID string `path:"id" maxLength:"60"`
},
) (deletedDocument, error) {
	// An admin acts as the operator, and for itself: documents of its threads are its own.
	err := s.cfg.Documents.DeleteDocument(ctx, uploader(ctx), in.ID)
	if own := noteOf(ctx).user.Name; err != nil && uploader(ctx) != own {
		err = s.cfg.Documents.DeleteDocument(ctx, own, in.ID)
	}
	return deletedDocument{in.ID, err == nil}, err
}

// checkThread refuses a thread of somebody else; "" is none.
func (s *Server) checkThread(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	_, err := s.ownThread(ctx, id)
	return err
}

type documentForm struct {
	Collection string `query:"collection" maxLength:"200" doc:"Where the documents belong; or thread"`
	Thread     string `query:"thread" maxLength:"200" doc:"Attach them to this thread"`
	Replace    bool   `query:"replace" doc:"Replace documents of the same name"`
	Accept     string `header:"Accept" doc:"With text/event-stream the reply tells the progress and ends with the event done"`
}

// uploadDocuments stores the documents of a form and indexes them. The reply comes when they are found by
// their words; as a stream of events it goes on until they are found by meaning.
func (s *Server) uploadDocuments(ctx context.Context, in *documentForm) (func(request), error) {
	shelf := Shelf{User: uploader(ctx), Collection: in.Collection, Thread: in.Thread}
	if in.Thread != "" { // what is attached to a thread is its owner's
		shelf.User, shelf.Collection = noteOf(ctx).user.Name, ""
	}
	if err := s.checkThread(ctx, in.Thread); err != nil {
		return nil, err
	}
	return func(q request) {
		if err := s.receiveDocuments(q.r, shelf, in.Replace); err != nil {
			writeProblem(q.w, q.r, err)
			return
		}
		if strings.Contains(in.Accept, "text/event-stream") {
			s.streamIndexing(q, shelf)
			return
		}
		report, err := s.cfg.Documents.IndexDocuments(q.r.Context(), shelf, nil)
		if err != nil {
			writeProblem(q.w, q.r, err)
			return
		}
		q.w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(q.w).Encode(report)
	}, nil
}

// receiveDocuments stores the files of a form as they arrive. The first that cannot be stored ends it;
// those before it stay.
func (s *Server) receiveDocuments(r *http.Request, shelf Shelf, replace bool) error {
	form, err := r.MultipartReader()
	if err != nil {
		return badRequest("the body must be a form with files (multipart/form-data)")
	}
	for stored := 0; ; {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF) && stored == 0:
			return badRequest("the form has no file")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return brokenForm(err)
		case part.FileName() == "":
			continue
		case stored == maxUploads:
			return fault.New(fault.TooLarge, "a form may have %d files", maxUploads)
		}
		if err := s.actions.upload(r.Context(), part.FileName()); err != nil {
			return err
		}
		content := &formFile{from: part}
		_, err = s.cfg.Documents.KeepDocument(r.Context(), DocumentFile{shelf, part.FileName(), replace}, content)
		if content.err != nil {
			return brokenForm(content.err)
		}
		if err != nil {
			return err
		}
		stored++
	}
}

// streamIndexing indexes a shelf and sends an event for every step. A client that goes away ends nothing.
func (s *Server) streamIndexing(q request, shelf Shelf) {
	out := openStream(q.w, comeBack)
	end := out.beat(s.cfg.Heartbeat, func() {})
	defer end()
	send := func(name string, body any) {
		if raw, err := json.Marshal(body); err == nil {
			_ = out.send("", name, raw) // a client that is gone misses it
		}
	}
	report, err := s.cfg.Documents.IndexDocuments(q.r.Context(), shelf, func(p DocumentProgress) { send("progress", p) })
	if err != nil {
		noteOf(q.r.Context()).err = err
		send("problem", problemOf(q.r.Context(), err))
		return
	}
	send("done", report)
}
