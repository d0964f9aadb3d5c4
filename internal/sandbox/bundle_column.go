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
	pending int    // rows in this segment

	// Strings: a segment holds codes until it turns out not to pay, then lengths and bytes.
	words     map[string]int32 // nil once the dictionary does not pay
	list      []string
	wordBytes int
	known     int    // words before this segment
	codes     []byte // or
	lengths   []byte
	text      []byte
	plain     bool
}

func (c *columnWriter) fail(format string, args ...any) {
	if c.bundle.err == nil {
		c.bundle.err = fmt.Errorf("column %s: "+format, append([]any{c.field.Name}, args...)...)
	}
}

// markNulls records which of the next rows are null.
func (c *columnWriter) markNulls(rows int, valid []uint64) {
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

func (c *columnWriter) appendFixed(data []byte, rows int, valid []uint64) {
	if width := c.field.byteWidth(); width == 0 || len(data) != rows*width {
		c.fail("%d bytes for %d values of %s", len(data), rows, c.field.Kind)
		return
	}
	c.markNulls(rows, valid)
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
	at := c.bundle.writeBlock(c.buffer)
	c.segments = append(c.segments, [4]int64{int64(c.pending), encodingFixed, at, int64(len(c.buffer))})
	c.buffer, c.pending = c.buffer[:0], 0
}

func (c *columnWriter) appendStrings(values []string, valid []uint64) {
	if kindWidth[c.field.Kind] != 0 {
		c.fail("text for values of %s", c.field.Kind)
		return
	}
	c.markNulls(len(values), valid)
	for _, v := range values {
		if !c.plain && !c.appendCode(v) {
			c.rewriteAsPlain()
		}
		if c.plain {
			c.appendPlain(v)
		}
		c.pending++
		if c.pending == segmentRows {
			c.flushStrings()
		}
	}
}

// appendCode appends the dictionary code of v; false where the dictionary cannot
// hold it.
func (c *columnWriter) appendCode(v string) bool {
	if c.words == nil {
		return false
	}
	code, ok := c.words[v]
	if !ok {
		if strings.IndexByte(v, 0) >= 0 || len(c.list) == maxWords || c.wordBytes+len(v) > maxWordBytes {
			return false
		}
		v = strings.Clone(v) // the caller's memory is its own again
		code = int32(len(c.list))
		c.words[v] = code
		c.list = append(c.list, v)
		c.wordBytes += len(v)
	}
	c.codes = binary.LittleEndian.AppendUint32(c.codes, uint32(code))
	return true
}

func (c *columnWriter) appendPlain(v string) {
	c.lengths = binary.LittleEndian.AppendUint32(c.lengths, uint32(len(v)))
	c.text = append(c.text, v...)
}

// rewriteAsPlain rewrites the present segment as text and forgets the words that
// only it used.
func (c *columnWriter) rewriteAsPlain() {
	c.plain = true
	for codes := c.codes; len(codes) > 0; codes = codes[4:] {
		c.appendPlain(c.list[binary.LittleEndian.Uint32(codes)])
	}
	for _, w := range c.list[c.known:] {
		delete(c.words, w)
		c.wordBytes -= len(w)
	}
	c.list, c.codes = c.list[:c.known], c.codes[:0]
}

// flushStrings writes the segment: as codes while words repeat themselves.
func (c *columnWriter) flushStrings() {
	if c.pending == 0 {
		return
	}
	if fresh := len(c.list) - c.known; !c.plain && c.pending > 1000 && fresh > c.pending/2 {
		c.rewriteAsPlain()
		c.words = nil // and so for the rest of the column
	}
	encoding, data := int64(encodingCodes), c.codes
	if c.plain {
		encoding, data = encodingPlain, append(c.lengths, c.text...)
	}
	at := c.bundle.writeBlock(data)
	c.segments = append(c.segments, [4]int64{int64(c.pending), encoding, at, int64(len(data))})
	c.codes, c.lengths, c.text = c.codes[:0], c.lengths[:0], c.text[:0]
	c.pending, c.plain, c.known = 0, false, len(c.list)
}

func (c *columnWriter) finish() footerColumn {
	if kindWidth[c.field.Kind] == 0 {
		c.flushStrings()
	} else {
		c.flushFixed()
	}
	part := footerColumn{Name: c.field.Name, Kind: c.field.Kind, Scale: c.field.Scale, Zone: c.field.Zone, Segments: c.segments}
	if c.segments == nil {
		part.Segments = [][4]int64{}
	}
	if c.field.Wide {
		part.Width = 16
	}
	if len(c.list) > 0 {
		data := []byte(strings.Join(c.list, "\x00"))
		part.Dict = []int64{c.bundle.writeBlock(data), int64(len(data)), int64(len(c.list))}
	}
	if c.hasNulls {
		mask := append(c.nulls, make([]byte, (c.rows+7)/8-len(c.nulls))...)
		part.Nulls = []int64{c.bundle.writeBlock(mask), int64(len(mask))}
	}
	return part
}
