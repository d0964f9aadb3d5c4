package sandbox

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
)

const (
	segmentBytes = 1 << 20 // buffered before it is written
	segmentRows  = 1 << 16 // of strings
	maxWords     = 1 << 20
	maxWordBytes = 32 << 20
)

// columnWriter gathers one column into segments.
type columnWriter struct {
	field  Field
	bundle *Writer

	rows     int
	nulls    []byte // grows with the first null
	hasNulls bool
	segments [][4]int64

	buffer  []byte // fixed width
	pending int    // rows in buffer

	texts     []string
	words     map[string]int32 // nil once the dictionary does not pay
	list      []string
	wordBytes int
}

func (c *columnWriter) fail(format string, args ...any) {
	if c.bundle.err == nil {
		c.bundle.err = fmt.Errorf("column %s: "+format, append([]any{c.field.Name}, args...)...)
	}
}

// mark records which of the next rows are null.
func (c *columnWriter) mark(rows int, valid []uint64) {
	if valid != nil && len(valid)*64 < rows {
		c.fail("a mask of %d words for %d rows", len(valid), rows)
		valid = nil
	}
	for i := 0; valid != nil && i < rows; i += 64 {
		missing := ^valid[i/64]
		if rows-i < 64 {
			missing &= 1<<(rows-i) - 1
		}
		for ; missing != 0; missing &= missing - 1 {
			row := c.rows + i + bits.TrailingZeros64(missing)
			for len(c.nulls) <= row/8 {
				c.nulls = append(c.nulls, 0)
			}
			c.nulls[row/8] |= 1 << (row % 8)
			c.hasNulls = true
		}
	}
	c.rows += rows
}

func (c *columnWriter) fixed(data []byte, rows int, valid []uint64) {
	if width := c.field.width(); width == 0 || len(data) != rows*width {
		c.fail("%d bytes for %d values of %s", len(data), rows, c.field.Kind)
		return
	}
	c.mark(rows, valid)
	c.buffer = append(c.buffer, data...)
	c.pending += rows
	if len(c.buffer) >= segmentBytes {
		c.flushFixed()
	}
}

func (c *columnWriter) flushFixed() {
	if c.pending == 0 {
		return
	}
	at := c.bundle.write(c.buffer)
	c.segments = append(c.segments, [4]int64{int64(c.pending), encodingFixed, at, int64(len(c.buffer))})
	c.buffer, c.pending = c.buffer[:0], 0
}

func (c *columnWriter) strings(values []string, valid []uint64) {
	if kindWidth[c.field.Kind] != 0 {
		c.fail("text for values of %s", c.field.Kind)
		return
	}
	c.mark(len(values), valid)
	for _, v := range values {
		c.texts = append(c.texts, strings.Clone(v)) // the caller's memory is its own again
	}
	if len(c.texts) >= segmentRows {
		c.flushStrings()
	}
}

// flushStrings writes codes while words repeat themselves, else the texts as they are.
func (c *columnWriter) flushStrings() {
	if len(c.texts) == 0 {
		return
	}
	encoding, data := int64(encodingCodes), c.encodeWords()
	if data == nil {
		encoding, data = encodingPlain, encodePlain(c.texts)
	}
	at := c.bundle.write(data)
	c.segments = append(c.segments, [4]int64{int64(len(c.texts)), encoding, at, int64(len(data))})
	clear(c.texts)
	c.texts = c.texts[:0]
}

// encodeWords gives the codes of the pending texts, or nil where the dictionary
// does not pay: too many words, too many bytes, or a NUL in one of them.
func (c *columnWriter) encodeWords() []byte {
	if c.words == nil {
		return nil
	}
	before := len(c.list)
	out := make([]byte, 0, 4*len(c.texts))
	for _, v := range c.texts {
		code, ok := c.words[v]
		if !ok {
			if strings.IndexByte(v, 0) >= 0 {
				c.forget(before)
				return nil
			}
			code = int32(len(c.list))
			c.words[v] = code
			c.list = append(c.list, v)
			c.wordBytes += len(v)
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(code))
	}
	fresh := len(c.list) - before
	if len(c.list) > maxWords || c.wordBytes > maxWordBytes || len(c.texts) > 1000 && fresh > len(c.texts)/2 {
		c.forget(before)
		c.words = nil // from here on plain
		return nil
	}
	return out
}

// forget takes the words back that only the present segment would have used.
func (c *columnWriter) forget(before int) {
	for _, w := range c.list[before:] {
		delete(c.words, w)
		c.wordBytes -= len(w)
	}
	c.list = c.list[:before]
}

func encodePlain(texts []string) []byte {
	size := 4 * len(texts)
	for _, t := range texts {
		size += len(t)
	}
	out := make([]byte, 0, size)
	for _, t := range texts {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(t)))
	}
	for _, t := range texts {
		out = append(out, t...)
	}
	return out
}

func (c *columnWriter) finish() footerColumn {
	c.flushFixed()
	c.flushStrings()
	part := footerColumn{Name: c.field.Name, Kind: c.field.Kind, Scale: c.field.Scale, Zone: c.field.Zone, Segments: c.segments}
	if c.segments == nil {
		part.Segments = [][4]int64{}
	}
	if c.field.Wide {
		part.Width = 16
	}
	if len(c.list) > 0 {
		data := []byte(strings.Join(c.list, "\x00"))
		part.Dict = []int64{c.bundle.write(data), int64(len(data)), int64(len(c.list))}
	}
	if c.hasNulls {
		mask := append(c.nulls, make([]byte, (c.rows+7)/8-len(c.nulls))...)
		part.Nulls = []int64{c.bundle.write(mask), int64(len(mask))}
	}
	return part
}
