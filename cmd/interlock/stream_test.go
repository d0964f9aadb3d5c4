package main

import (
	"bufio"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"
)

// A told is one server-sent event.
type told struct{ id, name, data string }

// sentEvents reads a stream as the standard says; it ends where the connection does.
func sentEvents(r io.Reader) iter.Seq[told] {
	return func(yield func(told) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 16<<20)
		var ev told
		var data []string
		for lines.Scan() {
			field, value, _ := strings.Cut(lines.Text(), ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case lines.Text() == "":
				if data != nil {
					ev.data = strings.Join(data, "\n")
					if !yield(ev) {
						return
					}
				}
				ev, data = told{}, nil
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

// chatResponse is the shape that programs rely on.
type chatResponse struct {
	Assistant string `json:"assistant_message"`
	Run       string `json:"run_id"`
	Thread    string `json:"thread_id"`
	Status    string `json:"status"`
	Result    struct {
		Columns    []string `json:"columns"`
		Rows       [][]any  `json:"rows"`
		RowCount   int      `json:"row_count"`
		ExecTimeMS int      `json:"exec_time_ms"`
		Error      *struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	} `json:"result"`
	Details map[string]any `json:"details"`
	Card    *struct {
		ID   string `json:"card_id"`
		Name string `json:"name"`
	} `json:"card"`
}

// say sends a saying to /chat/stream and gives what was told until the turn rests.
func (p *process) say(body string) []told {
	p.t.Helper()
	res, err := p.request("POST", "/chat/stream", body)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(res.Body)
		p.t.Fatalf("%s: %s", res.Status, raw)
	}
	var all []told
	for ev := range sentEvents(res.Body) {
		all = append(all, ev)
	}
	return all
}

// pick gives the data of the messages of a name.
func pick[T any](t *testing.T, all []told, name string) []T {
	t.Helper()
	var out []T
	for _, ev := range all {
		if ev.name != name {
			continue
		}
		var v T
		if err := json.Unmarshal([]byte(ev.data), &v); err != nil {
			t.Fatalf("%s: %v in %s", name, err, ev.data)
		}
		out = append(out, v)
	}
	return out
}

// the one message of a name.
func the[T any](t *testing.T, all []told, name string) T {
	t.Helper()
	list := pick[T](t, all, name)
	if len(list) != 1 {
		t.Fatalf("%d messages %s, want one, in %+v", len(list), name, all)
	}
	return list[0]
}
