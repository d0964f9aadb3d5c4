package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"interlock/internal/schema"
)

// A plannedImport is an import as a worker runs it. A workbook is one for each sheet.
type plannedImport struct {
	Import
	from  string // the import that it came of, if its table has another name
	notes []schema.Note
}

// planImports gives each further sheet of a workbook a table of its own: the first
// visible one with rows has the import's name.
func (b *builder) planImports(ctx context.Context) []plannedImport {
	taken := map[string]bool{}
	for _, im := range b.order.Imports {
		taken[strings.ToLower(im.Table)] = true
	}
	var out []plannedImport
	for _, im := range b.order.Imports {
		format := im.Format
		if format == "" {
			format = formatOf(im.Files[0])
		}
		if format != Excel || im.Options.Sheet != "" || len(im.Files) > 1 {
			out = append(out, plannedImport{Import: im})
			continue
		}
		out = append(out, planSheets(ctx, im, taken)...)
	}
	return out
}

func planSheets(ctx context.Context, im Import, taken map[string]bool) []plannedImport {
	first := plannedImport{Import: im}
	book, err := openWorkbook(im.Files[0])
	if err != nil {
		return []plannedImport{first} // its import says what is wrong
	}
	defer book.Close()
	var shown, hidden []bookSheet
	for _, s := range book.sheets {
		filled := false
		_, err := book.readSheet(ctx, s, func(int, []sheetCell) (bool, error) { filled = true; return false, nil })
		switch {
		case err == nil && !filled:
		case s.hidden:
			hidden = append(hidden, s)
		default:
			shown = append(shown, s)
		}
	}
	sheets := append(shown, hidden...)
	if len(sheets) == 0 {
		return []plannedImport{first}
	}
	first.Options.Sheet = sheets[0].name
	out := []plannedImport{first}
	var names []string
	for _, s := range sheets[1:] {
		name := sheetTable(im.Table, s.name)
		for k := 2; taken[name]; k++ {
			name = fmt.Sprintf("%s_%d", sheetTable(im.Table, s.name), k)
		}
		taken[name] = true
		names = append(names, name)
		out = append(out, plannedImport{
			Import: Import{Table: name, Files: im.Files, Format: Excel, Options: ImportOptions{Sheet: s.name}}, from: im.Table,
			notes: []schema.Note{{Rule: schema.RuleSheet, Message: fmt.Sprintf("The table is the sheet %s of the workbook.", s.name)}},
		})
	}
	if len(names) > 0 {
		out[0].notes = []schema.Note{{Rule: schema.RuleSheet, Count: int64(len(sheets)), Message: fmt.Sprintf("The table is the sheet %s; each further sheet is a table of its own: %s.", sheets[0].name, strings.Join(names, ", "))}}
	}
	return out
}

// sheetTable names the table of a further sheet: book_second.
func sheetTable(table, sheet string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return '_'
	}, sheet)
	return strings.ToLower(table) + "_" + strings.Trim(name, "_")
}

// loadExcel reads one sheet: once to find the header, once to learn the types, once to
// store the rows. What a cell is, its own type and number format say.
func (b *builder) loadExcel(ctx context.Context, im Import, r *TableReport) error {
	if len(im.Files) > 1 {
		return errors.New("a table is made of one workbook")
	}
	book, err := openWorkbook(im.Files[0])
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", filepath.Base(im.Files[0]), err)
	}
	defer book.Close()
	i := max(0, slices.IndexFunc(book.sheets, func(s bookSheet) bool { return s.name == im.Options.Sheet }))
	if im.Options.Sheet != "" && book.sheets[i].name != im.Options.Sheet {
		return fmt.Errorf("the workbook has no sheet %s", im.Options.Sheet)
	}
	s := &sheetTableReader{book: book, sheet: book.sheets[i], options: im.Options}
	if err := s.findHeader(ctx); err != nil {
		return err
	}
	if err := s.learnColumns(ctx); err != nil {
		return err
	}
	if err := s.store(ctx, b, im.Table); err != nil {
		return err
	}
	if err := s.leaveTotals(ctx, b, im, r); err != nil {
		return err
	}
	s.addNotes(r)
	return b.applyTypes(ctx, im, r)
}

// A sheetTableReader makes a table of a sheet.
type sheetTableReader struct {
	book    *workbook
	sheet   bookSheet
	options ImportOptions

	titles   int // rows above the header
	title    string
	top      int         // the row of the header or, without one, the first of the table
	header   []sheetCell // nil = none
	columns  []sheetColumn
	facts    sheetFacts
	filled   int // names that merged cells gave to the columns beside them
	inMerges int // merged cells below the header
	empty    int // rows between others that have no value
	gap      int // the first of them

	totals map[int64]bool // rows that are left out, by their place among the rows
}

