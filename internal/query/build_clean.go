package query

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"interlock/internal/schema"
)

// keptLines is how many lines that are no rows stand in a note, each clipped.
const (
	keptLines   = 20
	clippedText = 200
)

func clipText(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) > clippedText {
		return string([]rune(s)[:clippedText]) + "…"
	}
	return s
}

// cleaning counts what was mended or kept aside while files were written anew.
type cleaning struct {
	short     int64 // rows that were filled up
	firstLine int64 // the first of them
	rejected  int64
	lines     []schema.RejectedLine
}

// clean writes files anew that the engine cannot split: every row with as many cells
// as there are columns, without the lines that are none.
func (b *builder) clean(ctx context.Context, in inputs, layouts []layout, r *TableReport) (inputs, error) {
	out := in
	out.files, out.compression, out.bytes = nil, "", 0
	var c cleaning
	for i, f := range in.files {
		name, err := b.cleanFile(ctx, f, in.compression, &layouts[i], &c)
		if err != nil {
			return in, fmt.Errorf("reading %s: %w", filepath.Base(f), err)
		}
		out.files = append(out.files, name)
	}
	if c.short > 0 {
		r.addNote(schema.Note{Rule: schema.RuleShortRows, Count: c.short}, "%d rows have fewer cells than there are columns, the first in line %d; what is missing is empty.", c.short, c.firstLine)
	}
	if c.rejected > 0 {
		r.Rejected = c.rejected
		first := c.lines[0]
		r.addNote(schema.Note{Rule: schema.RuleRejected, Count: c.rejected, Before: first.Text, Lines: c.lines},
			"%d lines are no rows of the table and were kept aside; the first is line %d: %s.", c.rejected, first.Line, first.Reason)
	}
	return out, nil
}

func (b *builder) cleanFile(ctx context.Context, path, compression string, l *layout, c *cleaning) (name string, err error) {
	through := func(r io.Reader) (io.Reader, func(), error) {
		plain, done, err := decompress(r, compression)
		if err != nil {
			return nil, nil, err
		}
		pr, pw := io.Pipe()
		finished := make(chan struct{})
		go func() {
			defer close(finished)
			pw.CloseWithError(l.rewrite(plain, pw, c))
		}()
		return pr, func() { pr.Close(); <-finished; done() }, nil
	}
	if name, err = b.rewrite(ctx, path, through, ".csv"); err != nil {
		return "", err
	}
	l.dialect = dialect{l.delimiter, '"', '"'}
	l.skip, l.header = 0, true
	return name, nil
}

// rewrite copies the rows of a text: first the names of the columns, then each row with
// as many cells as there are names.
func (l *layout) rewrite(from io.Reader, to io.Writer, c *cleaning) error {
	out := bufio.NewWriterSize(to, 1<<20)
	in := bufio.NewReaderSize(from, 1<<20)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		if _, err := in.Discard(3); err != nil {
			return err
		}
	}
	rows := newRecordReader(in, l.dialect)
	var line []byte
	for i, n := range l.names {
		if i > 0 {
			line = append(line, l.delimiter...)
		}
		line = appendQuoted(line, []byte(n))
	}
	if _, err := out.Write(append(line, '\n')); err != nil {
		return err
	}
	headed := !l.header
	for {
		rec, err := rows.next()
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return err
		}
		if rec.line <= l.skip || rec.blank && len(l.names) > 1 {
			continue
		}
		if !headed && rec.fault == "" {
			headed = true
			continue
		}
		line = l.appendRow(line[:0], rec, c)
		l.longest = max(l.longest, len(line))
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
}

// appendRow writes a record as the engine reads it, or keeps it aside.
func (l *layout) appendRow(dst []byte, rec record, c *cleaning) []byte {
	width := len(l.names)
	for len(rec.cells) > width && len(rec.cells[len(rec.cells)-1].text) == 0 {
		rec.cells = rec.cells[:len(rec.cells)-1]
	}
	if rec.fault == "" && len(rec.cells) > width {
		rec.fault = fmt.Sprintf("it has %d cells for %d columns", len(rec.cells), width)
		for i, cell := range rec.cells {
			if i > 0 {
				rec.text = append(rec.text, l.delimiter...)
			}
			rec.text = append(rec.text, cell.text...)
		}
	}
	if rec.fault != "" {
		if c.rejected++; len(c.lines) < keptLines {
			c.lines = append(c.lines, schema.RejectedLine{Line: rec.line, Text: clipText(string(rec.text)), Reason: rec.fault})
		}
		return dst
	}
	if len(rec.cells) < width {
		if c.short++; c.short == 1 {
			c.firstLine = rec.line
		}
	}
	for i := range width {
		if i > 0 {
			dst = append(dst, l.delimiter...)
		}
		if i < len(rec.cells) && (rec.cells[i].quoted || len(rec.cells[i].text) > 0) {
			dst = appendQuoted(dst, rec.cells[i].text)
		}
	}
	return append(dst, '\n')
}

func appendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	dst = append(dst, bytes.ReplaceAll(text, []byte{'"'}, []byte(`""`))...)
	return append(dst, '"')
}

// Text is taken for UTF-8 with foreign bytes, not for another encoding, if its valid
// letters beyond ASCII are as many, or if so few lines are foreign.
const foreignLines = 1000

// decodeUnlikely looks for bytes that are not UTF-8, in the first bytes or everywhere.
// Where they are most of what is beyond ASCII, the text is read as windows-1252; where
// they are few, each becomes a replacement character. It says so with their lines.
func (b *builder) decodeUnlikely(ctx context.Context, in inputs, most int64, r *TableReport) (inputs, error) {
	out := in
	out.files = nil
	for _, f := range in.files {
		if most > 0 {
			head, whole, err := firstBytes(f, in.compression, most)
			if err != nil {
				return in, fmt.Errorf("reading %s: %w", filepath.Base(f), err)
			}
			for k := 0; k < 4 && !whole && len(head) > 0 && !utf8.Valid(head); k++ {
				head = head[:len(head)-1] // the last letter may be cut
			}
			if utf8.Valid(head) {
				out.files = append(out.files, f)
				continue
			}
		}
		s, err := surveyText(ctx, f, in.compression)
		if err != nil {
			return in, fmt.Errorf("reading %s: %w", filepath.Base(f), err)
		}
		if s.bad == 0 {
			out.files = append(out.files, f)
			continue
		}
		charset := "utf-8"
		if s.good < s.bad && s.badLines*foreignLines > s.lines {
			charset = fallbackEncoding
			r.addNote(schema.Note{Rule: schema.RuleEncoding, Count: s.bad, Before: clipText(s.example)}, "The text is not UTF-8; it was read as %s. The first letter that differs is in line %d.", fallbackEncoding, s.firstLine)
		} else {
			r.addNote(schema.Note{Rule: schema.RuleEncoding, Count: s.bad, Before: clipText(s.example)}, "%d bytes are not UTF-8 and were replaced by %s; the first is in line %d.", s.bad, "\uFFFD", s.firstLine)
		}
		compression := in.compression
		name, err := b.rewrite(ctx, f, func(r io.Reader) (io.Reader, func(), error) {
			return textKind{compression, charset}.reader(r)
		}, ".csv")
		if err != nil {
			return in, fmt.Errorf("reading %s: %w", filepath.Base(f), err)
		}
		out.files = append(out.files, name)
	}
	return b.sameCompression(ctx, in, out)
}

// sameCompression unpacks the files that were not rewritten where others were.
func (b *builder) sameCompression(ctx context.Context, in, out inputs) (inputs, error) {
	rewritten := false
	for i := range out.files {
		rewritten = rewritten || out.files[i] != in.files[i]
	}
	if !rewritten || in.compression == "" {
		return out, nil
	}
	for i := range out.files {
		if out.files[i] != in.files[i] {
			continue
		}
		name, err := b.rewrite(ctx, out.files[i], textKind{compression: in.compression}.reader, ".csv")
		if err != nil {
			return in, err
		}
		out.files[i] = name
	}
	out.compression = ""
	return out, nil
}

// textSurvey counts what of a text is UTF-8.
type textSurvey struct {
	good, bad       int64 // letters beyond ASCII, and bytes that are none
	lines, badLines int64
	firstLine       int64
	example         string
}

func surveyText(ctx context.Context, path, compression string) (s textSurvey, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	plain, done, err := decompress(&stopReader{ctx, f}, compression)
	if err != nil {
		return s, err
	}
	defer done()
	r := bufio.NewReaderSize(plain, 1<<20)
	for {
		line, err := r.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return s, err
		}
		if len(line) == 0 {
			return s, nil
		}
		s.lines++
		s.count(line)
		if errors.Is(err, io.EOF) {
			return s, nil
		}
	}
}

func (s *textSurvey) count(line []byte) {
	before := s.bad
	for i := 0; i < len(line); {
		if line[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && n == 1 {
			s.bad++
		} else {
			s.good++
		}
		i += n
	}
	if s.bad == before {
		return
	}
	if s.badLines++; s.badLines == 1 {
		s.firstLine, s.example = s.lines, strings.TrimRight(strings.ToValidUTF8(string(line), "\uFFFD"), "\r\n")
	}
}
