package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// maxLine bounds a line of input, in bytes.
const maxLine = 1 << 20

// A lineReader reads the lines of a conversation: at a terminal with editing and history,
// else as they come.
type lineReader struct {
	lines    *bufio.Scanner
	keyboard *os.File // nil: no terminal
	typed    *keys
	terminal *term.Terminal
}

func newLineReader(in io.Reader, echo io.Writer) lineReader {
	if f, ok := in.(*os.File); ok && isTerminal(f) {
		typed := &keys{Reader: f}
		return lineReader{keyboard: f, typed: typed, terminal: newTerminal(typed, echo)}
	}
	r := lineReader{lines: bufio.NewScanner(in)}
	r.lines.Buffer(make([]byte, 64<<10), maxLine)
	return r
}

func newTerminal(typed *keys, echo io.Writer) *term.Terminal {
	return term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{typed, echo}, "")
}

// keys are what a person types.
type keys struct {
	io.Reader
	// clears says that Ctrl-C empties the line instead of leaving.
	clears bool
}

// Read gives the bytes of the keys. Ctrl-C becomes Ctrl-E and Ctrl-U: to the end of the
// line, and remove all before it.
func (k *keys) Read(p []byte) (int, error) {
	if !k.clears || len(p) < 2 {
		return k.Reader.Read(p)
	}
	n, err := k.Reader.Read(p[:len(p)/2])
	return copy(p, bytes.ReplaceAll(p[:n], []byte{3}, []byte{5, 21})), err
}

// keepOnInterrupt makes Ctrl-C empty the line: it may come just after the turn that it was to stop.
func (r lineReader) keepOnInterrupt() {
	if r.typed != nil {
		r.typed.clears = true
	}
}

// readLine returns the next line; false at the end of input, and where the person leaves with
// Ctrl-D, or with Ctrl-C unless stay was called. The terminal is raw only while a line is edited, so that Ctrl-C during
// a turn is an interrupt.
func (r lineReader) readLine(prompt string) (string, bool) {
	if r.terminal == nil {
		more := r.lines.Scan()
		return r.lines.Text(), more
	}
	before, err := term.MakeRaw(int(r.keyboard.Fd()))
	if err != nil {
		return "", false
	}
	defer func() { _ = term.Restore(int(r.keyboard.Fd()), before) }()
	if width, height, err := term.GetSize(int(r.keyboard.Fd())); err == nil && width > 0 {
		_ = r.terminal.SetSize(width, height) // a guess of the width is good enough to edit a line
	}
	r.terminal.SetPrompt(prompt)
	line, err := r.terminal.ReadLine()
	if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
		fmt.Fprint(r.terminal, "\n")
		return "", false
	}
	return line, true
}