// leaveTotals stores the rows of a sheet anew without those that add up others.
func (s *sheetTableReader) leaveTotals(ctx context.Context, b *builder, im Import, r *TableReport) error {
	if im.Options.KeepTotals {
		return nil
	}
	found, err := b.findTotals(ctx, im.Table)
	if err != nil {
		return err
	}
	found.note(r)
	if len(found.rows) == 0 {
		return nil
	}
	s.totals, s.columns, s.empty, s.filled, s.inMerges = found.places(), nil, 0, 0, 0
	if err := b.session.exec("DROP TABLE " + quoteName(im.Table)); err != nil {
		return err
	}
	if err := s.learnColumns(ctx); err != nil {
		return err
	}
	return s.store(ctx, b, im.Table)
}

// headRows are looked at to find the header.
const headRows = 60

type headRow struct {
	number int
	cells  []sheetCell
	filled int
	left   int // the first column with a value
}

// findHeader finds the row of names: the first about as wide as the rows below it.
func (s *sheetTableReader) findHeader(ctx context.Context) error {
	var rows []headRow
	_, err := s.book.readSheet(ctx, s.sheet, func(number int, cells []sheetCell) (bool, error) {
		row := headRow{number: number, cells: slices.Clone(cells), left: -1}
		for i, c := range cells {
			if c.kind != cellEmpty {
				row.filled++
				if row.left < 0 {
					row.left = i
				}
			}
		}
		rows = append(rows, row)
		return len(rows) < headRows, nil
	})
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("the sheet %s is empty", s.sheet.name)
	}
	at := 0
	if s.options.Header == nil {
		at = headerRow(rows)
		if merged, err := s.hasMergedHeader(ctx, rows, at); err != nil {
			return err
		} else if merged {
			at--
		}
	}
	s.top, s.titles = rows[at].number, at
	if at > 0 {
		i := slices.IndexFunc(rows[0].cells, func(c sheetCell) bool { return c.kind != cellEmpty })
		s.title = s.book.readable(rows[0].cells[i])
	}
	named := s.areNames(rows[at].cells)
	if s.options.Header != nil {
		named = *s.options.Header
	}
	if named {
		s.header = rows[at].cells
	}
	return nil
}

// headerRow finds the first row that is as wide as most, or the row of names right above
// it that leaves the first columns without one.
func headerRow(rows []headRow) int {
	counts := map[int]int{}
	for _, r := range rows {
		counts[r.filled]++
	}
	usual := 0
	for n, times := range counts {
		if usual == 0 || times > counts[usual] || times == counts[usual] && n > usual {
			usual = n
		}
	}
	for i, r := range rows {
		if 4*r.filled < 3*usual {
			continue
		}
		if i > 0 && rows[i-1].left > r.left && rows[i-1].number == r.number-1 && !slices.ContainsFunc(rows[i-1].cells, func(c sheetCell) bool { return c.kind != cellEmpty && c.kind != cellText }) {
			return i - 1
		}
		return i
	}
	return 0
}

// hasMergedHeader says whether the row above the first wide one is its header: names of
// which some stand in merged cells, so that there are fewer of them than columns. Merged
// cells are told at the end of a sheet, so it is read to there only where this may be.
func (s *sheetTableReader) hasMergedHeader(ctx context.Context, rows []headRow, at int) (bool, error) {
	if at == 0 || s.areNames(rows[at].cells) {
		return false, nil
	}
	above := rows[at-1]
	if above.number != rows[at].number-1 || above.filled < 2 || !s.areNames(above.cells) {
		return false, nil
	}
	facts, err := s.book.readSheet(ctx, s.sheet, func(int, []sheetCell) (bool, error) { return true, nil })
	if err != nil {
		return false, err
	}
	named := above.filled
	for _, m := range facts.merges {
		if m.top == above.number && m.bottom == above.number {
			named += m.right - m.left
		}
	}
	return named > above.filled && 4*named >= 3*rows[at].filled, nil
}

// areNames says that a row can name columns: texts, or years and dates that follow each
// other behind a text.
func (s *sheetTableReader) areNames(cells []sheetCell) bool {
	texts, last := 0, math.Inf(-1)
	for _, c := range cells {
		switch c.kind {
		case cellEmpty:
		case cellText:
			texts++
		case cellNumber:
			year := c.number == math.Trunc(c.number) && c.number >= 1900 && c.number <= 2100
			if !year && !c.format.isDate() || c.number <= last {
				return false
			}
			last = c.number
		default:
			return false
		}
	}
	return texts > 0
}

func (s *sheetTableReader) rows(ctx context.Context, each func(number int, cells []sheetCell) error) (sheetFacts, error) {
	at := int64(-1)
	return s.book.readSheet(ctx, s.sheet, func(number int, cells []sheetCell) (bool, error) {
		if number < s.top || number == s.top && s.header != nil {
			return true, nil
		}
		if at++; s.totals[at] {
			return true, nil
		}
		return true, each(number, cells)
	})
}

