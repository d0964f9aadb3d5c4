package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// loadExcel reads one sheet, twice: once to learn the types, once to store the rows.
func (b *builder) loadExcel(ctx context.Context, im Import) error {
	if len(im.Files) > 1 {
		return errors.New("a table is made of one workbook")
	}
	f, err := excelize.OpenFile(im.Files[0], excelize.Options{
		RawCellValue: true, UnzipSizeLimit: 4 << 30, UnzipXMLSizeLimit: 16 << 20, TmpDir: b.order.Scratch,
	})
	if err != nil {
		return fmt.Errorf("%s is no workbook that can be read", filepath.Base(im.Files[0]))
	}
	defer f.Close()
	s := &sheet{file: f, options: im.Options}
	if err := s.choose(); err != nil {
		return err
	}
	if err := s.learn(ctx); err != nil {
		return err
	}
	return s.store(ctx, b, im.Table)
}

// A sheet is a table in a workbook.
type sheet struct {
	file    *excelize.File
	options ImportOptions
	name    string
	columns []sheetColumn
	header  bool
}

type sheetColumn struct {
	name                      string
	values                    int
	numbers, integers, logics int
	dates, clocks             int // numbers shown as dates, and those with a time of day
}

// choose takes the sheet that was asked for, or the first that has rows.
func (s *sheet) choose() error {
	for _, name := range s.file.GetSheetList() {
		if s.options.Sheet != "" && name != s.options.Sheet {
			continue
		}
		s.name = name
		found := false
		err := s.rows(context.Background(), false, func(int, []string) (bool, error) {
			found = true
			return false, nil
		})
		if err != nil || found || s.options.Sheet != "" {
			return err
		}
	}
	if s.options.Sheet != "" && s.name == "" {
		return fmt.Errorf("the workbook has no sheet %s", s.options.Sheet)
	}
	return nil
}

// rows calls each with every row that has a value, until it says stop.
func (s *sheet) rows(ctx context.Context, shown bool, each func(number int, cells []string) (bool, error)) error {
	rows, err := s.file.Rows(s.name)
	if err != nil {
		return fmt.Errorf("reading the sheet %s: %w", s.name, err)
	}
	defer rows.Close()
	for n := 0; rows.Next(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		cells, err := rows.Columns(excelize.Options{RawCellValue: !shown})
		if err != nil {
			return fmt.Errorf("reading row %d: %w", n+1, err)
		}
		if strings.Join(cells, "") == "" {
			continue
		}
		more, err := each(n, cells)
		if err != nil || !more {
			return err
		}
	}
	return rows.Error()
}

// dateSample is how many rows are looked at to see which numbers are shown as dates.
const dateSample = 200

func (s *sheet) learn(ctx context.Context) error {
	var shown [][]string
	err := s.rows(ctx, true, func(_ int, cells []string) (bool, error) {
		shown = append(shown, cells)
		return len(shown) <= dateSample, nil
	})
	if err != nil {
		return err
	}
	if len(shown) == 0 {
		return fmt.Errorf("the sheet %s is empty", s.name)
	}
	n := 0
	return s.rows(ctx, false, func(_ int, cells []string) (bool, error) {
		if n == 0 {
			s.header = s.isHeader(cells)
			s.grow(len(cells))
			if s.header {
				s.nameColumns(cells)
			}
		}
		if n > 0 || !s.header {
			s.grow(len(cells))
			for i, c := range cells {
				look := ""
				if n < len(shown) && i < len(shown[n]) {
					look = shown[n][i]
				}
				s.columns[i].see(c, look)
			}
		}
		n++
		return true, nil
	})
}

// isHeader: a row of names, that is of texts that are no numbers.
func (s *sheet) isHeader(cells []string) bool {
	if s.options.Header != nil {
		return *s.options.Header
	}
	for _, c := range cells {
		if _, err := strconv.ParseFloat(c, 64); err == nil {
			return false
		}
	}
	return true
}

func (s *sheet) grow(n int) {
	for i := len(s.columns); i < n; i++ {
		s.columns = append(s.columns, sheetColumn{name: "column" + strconv.Itoa(i)})
	}
}

// nameColumns takes the header's names; doubled ones get a number.
func (s *sheet) nameColumns(cells []string) {
	seen := map[string]bool{}
	for i, c := range cells {
		name := strings.TrimSpace(c)
		if name == "" {
			name = s.columns[i].name
		}
		for k := 1; seen[strings.ToLower(name)]; k++ {
			name = fmt.Sprintf("%s_%d", strings.TrimSpace(c), k)
		}
		seen[strings.ToLower(name)] = true
		s.columns[i].name = name
	}
}

func (c *sheetColumn) see(raw, shown string) {
	if raw == "" {
		return
	}
	c.values++
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return
	}
	c.numbers++
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		c.integers++
	}
	switch {
	case shown == "TRUE" || shown == "FALSE":
		c.logics++
	case shown != raw && shown != "" && strings.ContainsAny(shown, "-/:") && !strings.HasPrefix(shown, "-"):
		c.dates++
		if strings.Contains(shown, ":") {
			c.clocks++
		}
	}
}

// kind is the narrowest type that holds every value.
func (c *sheetColumn) kind() Kind {
	switch {
	case c.values == 0 || c.numbers < c.values:
		return Text
	case c.logics > 0 && c.integers == c.values:
		return Bool
	case c.dates > 0 && c.clocks == 0 && c.integers == c.values:
		return Date
	case c.dates > 0:
		return Timestamp
	case c.integers == c.values:
		return Int64
	}
	return Float64
}

func (s *sheet) store(ctx context.Context, b *builder, table string) error {
	specs := make([]ColumnSpec, len(s.columns))
	ddl := make([]string, len(s.columns))
	for i := range s.columns {
		specs[i] = ColumnSpec{Name: s.columns[i].name, Kind: s.columns[i].kind()}
		ddl[i] = quoteName(specs[i].Name) + " " + specs[i].SQL()
	}
	if err := b.session.exec("CREATE TABLE " + quoteName(table) + " (" + strings.Join(ddl, ", ") + ")"); err != nil {
		return err
	}
	a, err := newAppender(b.session, table, specs)
	if err != nil {
		return err
	}
	first := true
	err = s.rows(ctx, false, func(_ int, cells []string) (bool, error) {
		if first {
			first = false
			if s.header {
				return true, nil
			}
		}
		for i, c := range cells {
			put(a, i, specs[i].Kind, c)
		}
		if a.Rows()%10_000 == 9_999 {
			b.each(table, a.Rows()+1)
		}
		return true, a.EndRow()
	})
	return errors.Join(err, a.Close())
}

// put stores a cell of a sheet: dates are numbers there.
func put(a *Appender, col int, kind Kind, raw string) {
	if raw == "" {
		a.Null(col)
		return
	}
	if kind == Text {
		a.String(col, raw)
		return
	}
	f, _ := strconv.ParseFloat(raw, 64)
	switch kind {
	case Bool:
		a.Bool(col, f != 0)
	case Int64:
		a.Int(col, int64(f))
	case Date, Timestamp:
		t, err := excelize.ExcelDateToTime(f, false)
		if err != nil {
			a.Null(col)
			return
		}
		a.Instant(col, t.Round(1_000_000))
	default:
		a.Float(col, f)
	}
}
