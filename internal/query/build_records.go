package query

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// A dialect is how delimited text is laid out.
type dialect struct {
	delimiter string
	quote     byte // 0 = none
	escape    byte // inside quotes: the quote itself, or a backslash
}

// A record is one row of delimited text.
type record struct {
	line  int64 // on which it begins, from 1
	cells []cell
	blank bool // a line without anything
	// fault says why the line is no record; cells are empty then and text is the line.
	fault string
	text  []byte
}

type cell struct {
	text   []byte
	quoted bool
}

func (r record) filled() int {
	n := 0
	for _, c := range r.cells {
		if len(bytes.TrimSpace(c.text)) > 0 {
			n++
		}
	}
	return n
}

// Bounds of one record: a quote that is not closed within them was never meant as one.
const (
	maxRecordLines = 10_000
	maxRecordBytes = 16 << 20
)

const (
	faultQuote = "a quote that is not closed, or text after the closing quote"
	faultLong  = "it is longer than 16 MB"
)

// A recordReader splits text into records. A malformed quote costs the line it is in
// and no other: reading goes on with the line below.
type recordReader struct {
	dialect dialect
	in      *bufio.Reader
	pending []textLine // lines read ahead, in order
	line    int64      // of the last line that was taken
}

type textLine struct {
	text []byte // without its end
	end  string
}

func newRecordReader(r io.Reader, d dialect) *recordReader {
	return &recordReader{dialect: d, in: bufio.NewReaderSize(r, 1<<20)}
}

// next gives the next record, or io.EOF.
func (r *recordReader) next() (record, error) {
	first, err := r.takeLine()
	if err != nil {
		return record{}, err
	}
	rec := record{line: r.line}
	if len(first.text) == 0 {
		rec.blank, rec.cells = true, []cell{{}}
		return rec, nil
	}
	if len(first.text) > maxRecordBytes {
		rec.fault, rec.text = faultLong, first.text
		return rec, nil
	}
	s := splitter{dialect: r.dialect}
	state := s.feed(first.text)
	var taken []textLine
	size, end := len(first.text), first.end
	for state == inQuotes && len(taken) < maxRecordLines && size < maxRecordBytes {
		more, err := r.takeLine()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return rec, err
		}
		taken = append(taken, more)
		size += len(more.text)
		s.buffer = append(s.buffer, end...)
		state, end = s.feed(more.text), more.end
	}
	if state == complete {
		rec.cells = s.cells
		return rec, nil
	}
	r.line -= int64(len(taken))
	r.pending = append(taken, r.pending...)
	rec.fault, rec.text = faultQuote, first.text
	return rec, nil
}

// takeLine gives the next line; it ends with LF, CR LF or CR.
func (r *recordReader) takeLine() (textLine, error) {
	if len(r.pending) > 0 {
		l := r.pending[0]
		r.pending = r.pending[1:]
		r.line++
		return l, nil
	}
	var text []byte
	for {
		chunk, err := r.in.ReadSlice('\n')
		if i := bytes.IndexByte(chunk, '\r'); i >= 0 && i < len(chunk)-2 || i >= 0 && i == len(chunk)-2 && chunk[i+1] != '\n' {
			return r.splitAtCR(text, chunk, err)
		}
		text = append(text, chunk...)
		if errors.Is(err, bufio.ErrBufferFull) && len(text) <= 2*maxRecordBytes {
			if next, _ := r.in.Peek(1); text[len(text)-1] != '\r' || string(next) == "\n" {
				continue
			}
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return textLine{}, err
		}
		if len(text) == 0 {
			return textLine{}, io.EOF
		}
		r.line++
		switch {
		case bytes.HasSuffix(text, []byte("\r\n")):
			return textLine{text[:len(text)-2], "\r\n"}, nil
		case bytes.HasSuffix(text, []byte("\n")):
			return textLine{text[:len(text)-1], "\n"}, nil
		case bytes.HasSuffix(text, []byte("\r")):
			return textLine{text[:len(text)-1], "\r"}, nil
		}
		return textLine{text, ""}, nil
	}
}

// splitAtCR queues the lines of a chunk in which a bare CR ends some of them.
func (r *recordReader) splitAtCR(before, chunk []byte, err error) (textLine, error) {
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return textLine{}, err
	}
	whole := append(before, chunk...)
	for errors.Is(err, bufio.ErrBufferFull) && len(whole) <= 2*maxRecordBytes && whole[len(whole)-1] != '\r' {
		var b byte
		if b, err = r.in.ReadByte(); err == nil {
			whole, err = append(whole, b), bufio.ErrBufferFull
		}
	}
	if whole[len(whole)-1] == '\r' { // the LF of a CR LF may come next
		if b, err := r.in.ReadByte(); err == nil && b == '\n' {
			whole = append(whole, b)
		} else if err == nil {
			_ = r.in.UnreadByte()
		}
	}
	for len(whole) > 0 {
		i := bytes.IndexAny(whole, "\r\n")
		if i < 0 {
			r.pending = append(r.pending, textLine{whole, ""})
			break
		}
		n := 1
		if whole[i] == '\r' && i+1 < len(whole) && whole[i+1] == '\n' {
			n = 2
		}
		r.pending = append(r.pending, textLine{whole[:i], string(whole[i : i+n])})
		whole = whole[i+n:]
	}
	return r.takeLine()
}

type splitState int

const (
	complete  splitState = iota
	inQuotes             // the record goes on in the next line
	malformed            // text follows a closing quote
)

// A splitter makes cells of the lines of one record.
type splitter struct {
	dialect dialect
	cells   []cell
	buffer  []byte // of the quoted cell that is open
	open    bool
}

// feed takes one line of the record.
func (s *splitter) feed(line []byte) splitState {
	i := 0
	for {
		if !s.open {
			start := i
			for i < len(line) && line[i] == ' ' {
				i++
			}
			if s.dialect.quote == 0 || i >= len(line) || line[i] != s.dialect.quote {
				i = start
				rest := line[i:]
				n := bytes.Index(rest, []byte(s.dialect.delimiter))
				if n < 0 {
					s.cells = append(s.cells, cell{text: rest})
					return complete
				}
				s.cells = append(s.cells, cell{text: rest[:n]})
				i += n + len(s.dialect.delimiter)
				continue
			}
			s.open, s.buffer = true, nil
			i++
		}
		n, closed := s.scanQuoted(line[i:])
		i += n
		if !closed {
			return inQuotes
		}
		s.open = false
		s.cells = append(s.cells, cell{text: s.buffer, quoted: true})
		for i < len(line) && line[i] == ' ' {
			i++
		}
		switch {
		case i == len(line):
			return complete
		case bytes.HasPrefix(line[i:], []byte(s.dialect.delimiter)):
			i += len(s.dialect.delimiter)
		default:
			return malformed
		}
	}
}

// scanQuoted reads up to and with the closing quote and says whether it found it.
func (s *splitter) scanQuoted(text []byte) (n int, closed bool) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == s.dialect.escape && i+1 < len(text) && (text[i+1] == s.dialect.quote || c != s.dialect.quote && text[i+1] == c):
			i++
			s.buffer = append(s.buffer, text[i])
		case c == s.dialect.quote:
			return i + 1, true
		default:
			s.buffer = append(s.buffer, c)
		}
	}
	return len(text), false
}
