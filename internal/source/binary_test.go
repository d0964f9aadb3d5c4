package source

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"interlock/internal/schema"
)

var binaryColumns = []schema.Column{
	{Name: "a", Type: schema.Type{Kind: schema.Int}, Native: "int4"},
	{Name: "b", Type: schema.Type{Kind: schema.Decimal, Width: 12, Scale: 2}, Native: "numeric"},
	{Name: "c", Type: schema.Type{Kind: schema.Text}, Native: "text"},
	{Name: "d", Type: schema.Type{Kind: schema.Timestamp}, Native: "timestamp"},
}

// stream is a COPY of two rows.
func stream() []byte {
	data := append([]byte(nil), copyHeader...)
	data = append(data, make([]byte, 8)...)
	field := func(p []byte) {
		data = binary.BigEndian.AppendUint32(data, uint32(len(p)))
		data = append(data, p...)
	}
	for range 2 {
		data = binary.BigEndian.AppendUint16(data, 4)
		field([]byte{0, 0, 0, 7})
		field([]byte{0, 2, 0, 0, 0x40, 0, 0, 2, 0, 12, 0x13, 0x88}) // -12.50
		field([]byte("text"))
		data = append(data, 0xff, 0xff, 0xff, 0xff)
	}
	return append(data, 0xff, 0xff)
}

// FuzzCopy feeds a hostile server's bytes in pieces: nothing panics, and how the
// bytes are cut makes no difference.
func FuzzCopy(f *testing.F) {
	f.Add(stream(), 1)
	f.Add(stream(), 30)
	f.Add(stream()[:40], 7)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		size = max(1, size%64)
		read := func(cut int) string {
			var rows strings.Builder
			r := newRowReader(binaryColumns, func(b *Batch, _ error) bool {
				for i := range b.Rows {
					rows.Write(b.appendRow(nil, i))
				}
				return true
			})
			for at := 0; at < len(data) && r.err == nil; at += cut {
				r.Write(data[at:min(at+cut, len(data))]) // r.err has the error
			}
			if r.err == nil {
				r.err = r.flush()
			}
			return fmt.Sprint(rows.String(), r.ended, r.err != nil)
		}
		if whole, cut := read(len(data)+1), read(size); whole != cut {
			t.Errorf("whole: %s\nin pieces of %d: %s", whole, size, cut)
		}
	})
}

func TestCopyInPieces(t *testing.T) {
	for cut := 1; cut < 60; cut++ {
		rows := ""
		r := newRowReader(binaryColumns, func(b *Batch, _ error) bool {
			for i := range b.Rows {
				rows += string(b.appendRow(nil, i))
			}
			return true
		})
		data := stream()
		for at := 0; at < len(data); at += cut {
			if _, err := r.Write(data[at:min(at+cut, len(data))]); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.flush(); err != nil || !r.ended || rows != `[7,-12.50,"text",null][7,-12.50,"text",null]` {
			t.Fatalf("pieces of %d: %s, %v", cut, rows, err)
		}
	}
}

// numericBytes writes a number the way PostgreSQL sends it.
func numericBytes(units *big.Int, scale int) []byte {
	text := formatUnits(new(big.Int).Abs(units).String(), scale)
	whole, part, _ := strings.Cut(text, ".")
	for len(whole)%4 != 0 {
		whole = "0" + whole
	}
	for len(part)%4 != 0 {
		part += "0"
	}
	weight := len(whole)/4 - 1
	digits := whole + part
	for strings.HasPrefix(digits, "0000") { // groups of zeros are not sent
		digits, weight = digits[4:], weight-1
	}
	for strings.HasSuffix(digits, "0000") && len(digits)%4 == 0 && len(digits) > 0 {
		digits = digits[:len(digits)-4]
	}
	p := binary.BigEndian.AppendUint16(nil, uint16(len(digits)/4))
	p = binary.BigEndian.AppendUint16(p, uint16(int16(weight)))
	sign := uint16(0)
	if units.Sign() < 0 {
		sign = 0x4000
	}
	p = binary.BigEndian.AppendUint16(p, sign)
	p = binary.BigEndian.AppendUint16(p, uint16(scale))
	for i := 0; i < len(digits); i += 4 {
		var d uint16
		fmt.Sscanf(digits[i:i+4], "%d", &d)
		p = binary.BigEndian.AppendUint16(p, d)
	}
	return p
}

// Decimals come out as they went in, from PostgreSQL's digits and from text.
func TestDecimalsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 38).Draw(t, "width")
		scale := rapid.IntRange(0, width).Draw(t, "scale")
		digits := rapid.StringMatching(fmt.Sprintf(`-?[0-9]{1,%d}`, width)).Draw(t, "digits")
		units, _ := new(big.Int).SetString(digits, 10)
		want := formatUnits(units.String(), scale)
		kind := schema.Type{Kind: schema.Decimal, Width: width, Scale: scale}
		for name, put := range map[string]func(*Batch, *vector) error{
			"binary": func(b *Batch, v *vector) error { return decodeNumeric(b, v, numericBytes(units, scale)) },
			"text":   func(b *Batch, v *vector) error { return b.putText(v, []byte(want)) },
		} {
			b := newBatch([]schema.Column{{Name: "n", Type: kind}})
			if err := put(b, &b.vectors[0]); err != nil {
				t.Fatalf("%s: %s as %s: %v", name, want, kind, err)
			}
			got := strings.Trim(string(b.appendCell(nil, 0, 0)), `"`)
			if got != want {
				t.Fatalf("%s: %s as %s became %s (%s)", name, want, kind, got, hex.EncodeToString(numericBytes(units, scale)))
			}
		}
	})
}
