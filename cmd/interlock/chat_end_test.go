package main

import (
	"bytes"
	"strings"
	"testing"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// A failure tells one repair: the general advice of its code does not contradict what the
// text says to do.
func TestChatTellsOneRepairOfAFailure(t *testing.T) {
	var out, errw bytes.Buffer
	c := &chat{app: &app{out: &out, errw: &errw}}
	c.printCall(event.ModelFailed{Code: fault.ModelFailed, Message: "HTTP 404", Suggestion: "The server has no such model."})
	errw.Reset()
	if err := c.printEnd(t.Context(), "r_1", event.TurnEnded{Status: event.Failed, Code: fault.ModelFailed, Text: "HTTP 404. The server has no such model."}, ""); err != nil {
		t.Fatal(err)
	}
	if got := errw.String(); got != "[failed: model_failed]\n" {
		t.Errorf("after the repair of the failure the chat says %q", got)
	}
	errw.Reset()
	if err := c.printEnd(t.Context(), "r_1", event.TurnEnded{Status: event.Failed, Code: fault.ModelFailed, Text: "HTTP 500"}, ""); err != nil {
		t.Fatal(err)
	}
	if got, advice := errw.String(), fault.ModelFailed.Entry().Advice; !strings.Contains(got, advice) {
		t.Errorf("a failure without a repair of its own ends with %q, want the advice %q", got, advice)
	}
}

// The command that is offered can be copied: it names the folders of this chat.
func TestChatOffersACommandThatWorks(t *testing.T) {
	c := &chat{app: &app{}, thread: "t_1"}
	c.cfg.State = defaultState()
	if got := c.nextCommand(); got != "interlock chat --thread t_1" {
		t.Errorf("with the default folders: %q", got)
	}
	c.cfg.Data, c.cfg.State = []string{"/srv/data", "/srv/Ann's data"}, "/srv/state"
	want := `interlock chat --thread t_1 --data /srv/data --data '/srv/Ann'\''s data' --state /srv/state`
	if got := c.nextCommand(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A text that is written anew is marked once, before the next one.
func TestChatMarksADraft(t *testing.T) {
	var errw bytes.Buffer
	c := &chat{app: &app{errw: &errw}, draft: true}
	c.printDraftNote()
	c.printDraftNote()
	if n := strings.Count(errw.String(), "is not the answer"); n != 1 {
		t.Errorf("the draft is marked %d times: %q", n, errw.String())
	}
}
