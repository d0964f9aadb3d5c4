package types_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"interlock/web"
)

// TestPageReadsKnownEvents holds the page to the generated types: each event that
// thread.js draws is a kind, and each field that it reads there is one of its body.
func TestPageReadsKnownEvents(t *testing.T) {
	bodies := bodyFields(t)
	page, err := fs.ReadFile(web.Files(), "thread.js")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for handler := range strings.SplitSeq(string(page), "\n\n") {
		head := regexp.MustCompile(`(?m)^  ([a-z_]+)\(b\) \{`).FindStringSubmatch(handler)
		if head == nil {
			continue
		}
		fields := bodies[head[1]]
		if fields == nil {
			t.Errorf("thread.js draws %s, which is no kind of event", head[1])
			continue
		}
		read++
		for _, use := range regexp.MustCompile(`\bb\.([a-z_]+)`).FindAllStringSubmatch(handler, -1) {
			if !fields[use[1]] {
				t.Errorf("thread.js reads %s of %s, which has no such field", use[1], head[1])
			}
		}
	}
	if read < 15 {
		t.Errorf("only %d handlers of events were found in thread.js", read)
	}
}

// bodyFields gives the fields of each kind's body, from events.ts.
func bodyFields(t *testing.T) map[string]map[string]bool {
	t.Helper()
	text, err := files.ReadFile("events.ts")
	if err != nil {
		t.Fatal(err)
	}
	interfaces := map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)export interface (\w+)\S* ?[^{\n]*\{\n(.*?)\n\}`).FindAllStringSubmatch(string(text), -1) {
		interfaces[m[1]] = m[2]
	}
	member := regexp.MustCompile(`(?m)^  (\w+)\??: (.*);$`)
	out := map[string]map[string]bool{}
	for _, kind := range member.FindAllStringSubmatch(interfaces["Bodies"], -1) {
		out[kind[1]] = map[string]bool{}
		for _, field := range member.FindAllStringSubmatch(interfaces[kind[2]], -1) {
			out[kind[1]][field[1]] = true
		}
	}
	if len(out) < 20 {
		t.Fatalf("only %d kinds were found in events.ts", len(out))
	}
	return out
}
