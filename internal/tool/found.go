package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// A Found declares a tool that was found at run time, as those of MCP servers are. The
// declaration is a fact of the thread that found it: what a model is offered and what a
// person approves follows from the log, and a replay needs no server.
type Found struct {
	Name        string          `json:"name"`
	Server      string          `json:"server"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	// ReadOnly says that a call changes nothing and reaches nothing outside: it needs no
	// approval. Whoever fills it must not take a server's word for it.
	ReadOnly bool `json:"read_only"`
}

// Digest returns the hash of the declaration. A tool that is declared in another way
// under the same name is another tool.
func (f Found) Digest() string {
	raw, err := json.Marshal(f)
	if err != nil { // the schema is no JSON, and such a tool cannot be made
		return ""
	}
	return event.Hash(raw)
}

// spec declares a found tool as the engine sees it: results carry a stranger's text and
// may differ from call to call.
func (f Found) spec() Spec {
	s := Spec{Name: f.Name, Description: f.Description, Input: f.Schema, Effect: Writes, Taints: true, Reaches: true, Volatile: true}
	if f.ReadOnly {
		s.Effect, s.Reaches = Reads, false
	}
	if len(s.Input) == 0 {
		s.Input = json.RawMessage(`{"type":"object"}`)
	}
	return s
}

// A Caller calls tools that were found at run time. In(ctx) tells whose call it is; a
// tool that is no longer declared as f says must not be called.
type Caller interface {
	CallFound(ctx context.Context, f Found, args json.RawMessage) (Result, error)
}

type foundTool struct {
	decl   Found
	caller Caller
}

func (t foundTool) Spec() Spec { return t.decl.spec() }

func (t foundTool) Call(ctx context.Context, args json.RawMessage) (Result, error) {
	if t.caller == nil {
		return Result{}, fault.New(fault.Unavailable, "%s of the server %s cannot be called here", t.decl.Name, t.decl.Server)
	}
	return t.caller.CallFound(ctx, t.decl, args)
}

// maxFound is how many found tools a set keeps ready.
const maxFound = 4096

// foundEntries are the found tools of a set by the digest of their declaration, so that
// each schema is compiled once.
type foundEntries struct {
	mu       sync.Mutex
	byDigest map[string]*Entry
}

// Found returns the tool of a declaration. A declaration whose schema does not compile
// or whose name belongs to a built-in tool is refused.
func (s *Set) Found(f Found) (*Entry, error) {
	if s.tools[f.Name] != nil {
		return nil, fmt.Errorf("%q is the name of a built-in tool", f.Name)
	}
	digest := f.Digest()
	s.found.mu.Lock()
	defer s.found.mu.Unlock()
	if e := s.found.byDigest[digest]; e != nil {
		return e, nil
	}
	var t Tool = foundTool{f, s.caller}
	if s.wrap != nil {
		t = s.wrap(t)
	}
	e, err := newEntry(t)
	if err == nil {
		_, err = e.compile() // a stranger wrote it
	}
	if err != nil {
		return nil, fmt.Errorf("tool %s of server %s: %w", f.Name, f.Server, err)
	}
	e.digest, e.server = digest, f.Server
	if s.found.byDigest == nil || len(s.found.byDigest) >= maxFound {
		s.found.byDigest = map[string]*Entry{}
	}
	s.found.byDigest[digest] = e
	return e, nil
}

// Digest returns the hash of the declaration of a found tool, "" of a built-in one.
func (e *Entry) Digest() string { return e.digest }

// Server names the server of a found tool, "" of a built-in one.
func (e *Entry) Server() string { return e.server }
