package sandbox

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"

	"interlock/internal/schema"
)

func frameBytes(head string, payload []byte) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(head))), head...), payload...)
}

// FuzzFrames checks that hostile frames are refused or read, never worse, and that
// it does not matter where the chunks end.
func FuzzFrames(f *testing.F) {
	f.Add(frameBytes(`{"kind":"table","len":5,"columns":[{"name":"a"}],"rows":1,"sent":1}`, []byte("[[1]]")), uint8(3))
	f.Add(frameBytes(`{"kind":"done"}`, nil), uint8(1))
	f.Add(frameBytes(`{"kind":"file","len":-1}`, nil), uint8(1))
	f.Add([]byte("\xff\xff\xff\xff"), uint8(2))
	f.Add(frameBytes(`{"kind":"table","len":9,"columns":[{"name":"a","type":"DECIMAL(38,20000000)"}],"rows":1}`, []byte(`[["1e5"]]`)), uint8(9))
	f.Add(frameBytes(`{"kind":"table","len":15,"columns":[{"name":"a","type":"DECIMAL(38,2)"}],"rows":1}`, []byte(`[["1e999999"]]`+" ")), uint8(9))
	f.Add(frameBytes(`{"kind":"table","len":2,"columns":[{"name":"a","type":"INTEGER) AS x; DROP"}],"rows":-5}`, []byte("[]")), uint8(9))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		var whole []header
		for r := bytes.NewReader(data); r.Len() > 0; {
			h, payload, err := readFrame(r)
			if err != nil {
				break
			}
			if len(payload) != h.Len {
				t.Fatalf("%d bytes of %d", len(payload), h.Len)
			}
			whole = append(whole, h)
		}
		var in jobFrames
		var cut []header
		for chunk := range chunks(data, int(size)+1) {
			if in.addChunk(chunk, func(h header, _ []byte) error { cut = append(cut, h); return nil }) != nil {
				break
			}
		}
		if len(whole) != len(cut) {
			t.Fatalf("%d frames whole, %d in chunks", len(whole), len(cut))
		}
		c := &collector{job: &preparedJob{Job: Job{Rows: 10}}}
		_ = c.inner.addChunk(data, c.addJobFrame)
		checkOutcome(t, c)
	})
}

// checkOutcome holds whatever was accepted to the bounds, and turns its rows into a
// bundle, which must not cost more than they are long.
func checkOutcome(t *testing.T, c *collector) {
	t.Helper()
	o := c.outcome
	if len(o.Columns) > maxColumns || o.RowCount < 0 || o.RowCount > maxCount || len(o.Files)+len(o.Figures) > maxFiles {
		t.Fatalf("%d columns, %d rows, %d files", len(o.Columns), o.RowCount, len(o.Files))
	}
	for _, col := range o.Columns {
		if len(col.Name) > maxLabel+len("…") || len(col.Type.String()) > len("TIMESTAMP WITH TIME ZONE") {
			t.Fatalf("a column %q of the type %q", col.Name, col.Type)
		}
	}
	var rows [][]json.RawMessage
	if o.Rows == nil || json.Unmarshal(o.Rows, &rows) != nil {
		return
	}
	for i, col := range o.Columns {
		cells := make([]json.RawMessage, len(rows))
		for n, row := range rows {
			cells[n] = row[i]
		}
		convertColumn(col, cells)
	}
}

// Types that no runner sends are refused before anything is computed from them.
func TestForgedTypes(t *testing.T) {
	for kind, ok := range map[string]bool{
		"DECIMAL(38,20000000)": false, "DECIMAL(39,2)": false, "DECIMAL(2,3)": false, "DECIMAL(0,0)": false, "DECIMAL(-1,2)": false,
		"DECIMAL": false, "DECIMAL(9999999999999,1)": false, "VARCHAR); DROP": false, "": false, "STRUCT(a INTEGER)": false,
		"DECIMAL(38,38)": true, "DECIMAL(12,2)": true, "BIGINT": true, "TIMESTAMP WITH TIME ZONE": true,
	} {
		c := &collector{job: &preparedJob{Job: Job{Rows: 10}}}
		err := c.addJobFrame(header{Kind: "table", Columns: []schema.Column{{Name: "a", Type: schema.ParseType(kind)}}, Rows: 1}, []byte(`[["1e5"]]`))
		if (err == nil) != ok {
			t.Errorf("%q: %v", kind, err)
		}
		convertColumn(schema.Column{Name: "a", Type: schema.ParseType(kind)}, []json.RawMessage{[]byte(`"1e5"`), []byte(`"1e999999"`), []byte(`1e-999999`)})
	}
	c := &collector{job: &preparedJob{Job: Job{Rows: 10}}}
	if c.addJobFrame(header{Kind: "table", Columns: make([]schema.Column, maxColumns+1)}, []byte("[]")) == nil {
		t.Error("too many columns were taken")
	}
	f := (&jobFailure{Message: strings.Repeat("x", 1<<20), Frames: make([]UserFrame, 10_000)}).truncated()
	if len(f.Message) > maxMessage+3 || len(f.Frames) > maxFrames {
		t.Errorf("a failure of %d bytes and %d frames", len(f.Message), len(f.Frames))
	}
}

func chunks(data []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(data) > 0 {
			n := min(size, len(data))
			if !yield(data[:n]) {
				return
			}
			data = data[n:]
		}
	}
}

func TestCheckRows(t *testing.T) {
	for _, c := range []struct {
		rows string
		ok   bool
	}{
		{`[]`, true},
		{`[[1,2],[null,"x"]]`, true},
		{`[[1,{"a":[1]}]]`, true},
		{``, false},
		{`{}`, false},
		{`[[1]]`, false},
		{`[[1,2]`, false},
		{`[[1,2]] x`, false},
		{`[[1,2]][]`, false},
		{`[1]`, false},
		{`[[1,2],[1,2],[1,2],[1,2]]`, false},
	} {
		if _, err := checkRows([]byte(c.rows), 2, 3); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.rows, err)
		}
	}
}

func TestFileNamesAndTypes(t *testing.T) {
	for given, want := range map[string]string{
		"a.csv": "a.csv", "../../etc/passwd": "passwd", `..\..\x.png`: "x.png", "": "file", "/": "file", "..": "file", "a\x00b\n.csv": "a_b_.csv", "x/../y.json": "y.json",
	} {
		if got := baseName(given); got != want {
			t.Errorf("%q became %q, want %q", given, got, want)
		}
	}
	for _, c := range []struct{ name, data, want string }{
		{"a.csv", "a,b\n1,2", "text/csv"},
		{"a.png", "\x89PNG\r\n\x1a\n....", "image/png"},
		{"a.png", "<html><script>", "text/plain"},
		{"a.html", "<html>", "text/html"},
		{"a.pdf", "%PDF-1.7", "application/pdf"},
		{"a.xlsx", "PK\x03\x04....", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		{"a.csv", "\x7fELF\x00\x01", "application/octet-stream"},
	} {
		if got := contentType(c.name, []byte(c.data)); got != c.want {
			t.Errorf("%s with %q is %s, want %s", c.name, c.data, got, c.want)
		}
	}
}
