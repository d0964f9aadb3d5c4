package main

import (
	"bufio"
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
	terminal *term.Terminal
}

func newLineReader(in io.Reader, echo io.Writer) lineReader {
	if f, ok := in.(*os.File); ok && isTerminal(f) {
		screen := struct {
			io.Reader
			io.Writer
		}{f, echo}
		return lineReader{keyboard: f, terminal: term.NewTerminal(screen, "")}
	}
	r := lineReader{lines: bufio.NewScanner(in)}
	r.lines.Buffer(make([]byte, 64<<10), maxLine)
	return r
}

// read gives the next line; false at the end of input, and where the person leaves with
// Ctrl-C or Ctrl-D. The terminal is raw only while a line is edited, so that Ctrl-C during
// a turn is an interrupt.
func (r lineReader) read(prompt string) (string, bool) {
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
