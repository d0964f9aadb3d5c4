package query

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"

	"interlock/internal/schema"
)

// wholeSample is the size up to which every row of JSON is looked at before the types
// of its columns are decided.
const wholeSample = 256 << 20

// loadCSV reads delimited text: every cell as text, which then gets the type that all
// of its column survive. Files that are not laid out as their first rows say are
// written anew, with what cannot be read kept aside.
func (b *builder) loadCSV(ctx context.Context, im Import, r *TableReport) error {
	in, err := b.inputs(ctx, im.Files, im.Options.Encoding, ".csv")
	if err != nil {
		return err
	}
	if im.Options.Encoding == "" {
		if in, err = b.decodeUnlikely(ctx, in, sampleBytes, r); err != nil {
			return err
		}
	}
	layouts := make([]layout, len(in.files))
	for i, f := range in.files {
		if layouts[i], err = findLayout(f, in.compression, im.Options); err != nil {
			return fmt.Errorf("looking into %s: %w", filepath.Base(im.Files[i]), err)
		}
	}
	shareNames(layouts)
	columns := textColumns(layouts, im.Options.Types)
	err = b.settleTypes(ctx, im.Table, columns, csvQuery(in, layouts))
	if isTextError(err) && ctx.Err() == nil {
		if im.Options.Encoding == "" {
			if in, err = b.decodeUnlikely(ctx, in, 0, r); err != nil {
				return err
			}
		}
		if in, err = b.clean(ctx, in, layouts, r); err != nil {
			return err
		}
		columns = textColumns(layouts, im.Options.Types)
		err = b.settleTypes(ctx, im.Table, columns, csvQuery(in, layouts))
	}
	if err != nil {
		return err
	}
	from := csvQuery(in, layouts)
	if from, err = b.leaveTotals(ctx, im, columns, from, r); err != nil {
		return err
	}
	for _, l := range layouts {
		if l.skip > 0 && l.title != "" {
			r.addNote(schema.Note{Rule: schema.RuleHeader, Count: l.skip, Before: clipText(l.title)}, "Lines above the header that were left out: %d.", l.skip)
		}
	}
	return b.noteTypes(ctx, im.Table, columns, from, r)
}

// isTextError says that the engine could not split or decode the text.
func isTextError(err error) bool {
	e, ok := errors.AsType[*engineErr](err)
	return ok && (strings.Contains(e.Message, "CSV") || strings.Contains(strings.ToLower(e.Message), "utf-8") || strings.Contains(strings.ToLower(e.Message), "unicode"))
}

// shareNames gives the files of one table that have no header the names of one that has.
func shareNames(layouts []layout) {
	named := slices.IndexFunc(layouts, func(l layout) bool { return l.header })
	if named < 0 {
		return
	}
	for i := range layouts {
		if !layouts[i].header && len(layouts[i].names) <= len(layouts[named].names) {
			layouts[i].names = layouts[named].names[:len(layouts[i].names)]
		}
	}
}

// textColumns are the columns of all files with what the samples say about their types.
func textColumns(layouts []layout, types map[string]string) []*textColumn {
	var columns []*textColumn
	at := map[string]int{}
	samples := map[string][]string{}
	for _, l := range layouts {
		for i, name := range l.names {
			key := strings.ToLower(name)
			if _, known := at[key]; !known {
				at[key] = len(columns)
				columns = append(columns, &textColumn{name: name, given: types[name]})
			}
			for _, rec := range l.sample {
				if i < len(rec.cells) && len(rec.cells) <= len(l.names) && (len(rec.cells[i].text) > 0 || rec.cells[i].quoted) {
					samples[key] = append(samples[key], string(rec.cells[i].text))
				}
			}
		}
	}
	for _, c := range columns {
		if strings.EqualFold(c.given, "VARCHAR") {
			c.whole = true
			continue
		}
		c.consider(samples[strings.ToLower(c.name)])
	}
	return columns
}

// csvQuery reads every cell as text. Files of one layout that follow each other are read
// by one call; columns of one name are put together.
func csvQuery(in inputs, layouts []layout) string {
	var parts []string
	for i := 0; i < len(layouts); {
		files := []string{quoteText(in.files[i])}
		k := i + 1
		for ; k < len(layouts) && layouts[k].hasFormOf(layouts[i]); k++ {
			files = append(files, quoteText(in.files[k]))
		}
		parts = append(parts, layouts[i].query(files, in.compression))
		i = k
	}
	return strings.Join(parts, " UNION ALL BY NAME ")
}

func (l layout) hasFormOf(o layout) bool {
	return l.dialect == o.dialect && l.skip == o.skip && l.header == o.header && slices.Equal(l.names, o.names) && l.longest == o.longest
}

func (l layout) query(files []string, compression string) string {
	types := map[string]string{}
	for _, n := range l.names {
		types[n] = "VARCHAR"
	}
	// A quoted "" is empty text; only what stands unquoted is NULL.
	args := []string{"auto_detect=false", "strict_mode=true", "nullstr=''", "allow_quoted_nulls=false", "columns=" + structLiteral(l.names, types)}
	add := func(name, value string) { args = append(args, name+"="+value) }
	add("delim", quoteText(l.delimiter))
	add("quote", quoteText(string(rune(l.quote))))
	add("escape", quoteText(string(rune(l.escape))))
	add("header", fmt.Sprint(l.header))
	add("skip", fmt.Sprint(l.skip))
	if compression != "" {
		add("compression", quoteText(compression))
	}
	if l.longest > 1<<20 {
		add("max_line_size", fmt.Sprint(2*l.longest))
	}
	return "SELECT * FROM read_csv([" + strings.Join(files, ", ") + "], " + strings.Join(args, ", ") + ")"
}

// structLiteral writes the types of columns in this order.
func structLiteral(names []string, types map[string]string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = quoteText(name) + ": " + quoteText(types[name])
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// columnsWhere gives the columns for which a condition over all rows holds.
func (b *builder) columnsWhere(ctx context.Context, condition string, columns []string, from string) ([]string, error) {
	if len(columns) == 0 {
		return nil, nil
	}
	tests := make([]string, len(columns))
	for i, c := range columns {
		tests[i] = "coalesce(" + fmt.Sprintf(condition, quoteName(c)) + ", false)::VARCHAR"
	}
	rows, err := b.queryTexts(ctx, "SELECT "+strings.Join(tests, ", ")+" FROM "+from)
	if err != nil {
		return nil, err
	}
	var found []string
	for i, c := range columns {
		if rows[0][i] == "true" {
			found = append(found, c)
		}
	}
	return found, nil
}

// queryTexts gives the rows of a query whose columns are all text.
func (b *builder) queryTexts(ctx context.Context, sql string) ([][]string, error) {
	c, err := b.session.query(ctx, sql)
	if err != nil {
		return nil, err
	}
	defer c.close()
	t := describe(c, 0)
	var out [][]string
	for {
		chunk, ok, err := c.next()
		if err != nil || !ok {
			return out, err
		}
		for row := range t.bind(chunk) {
			cells := make([]string, len(t.vectors))
			for i, v := range t.vectors {
				cells[i] = string(v.plain(nil, row))
			}
			out = append(out, cells)
		}
		duck.DestroyDataChunk(&chunk)
	}
}
