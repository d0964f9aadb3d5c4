package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A received is a server-sent event as a client gets it.
type received struct{ id, name, data string }

// listen reads a stream until it ends, or until take says no.
func listen(t *testing.T, r *rig, method, path, body, last string, take func(received) bool, headers ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		req.Header.Set(k, v)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusNoContent {
		return
	}
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") || res.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("%s %s: %s %v", method, path, res.Status, res.Header)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for ev := range parseStream(lines) {
		if !take(ev) {
			return
		}
	}
}

// parseStream follows the standard's rules for lines that end in \n.
func parseStream(lines *bufio.Scanner) func(func(received) bool) {
	return func(yield func(received) bool) {
		var ev received
		var data []string
		for lines.Scan() {
			line := lines.Text()
			field, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case line == "":
				if data != nil {
					ev.data = strings.Join(data, "\n")
					if !yield(ev) {
						return
					}
				}
				ev, data = received{}, nil
			case field == "id":
				ev.id = value
			case field == "event":
				ev.name = value
			case field == "data":
				data = append(data, value)
			}
		}
	}
}

func collect(t *testing.T, r *rig, body, last string) []received {
	t.Helper()
	var out []received
	listen(t, r, "POST", "/chat/stream", body, last, func(ev received) bool { out = append(out, ev); return true })
	return out
}

// stored keeps what has an id.
func stored(evs []received) []received {
	var out []received
	for _, ev := range evs {
		if ev.id != "" {
			out = append(out, ev)
		}
	}
	return out
}

// names lists the events, a text as one; signs of life come or do not.
func names(evs []received) []string {
	var out []string
	for _, ev := range evs {
		if ev.name == "progress" {
			continue
		}
		if n := len(out); ev.name != "token" || n == 0 || out[n-1] != "token" {
			out = append(out, ev.name)
		}
	}
	return out
}

