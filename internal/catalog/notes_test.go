package catalog_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"interlock/internal/catalog"
	"interlock/internal/schema"
)

// What an import decided is part of its table, each further sheet of a workbook is a
// table of its own, and both are still known when the catalog is opened anew.
func TestImportNotes(t *testing.T) {
	f := excelize.NewFile()
	defer f.Close()
	if _, err := f.NewSheet("Second"); err != nil {
		t.Fatal(err)
	}
	for sheet, row := range map[string]string{"Sheet1": "first", "Second": "second"} {
		if err := f.SetSheetCol(sheet, "A1", &[]string{"name", row}); err != nil {
			t.Fatal(err)
		}
	}
	var book bytes.Buffer
	if err := f.Write(&book); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, map[string]string{"shop/book.xlsx": book.String(), "shop/days.csv": "d,n\n31/12/2024,1\n30/11/2024,NA\n"})
	if got := w.rows(t, "shop", "SELECT name FROM book UNION ALL SELECT name FROM book_second"); got != `[["first"],["second"]]` {
		t.Error(got)
	}
	again, err := catalog.New(w.config)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	d, err := again.Get(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	table := func(name string) schema.Table {
		i := slices.IndexFunc(d.Tables, func(t schema.Table) bool { return t.Name == name })
		if i < 0 {
			t.Fatalf("there is no table %s: %+v", name, d.Tables)
		}
		return d.Tables[i]
	}
	if got := table("book_second"); got.File != "book.xlsx" || got.Rows != 1 {
		t.Errorf("%+v", got)
	}
	if notes := table("book").Notes; len(notes) != 1 || notes[0].Rule != schema.RuleSheet || !strings.Contains(notes[0].Message, "book_second") {
		t.Errorf("%+v", notes)
	}
	want := []schema.Note{
		{Column: "d", Rule: schema.RuleDateOrder, Count: 2, Before: "31/12/2024", After: "2024-12-31", Message: "The dates of d were read with the day first."},
		{Column: "n", Rule: schema.RuleMissing, Count: 1, Before: "NA", Message: "The column n was read as numbers: NA and the like as empty."},
	}
	if got := table("days").Notes; !slices.EqualFunc(want, got, func(a, b schema.Note) bool {
		return a.Column == b.Column && a.Rule == b.Rule && a.Count == b.Count && a.Before == b.Before && a.After == b.After && a.Message == b.Message
	}) {
		t.Errorf("%+v", got)
	}
}
