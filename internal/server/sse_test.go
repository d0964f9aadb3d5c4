package server

import (
	"bufio"
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func FuzzWriteEvent(f *testing.F) {
	f.Add("t:1", "token", []byte(`{"text":"a"}`))
	f.Add("", "", []byte("a\r\nb\rc\nd"))
	f.Add("x\ndata: y", "e\nid: 9", []byte("\n\n"))
	f.Add("1", "state", []byte(": comment\nid: 7"))
	f.Fuzz(func(t *testing.T, id, name string, data []byte) {
		var buf bytes.Buffer
		if err := writeEvent(&buf, id, name, data); err != nil {
			t.Fatal(err)
		}
		wire := buf.Bytes()
		gotID, gotName, gotData, events := parseEvent(t, wire)
		if events != 1 {
			t.Fatalf("%d events in %q", events, wire)
		}
		if strings.ContainsAny(id, "\r\n\x00") {
			id = ""
		}
		if strings.ContainsAny(name, "\r\n") {
			name = ""
		}
		want := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
		if gotID != id || gotName != name || gotData != want {
			t.Errorf("id %q name %q data %q from %q, want %q %q %q", gotID, gotName, gotData, wire, id, name, want)
		}
	})
}

// parseEvent reads events as browsers do: lines end with \r\n, \n or \r.
func parseEvent(t *testing.T, wire []byte) (id, name, data string, events int) {
	t.Helper()
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(wire))
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<24)
	var pending []string
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "":
			if pending != nil {
				data = strings.Join(pending, "\n")
				events++
			}
			pending = nil
		case field == "id":
			id = value
		case field == "event":
			name = value
		case field == "data":
			pending = append(pending, value)
		}
	}
	return id, name, data, events
}

func FuzzParseEventID(f *testing.F) {
	for _, s := range []string{"t_1:7", "7", "t:7.2", ":", "a:b:3", "9223372036854775808", "t:-1", "t:1.0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := parseEventID(text)
		if err != nil {
			return
		}
		again, err := parseEventID(id.String())
		if err != nil || again != id {
			t.Errorf("%q -> %+v -> %q -> %+v, %v", text, id, id.String(), again, err)
		}
	})
}

func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		s := openStream(w, comeBack)
		end := s.beat(15*time.Second, func() {})
		time.Sleep(46 * time.Second) // the bubble's clock
		end()
		if n := bytes.Count(w.Body.Bytes(), []byte(": alive\n\n")); n != 3 {
			t.Errorf("%d heartbeats in %q", n, w.Body)
		}
	})
}
