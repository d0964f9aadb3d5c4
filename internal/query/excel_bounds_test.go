package query

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeParts makes a workbook of parts, and gives its path.
func writeParts(t *testing.T, parts map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "book.xlsx")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range parts {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Workbooks that would cost much more to read than to write are refused.
func TestWorkbookBounds(t *testing.T) {
	const worksheet = `Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"`
	book := func(sheets, links string) map[string]string {
		return map[string]string{
			"xl/workbook.xml":            `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>` + sheets + `</sheets></workbook>`,
			"xl/_rels/workbook.xml.rels": `<Relationships>` + links + `</Relationships>`,
			"xl/worksheets/sheet1.xml":   `<worksheet><sheetData/></worksheet>`,
		}
	}
	one := `<Relationship Id="r1" ` + worksheet + ` Target="worksheets/sheet1.xml"/>`
	long := book(`<sheet name="a" r:id="r1"/>`, one)
	long["xl/sharedStrings.xml"] = `<sst><si><t>` + strings.Repeat(" ", 2*maxText) + `</t></si></sst>`
	var many strings.Builder
	for i := range maxSheets + 1 {
		fmt.Fprintf(&many, `<sheet name="s%d" r:id="r1"/>`, i)
	}
	for name, tt := range map[string]struct {
		parts map[string]string
		want  string
	}{
		"one text that is too long": {long, "too large"},
		"too many sheets":           {book(many.String(), one), "sheets"},
		"one part twice":            {book(`<sheet name="a" r:id="r1"/><sheet name="b" r:id="r1"/>`, one), "the same part"},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := openWorkbook(writeParts(t, tt.parts))
			if err == nil {
				w.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want a refusal that says %q", err, tt.want)
			}
		})
	}
	w, err := openWorkbook(writeParts(t, book(`<sheet name="a" r:id="r1"/>`, one)))
	if err != nil || len(w.sheets) != 1 {
		t.Fatalf("an ordinary workbook: %v", err)
	}
	w.Close()
}
