package mcpbridge

import (
	"testing"
	"time"
)

// A session is not idle while a call runs, however long the call takes.
func TestLongCallKeepsItsSession(t *testing.T) {
	t.Parallel()
	b, err := New(Config{Servers: func(string) (map[string]Server, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	s := &session{key: sessionKey{"ann", "home"}}
	b.sessions[s.key] = s
	end := b.begin(s)
	s.used = time.Now().Add(-2 * idleTime)
	if idle := b.takeIdle(); len(idle) != 0 {
		t.Error("the session of a call that runs was taken away")
	}
	end()
	if idle := b.takeIdle(); len(idle) != 0 {
		t.Error("the session was idle at once after its call")
	}
	s.used = time.Now().Add(-2 * idleTime)
	if idle := b.takeIdle(); len(idle) != 1 {
		t.Error("a session that nobody used stays")
	}
}
