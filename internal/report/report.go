// Package report writes a report as HTML and PDF: Markdown, with tables and charts of a
// thread by name, and the origin of each figure as a note.
//
//	Document --parse--> blocks --HTML / PDF--> a file
//
// Both files hold everything that they show and fetch nothing. The same document always
// gives the same bytes, so that a report is not stored twice.
package report

import (
	"slices"
	"strings"

	"interlock/internal/chart"
	"interlock/internal/fault"
	"interlock/internal/schema"
)

// A Document is what a report is made of. Markdown shows a table or a chart with the
// syntax of an image: ![caption](name), or chart:name and table:name where both have one name.
type Document struct {
	Title    string
	Markdown string
	Tables   []Table
	Charts   []Chart
	Figures  []Figure
	// TitleFigures are the numbers of the title; they are bytes of Title.
	TitleFigures []Figure
}

// A Table is a result that the report may show.
type Table struct {
	Name    string
	Columns []schema.Column
	Rows    [][]any
}

// A Chart is a chart that the report may show. Picture may be nil where the text does
// not name the chart.
type Chart struct {
	Name    string
	Picture *chart.Picture
}

// A Figure is a number in the Markdown and where it comes from.
type Figure struct {
	Start, End int // in bytes of the Markdown
	Text       string
	Source     string
	NoOrigin   bool // nothing supports it; Source says so
}

// Bounds of what a report shows.
const (
	maxTableRows = 100 // shown of one table
	maxColumns   = 12
	maxNotes     = 300
)

// A page is a document that was read: blocks, and the notes that they refer to by number.
type page struct {
	title   string
	heading []span // the title with the notes of its figures
	blocks  []block
	notes   []note
}

type note struct {
	text     string
	noOrigin bool
}

// readDocument checks a document and makes blocks of it.
func readDocument(d Document) (page, error) {
	title := strings.TrimSpace(d.Title)
	switch {
	case title == "":
		return page{}, fault.New(fault.InvalidArguments, "the report has no title").Suggest("Say in a few words what it is about.")
	case strings.TrimSpace(d.Markdown) == "":
		return page{}, fault.New(fault.InvalidArguments, "the report has no text").Suggest("Write the findings as Markdown.")
	}
	if err := checkMarkdown(d.Markdown); err != nil {
		return page{}, err
	}
	r := newReader(d)
	titleSpans := r.titleSpans(d.Title, d.TitleFigures)
	blocks, err := r.read()
	if err != nil {
		return page{}, err
	}
	if len(blocks) > 0 && blocks[0].kind == heading && strings.EqualFold(plainText(blocks[0].spans), title) {
		blocks = blocks[1:] // the title stands above the text already
	}
	return page{title, titleSpans, blocks, keepReferred(titleSpans, blocks, r.notes)}, nil
}

// keepReferred drops the notes that no block refers to, such as those of a caption or of a
// heading that repeats the title, and numbers the others in the order of the text.
func keepReferred(title []span, blocks []block, notes []note) []note {
	var kept []note
	numbers := map[int]int{} // the new number of a note, by its old one
	renumber := func(spans []span) {
		for i := range spans {
			old := spans[i].note
			if old == 0 {
				continue
			}
			if numbers[old] == 0 {
				kept = append(kept, notes[old-1])
				numbers[old] = len(kept)
			}
			spans[i].note = numbers[old]
		}
	}
	renumber(title)
	for _, b := range blocks {
		renumber(b.spans)
		for _, row := range append([][]cell{b.header}, b.rows...) {
			for _, c := range row {
				renumber(c.spans)
			}
		}
	}
	return kept
}

// names lists what the document can show.
func (d Document) names() []string {
	var out []string
	for _, c := range d.Charts {
		out = append(out, c.Name)
	}
	for _, t := range d.Tables {
		out = append(out, t.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