func TestStreamOrder(t *testing.T) {
	tests := []struct {
		say  string
		want []string
	}{
		{"SQL: select 1", []string{"state", "state", "tool_call", "tool_result", "result", "done"}},
		{"fail", []string{"state", "state", "error", "result", "done"}},
		{"card", []string{"state", "state", "token", "state", "card", "result", "done"}},
		{"reject", []string{"state", "state", "token", "tool_call", "tool_result", "token", "result", "done"}},
		{"everything", []string{
			"state", "state", "token", "tool_call", "tool_result", "tool_call", "artifact", "tool_result",
			"tool_call", "tool_result", "tool_call", "tool_result", "token", "result", "done",
		}},
	}
	r := start(t, nil)
	for _, tt := range tests {
		t.Run(tt.say, func(t *testing.T) {
			got := collect(t, r, fmt.Sprintf(`{"message":%q}`, tt.say), "")
			if diff := cmp.Diff(tt.want, names(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The result of a stream is the chat response, word for word.
func TestStreamResultIsChatResponse(t *testing.T) {
	r := start(t, nil)
	got := collect(t, r, `{"message":"everything"}`, "")
	var viaStream, viaChat map[string]any
	for _, ev := range got {
		if ev.name == "result" {
			if err := json.Unmarshal([]byte(ev.data), &viaStream); err != nil {
				t.Fatal(err)
			}
		}
	}
	viaChat = get[map[string]any](t, r, "POST", "/chat", `{"message":"everything"}`)
	for _, m := range []map[string]any{viaStream, viaChat} {
		delete(m, "run_id")
		delete(m, "thread_id")
		for _, a := range m["artifacts"].([]any) { // each run makes its own
			delete(a.(map[string]any), "created_at")
			delete(a.(map[string]any), "source_call_id")
		}
	}
	if diff := cmp.Diff(viaChat, viaStream); diff != "" {
		t.Error(diff)
	}
}

// A connection is cut after every single event; the client comes back with the
// last id it saw and gets each stored event exactly once, in order.
func TestStreamResume(t *testing.T) {
	for _, say := range []string{"everything", "card", "fail", "SQL: select 1"} {
		t.Run(say, func(t *testing.T) {
			r := start(t, nil)
			body := fmt.Sprintf(`{"message":%q}`, say)
			want := stored(collect(t, r, body, ""))
			thread := strings.Split(want[0].id, ":")[0]
			if err := r.engine.Wait(t.Context(), thread); err != nil {
				t.Fatal(err)
			}
			for cut := range want {
				got := append([]received(nil), want[:cut+1]...)
				got = append(got, stored(collect(t, r, body, want[cut].id))...)
				if diff := cmp.Diff(got, want, cmp.AllowUnexported(received{}), cmp.Transformer("whole", unmarkWhole)); diff != "" {
					t.Fatalf("cut after %s: %s", want[cut].id, diff)
				}
			}
			var steps []received
			for last := want[0].id; last != ""; {
				next := ""
				listen(t, r, "POST", "/chat/stream", body, last, func(ev received) bool {
					steps = append(steps, ev)
					next = ev.id
					return false
				})
				last = next
			}
			if diff := cmp.Diff(want[1:], steps, cmp.AllowUnexported(received{}), cmp.Transformer("whole", unmarkWhole)); diff != "" {
				t.Errorf("one event per connection: %s", diff)
			}
			if n := len(get[map[string][]any](t, r, "GET", "/runs", "")["runs"]); n != 1 {
				t.Errorf("resuming began turns: %d runs", n)
			}
		})
	}
}

// unmarkWhole makes the end of a text comparable: a client that saw none of it
// gets it whole, one that saw all of it gets an empty rest.
func unmarkWhole(ev received) [3]string {
	if ev.name == "token" {
		return [3]string{ev.id, ev.name, ""}
	}
	return [3]string{ev.id, ev.name, ev.data}
}

// A client that joins in the middle of a text gets what was said so far, once.
func TestStreamResumeInText(t *testing.T) {
	r := start(t, nil)
	var last, thread string
	listen(t, r, "POST", "/chat/stream", `{"message":"wait"}`, "", func(ev received) bool {
		if ev.id != "" {
			last = ev.id
		}
		return ev.name != "token"
	})
	thread, _, _ = strings.Cut(last, ":")
	stopped := false
	var got []string
	listen(t, r, "POST", "/chat/stream", `{}`, last, func(ev received) bool {
		got = append(got, ev.name+" "+ev.data)
		if !stopped {
			stopped = true
			r.do(t, "POST", "/api/threads/"+thread+"/stop", "")
		}
		return true
	})
	if got[0] != `token {"text":"Thinking ","whole":true}` || !strings.HasPrefix(got[len(got)-1], "done ") {
		t.Errorf("got %q", got)
	}
	for _, g := range got[1:] {
		if strings.HasPrefix(g, "token") {
			t.Errorf("told twice: %q", got)
		}
	}
}

// A client that leaves ends its request, not the turn.
func TestStreamClientGone(t *testing.T) {
	r := start(t, nil)
	var thread string
	listen(t, r, "POST", "/chat/stream", `{"message":"wait"}`, "", func(ev received) bool {
		thread, _, _ = strings.Cut(ev.id, ":")
		return false
	})
	if th, _ := r.engine.store.Thread(t.Context(), thread); th.Status != "running" {
		t.Errorf("the turn is %s", th.Status)
	}
	if res, text := r.do(t, "POST", "/chat", `{"message":"x","thread_id":"`+thread+`"}`); res.StatusCode != http.StatusConflict {
		t.Errorf("%s %s", res.Status, text)
	}
}

// The log itself can be followed, from any event on, raw and whole.
func TestThreadEvents(t *testing.T) {
	r := start(t, nil)
	first := get[map[string]any](t, r, "POST", "/chat", `{"message":"everything"}`)
	thread := first["thread_id"].(string)
	read := func(last string) []received {
		var out []received
		listen(t, r, "GET", "/api/threads/"+thread+"/events", "", last, func(ev received) bool {
			out = append(out, ev)
			return ev.name != "turn_ended"
		})
		return stored(out)
	}
	all := read("")
	if all[0].name != "thread_opened" || all[len(all)-1].name != "turn_ended" {
		t.Fatalf("log from %s to %s", all[0].name, all[len(all)-1].name)
	}
	for cut := range len(all) - 1 {
		if diff := cmp.Diff(all[cut+1:], read(all[cut].id), cmp.AllowUnexported(received{})); diff != "" {
			t.Fatalf("after %s: %s", all[cut].id, diff)
		}
	}
}

// A long thread is opened at its end: the last turns come at once, and those before are
// read apart. Together they are the log.
func TestLastTurns(t *testing.T) {
	r := start(t, nil)
	thread := get[map[string]any](t, r, "POST", "/chat", `{"message":"SQL: select 1"}`)["thread_id"].(string)
	for range 3 {
		get[map[string]any](t, r, "POST", "/chat", `{"message":"SQL: select 1","thread_id":"`+thread+`"}`)
	}
	seq := int(get[map[string]any](t, r, "GET", "/api/threads/"+thread, "")["seq"].(float64))
	read := func(query string) []received {
		var out []received
		listen(t, r, "GET", "/api/threads/"+thread+"/events?"+query, "", "", func(ev received) bool {
			out = append(out, ev)
			return true
		})
		return out
	}
	all := read(fmt.Sprintf("until=%d", seq))
	if len(all) != seq {
		t.Fatalf("%d events of %d", len(all), seq)
	}
	for _, turns := range []int{1, 2, 4, 100} {
		last := read(fmt.Sprintf("turns=%d&until=%d", turns, seq))
		if started := strings.Count(strings.Join(names(last), " "), "turn_started"); last[0].name != "thread_opened" || started != min(turns, 4) {
			t.Errorf("the last %d turns: %v", turns, names(last))
		}
		before := seq - len(last) + 1 // the event that opened the thread is in both
		if diff := cmp.Diff(all, append(read(fmt.Sprintf("until=%d", before)), last[1:]...), cmp.AllowUnexported(received{})); diff != "" {
			t.Errorf("the last %d turns and those before: %s", turns, diff)
		}
	}
}