func (s *sheetTableReader) learnColumns(ctx context.Context) error {
	last := s.top
	facts, err := s.rows(ctx, func(number int, cells []sheetCell) error {
		if number > last+1 {
			if s.empty == 0 {
				s.gap = last + 1
			}
			s.empty += number - last - 1
		}
		last = number
		for len(s.columns) < len(cells) {
			s.columns = append(s.columns, sheetColumn{})
		}
		for i, c := range cells {
			s.columns[i].countCell(s.book, c)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.facts = facts
	for len(s.columns) < len(s.header) {
		s.columns = append(s.columns, sheetColumn{})
	}
	s.nameColumns()
	return nil
}

// nameColumns takes the names of the header. Cells that are merged there name all of
// their columns. A column without a name and without values is none.
func (s *sheetTableReader) nameColumns() {
	names := make([]string, len(s.columns))
	for i, c := range s.header {
		names[i] = strings.TrimSpace(s.book.readable(c))
	}
	for _, m := range s.facts.merges {
		if s.header == nil || m.top > s.top || m.bottom < s.top {
			if m.bottom > s.top {
				s.inMerges++
			}
			continue
		}
		for i := m.left + 1; i <= m.right && i < len(names); i++ {
			if names[i] == "" && names[m.left] != "" {
				names[i] = names[m.left]
				s.filled++
			}
		}
	}
	for i, name := range columnNames(names, len(names)) {
		s.columns[i].name = name
		s.columns[i].absent = names[i] == "" && s.columns[i].total() == 0
		if strings.EqualFold(s.options.Types[name], "VARCHAR") {
			s.columns[i].asText = true
		}
	}
}

func (s *sheetTableReader) store(ctx context.Context, b *builder, table string) error {
	var columns []schema.Column
	var ddl []string
	to := make([]int, len(s.columns))
	for i := range s.columns {
		to[i] = -1
		if s.columns[i].absent {
			continue
		}
		to[i] = len(columns)
		s.columns[i].stored = s.columns[i].decide()
		columns = append(columns, s.columns[i].stored)
		ddl = append(ddl, definition(s.columns[i].stored))
	}
	if len(columns) == 0 {
		return fmt.Errorf("the sheet %s is empty", s.sheet.name)
	}
	if err := b.session.exec("CREATE TABLE " + quoteName(table) + " (" + strings.Join(ddl, ", ") + ")"); err != nil {
		return err
	}
	a, err := newAppender(b.session, table, columns)
	if err != nil {
		return err
	}
	_, err = s.rows(ctx, func(_ int, cells []sheetCell) error {
		for i, c := range cells {
			if to[i] >= 0 {
				s.storeCell(a, to[i], &s.columns[i], c)
			}
		}
		if a.Rows()%10_000 == 9_999 {
			b.each(table, a.Rows()+1)
		}
		return a.EndRow()
	})
	if err := errors.Join(err, a.Close()); err != nil {
		return err
	}
	for i := range s.columns {
		if c := &s.columns[i]; c.duration && !c.absent {
			name := quoteName(c.name)
			if err := b.run(ctx, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE INTERVAL USING to_microseconds(%s)", quoteName(table), name, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// storeCell stores a cell under the type of its column.
func (s *sheetTableReader) storeCell(a *Appender, col int, c *sheetColumn, v sheetCell) {
	switch {
	case v.kind == cellEmpty || v.kind == cellError || v.kind == cellUncomputed, v.kind == cellText && v.text == "" && c.stored.Type.Kind != schema.Text:
		a.Null(col)
		return
	case c.duration:
		a.Int(col, int64(math.Round(v.number*86_400_000))*1000)
		return
	}
	switch c.stored.Type.Kind {
	case schema.Text:
		a.String(col, s.book.readable(v))
	case schema.Bool:
		a.Bool(col, v.number != 0)
	case schema.Int:
		a.Int(col, int64(v.number))
	case schema.Decimal:
		a.DecimalText(col, []byte(strconv.FormatFloat(v.number, 'f', -1, 64)))
	case schema.Date, schema.Timestamp, schema.Time:
		day, micros, _ := s.book.moment(v.number)
		switch c.stored.Type.Kind {
		case schema.Date:
			a.Date(col, int32(day))
		case schema.Time:
			a.TimeOfDay(col, micros)
		default:
			a.Timestamp(col, day*86_400_000_000+micros)
		}
	default:
		a.Float(col, v.number)
	}
}

// applyTypes gives columns the types that the import asks for, where all values fit.
func (b *builder) applyTypes(ctx context.Context, im Import, r *TableReport) error {
	var now TableReport
	if err := b.measure(ctx, im.Table, &now); err != nil {
		return err
	}
	for _, c := range now.Columns {
		kind := im.Options.Types[c.Name]
		if kind == "" || strings.EqualFold(kind, "VARCHAR") || strings.EqualFold(kind, c.Type.String()) {
			continue
		}
		err := b.run(ctx, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s", quoteName(im.Table), quoteName(c.Name), kind))
		if _, ok := errors.AsType[*engineErr](err); ok && ctx.Err() == nil {
			r.addNote(schema.Note{Column: c.Name, Rule: schema.RuleTypes}, "The column %s stayed %s, because not every value fits the type %s that was given.", c.Name, c.Type, kind)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}
