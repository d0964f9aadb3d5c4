package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"interlock/internal/fault"
)

// maxUploads bounds the files of one form.
const maxUploads = 100

// isUpload says which requests carry files, in bodies larger than those of others.
func isUpload(r *http.Request) bool {
	return r.Method == http.MethodPost && (strings.HasPrefix(r.URL.Path, "/api/datasets/") && strings.HasSuffix(r.URL.Path, "/files") || r.URL.Path == "/api/documents")
}

// A slowBody gives each read its own deadline: a client that sends nothing is let
// go, a long body is not cut.
type slowBody struct {
	io.ReadCloser
	rc   *http.ResponseController
	each time.Duration
}

func (b *slowBody) Read(p []byte) (int, error) {
	_ = b.rc.SetReadDeadline(time.Now().Add(b.each))
	return b.ReadCloser.Read(p)
}

type uploadForm struct {
	ID      string `path:"id" maxLength:"200"`
	Replace bool   `query:"replace" doc:"Replace files of the same name"`
	Create  bool   `query:"create" doc:"Make the dataset if there is none"`
}

// uploadFiles stores the files of a form one by one, as they arrive. The first that
// cannot be stored ends it; those before it stay. Then they are read, and the reply
// names the files of the dataset that cannot be.
func (s *Server) uploadFiles(_ context.Context, in *uploadForm) (func(request), error) {
	return func(q request) {
		stored, err := s.receive(q.r, in)
		if err != nil {
			writeProblem(q.w, q.r, err)
			return
		}
		q.w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(q.w).Encode(map[string]any{"files": stored, "problems": s.uploadProblems(q.r.Context(), in.ID)})
	}, nil
}

// readUploadsFor is how long an upload's reply waits for its files to be read.
const readUploadsFor = 20 * time.Second

// uploadProblems says which files of a dataset cannot be read. Files that take long are
// read later; what is wrong with them then stands in the overview.
func (s *Server) uploadProblems(ctx context.Context, dataset string) []FileProblem {
	ctx, cancel := context.WithTimeout(ctx, readUploadsFor)
	defer cancel()
	problems, err := s.cfg.Files.Problems(ctx, dataset)
	if err != nil {
		noteOf(ctx).err = err
	}
	return orEmpty(problems)
}

func (s *Server) receive(r *http.Request, in *uploadForm) ([]any, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, badRequest("the body must be a form with files (multipart/form-data)")
	}
	var stored []any
	for {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF) && len(stored) == 0:
			return nil, badRequest("the form has no file")
		case errors.Is(err, io.EOF):
			return stored, nil
		case err != nil:
			return nil, brokenForm(err)
		case part.FileName() == "":
			continue
		case len(stored) == maxUploads:
			return nil, fault.New(fault.TooLarge, "a form may have %d files", maxUploads)
		}
		if err := s.actions.upload(r.Context(), part.FileName()); err != nil {
			return nil, err
		}
		content := &formFile{from: part}
		done, err := s.cfg.Files.Store(r.Context(), File{in.ID, part.FileName(), in.Replace, in.Create, uploader(r.Context())}, content)
		if content.err != nil {
			return nil, brokenForm(content.err)
		}
		if err != nil {
			return nil, err
		}
		stored = append(stored, done)
	}
}

// A formFile remembers that the client failed, not who stored.
type formFile struct {
	from io.Reader
	err  error
}

func (f *formFile) Read(p []byte) (int, error) {
	n, err := f.from.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

func brokenForm(err error) error {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fault.Wrap(err, fault.TooLarge, "the files are larger than %d bytes", large.Limit)
	}
	return fault.Wrap(err, fault.BadRequest, "the form broke off or cannot be read")
}

// uploader is to whom an uploaded file belongs: an admin acts as the operator.
func uploader(ctx context.Context) string {
	if u := noteOf(ctx).user; u.Role != Admin {
		return u.Name
	}
	return ""
}

type deletedFile struct {
	Dataset string `json:"dataset_id"`
	File    string `json:"file"`
	Deleted bool   `json:"deleted"`
}

func (s *Server) deleteFile(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"200"`
	File string `path:"file" maxLength:"300"`
},
) (deletedFile, error) {
	if err := s.cfg.Files.Delete(ctx, File{Dataset: in.ID, Name: in.File, User: uploader(ctx)}); err != nil {
		return deletedFile{}, err
	}
	return deletedFile{in.ID, in.File, true}, nil
}
