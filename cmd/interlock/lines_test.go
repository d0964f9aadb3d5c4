package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestInterruptAtThePrompt: in a conversation Ctrl-C empties the line, wherever the cursor
// is, and Ctrl-D leaves; where one answer is asked for, both leave.
func TestInterruptAtThePrompt(t *testing.T) {
	const left = "\x1b[D"
	for _, c := range []struct {
		name, typed string
		clears      bool
		want        []string
	}{
		{"half a line", "dr" + left + "\x03select\rmore\r\x04", true, []string{"select", "more"}},
		{"an empty line", "\x03\x03select\r\x04", true, []string{"select"}},
		{"one answer", "dr\x03select\r", false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			terminal := newTerminal(&keys{Reader: strings.NewReader(c.typed), clears: c.clears}, io.Discard)
			for _, want := range c.want {
				if line, err := terminal.ReadLine(); line != want || err != nil {
					t.Fatalf("read %q, %v, want %q", line, err, want)
				}
			}
			if line, err := terminal.ReadLine(); !errors.Is(err, io.EOF) {
				t.Errorf("read %q, %v at the end", line, err)
			}
		})
	}
}
