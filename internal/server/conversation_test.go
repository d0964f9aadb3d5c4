package server

import (
	"slices"
	"testing"
	"time"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/store"
)

// An equal list of messages gets the answer of a turn that runs or has just ended. Later it
// is a new question, and so is one whose turn came to nothing.
func TestAnswersAgain(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		outcome string
		rested  int64
		ago     time.Duration
		want    bool
	}{
		{store.Running, 0, time.Hour, true},
		{string(event.Answered), 9, time.Minute, true},
		{string(event.Answered), 9, 3 * time.Minute, false},
		{store.Waiting, 9, time.Minute, true},
		{store.Waiting, 9, time.Hour, false},
		{string(event.Declined), 9, time.Second, true},
		{string(event.Refused), 9, time.Second, true},
		{string(event.Failed), 9, time.Second, false},
		{string(event.Stopped), 9, time.Second, false},
		{string(event.Limited), 9, time.Second, false},
	} {
		m := moment{reply: engine.Reply{Outcome: tt.outcome}, rested: tt.rested, at: now.Add(-tt.ago)}
		if got := m.answersAgain(now); got != tt.want {
			t.Errorf("%s %s ago: %v", tt.outcome, tt.ago, got)
		}
	}
}

// Where the same was said more than once, the next attempt has a name of its own, and names
// of other conversations do not begin alike.
func TestSayingNames(t *testing.T) {
	c := conversation{model: "m", said: []string{"a", "b"}}
	name := c.names()[1]
	first := nextName(name, nil)
	second := nextName(name, []store.Saying{{Name: first}})
	if second <= first || second != name+"000001" {
		t.Errorf("%s after %s", second, first)
	}
	if more := (conversation{model: "m", said: []string{"a", "b", "c"}}).names(); more[1] != name {
		t.Errorf("%s is not found when the conversation has gone on", name)
	}
	for _, other := range []conversation{{model: "m", said: []string{"ab"}}, {model: "m", said: []string{"a"}}, {model: "m1:a", said: []string{"b"}}, {model: "n", said: []string{"a", "b"}}} {
		if slices.Contains(other.names(), name) {
			t.Errorf("%v is taken for %v", other, c)
		}
	}
}

// What stands in data is shown and means nothing: no link, no picture, no markup, no cell.
func TestMarkdownOfData(t *testing.T) {
	r := shownResult([]byte(`{"columns":["<b>","a|b"],"rows":[["![x](https://evil.example/?q=1)",12345678901234567890.10],["line\nbreak",null]],"row_count":2,"total_rows":9}`))
	want := "| &lt;b> | a\\|b |\n| --- | --- |\n| \\!\\[x\\](https:\\//evil.example/?q=1) | 12345678901234567890.10 |\n| line break |  |\n\n(the first 2 of 9 rows)"
	if got := r.markdown(); got != want {
		t.Errorf("%s", got)
	}
	if got := withoutLoads("a ![x](y) <IMG src=z> <b> 1 <2"); got != `a !\[x](y) &lt;IMG src=z> <b> 1 <2` {
		t.Errorf("%s", got)
	}
	if got := fenced("sql", "a\n```\nb"); got != "````sql\na\n```\nb\n````" {
		t.Errorf("%s", got)
	}
	for raw, text := range map[string]string{`{"columns":["n"],"rows":[[7]]}`: "There are 7.", `{"columns":["a","b"],"rows":[[1,2]]}`: "| a | b |\n|---|---|\n| 1 | 2 |", `null`: "", `[1]`: ""} {
		if shownResult([]byte(raw)).addsTo(text) {
			t.Errorf("%s is shown beside %q", raw, text)
		}
	}
}
