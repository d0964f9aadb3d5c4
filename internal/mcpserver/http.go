package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of the sessions of clients that speak an older revision of the protocol.
const (
	maxSessions  = 32 // of a user; beyond them requests are served without a session
	sessionLimit = 30 * time.Minute
)

// Handler serves the users of a web server over streamable HTTP; ownerOf names the user
// of a request. In the present revision of the protocol each request stands for itself.
// Only a client of an older one that can ask its person gets a session, because there a
// server asks by a request of its own. Sessions are kept for each user apart, so that none
// can pass from one user to another.
func Handler(cfg Config, ownerOf func(context.Context) string) (http.Handler, error) {
	if _, err := New(cfg, ""); err != nil {
		return nil, err
	}
	return &handler{cfg: cfg, ownerOf: ownerOf, faces: map[string]*face{}}, nil
}

type handler struct {
	cfg     Config
	ownerOf func(context.Context) string

	mu    sync.Mutex
	faces map[string]*face // by owner
}

// A face is the server of one user, with sessions and without.
type face struct {
	server           *mcp.Server
	single, sessions http.Handler
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, err := h.faceOf(h.ownerOf(r.Context()))
	if err != nil { // the same configuration has been good before
		http.Error(w, "the MCP server cannot be reached", http.StatusInternalServerError)
		return
	}
	if r.Header.Get("Mcp-Session-Id") != "" {
		f.sessions.ServeHTTP(w, r)
		return
	}
	opens, err := opensSession(r)
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		http.Error(w, fmt.Sprintf("the request's body is larger than %d bytes", tooLarge.Limit-1), http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		http.Error(w, "the request cannot be read", http.StatusBadRequest)
		return
	}
	if opens && f.openSessions() < maxSessions {
		f.sessions.ServeHTTP(w, r)
		return
	}
	f.single.ServeHTTP(w, r)
}

// faceOf returns the server of a user.
func (h *handler) faceOf(owner string) (*face, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.faces[owner]; f != nil {
		return f, nil
	}
	s, err := New(h.cfg, owner)
	if err != nil {
		return nil, err
	}
	server := func(*http.Request) *mcp.Server { return s }
	f := &face{ // the web server checks hosts itself
		server:   s,
		single:   mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{Stateless: true, DisableLocalhostProtection: true}),
		sessions: mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{SessionTimeout: sessionLimit, DisableLocalhostProtection: true}),
	}
	h.faces[owner] = f
	return f, nil
}

func (f *face) openSessions() int {
	n := 0
	for range f.server.Sessions() {
		n++
	}
	return n
}

// opensSession reports whether a request is the first of a client of an older revision
// that can ask its person. It leaves the body to be read again.
func opensSession(r *http.Request) (bool, error) {
	if r.Method != http.MethodPost || r.Header.Get("Mcp-Protocol-Version") >= firstRounds {
		return false, nil
	}
	raw, err := io.ReadAll(r.Body) // the web server bounds it
	if err != nil {
		return false, err
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	var first struct {
		Method string
		Params struct {
			ProtocolVersion string
			Capabilities    struct{ Elicitation *struct{} }
		}
	}
	if json.Unmarshal(raw, &first) != nil {
		return false, nil // the server says what is wrong with it
	}
	return first.Method == "initialize" && first.Params.ProtocolVersion < firstRounds && first.Params.Capabilities.Elicitation != nil, nil
}
