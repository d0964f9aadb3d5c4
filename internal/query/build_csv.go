package query

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// wholeSample is the size up to which every row of a file is looked at before the
// types of its columns are decided.
const wholeSample = 256 << 20

// A reading is how delimited text is read: as the import says, and as earlier looks found
// out.
type reading struct {
	ImportOptions
	skip int  // lines above the header
	pad  bool // rows may end early
}

// loadCSV reads delimited text. What the first look got wrong is put right by another:
// text that is not UTF-8 is translated, lines above the header are skipped, rows that
// end early are filled up, a column in which some cell does not fit its type becomes
// text, so that no row is lost for it, and whole numbers that a double cannot hold get
// a type that can.
func (b *builder) loadCSV(ctx context.Context, im Import, r *TableReport) error {
	inputs, err := b.inputs(ctx, im.Files, im.Options.Encoding, ".csv")
	if err != nil {
		return err
	}
	o, again := reading{ImportOptions: im.Options}, map[string]bool{}
	once := func(what string) bool { seen := again[what]; again[what] = true; return !seen }
	for {
		if err := b.session.exec("DROP TABLE IF EXISTS "+quoteName(im.Table), "DROP TABLE IF EXISTS reject_errors", "DROP TABLE IF EXISTS reject_scans"); err != nil {
			return err
		}
		err := b.create(ctx, im.Table, csvQuery(inputs, o))
		var rejects rejects
		if err == nil {
			rejects, err = b.rejects(ctx)
		} else if strings.Contains(strings.ToLower(err.Error()), "utf-8") {
			rejects.encoding = true
		}
		if rejects.encoding && o.Encoding == "" && once("encoding") {
			if inputs, err = b.inputs(ctx, im.Files, fallbackEncoding, ".csv"); err != nil {
				return err
			}
			o.Encoding = fallbackEncoding
			r.note(ImportNote{Rule: RuleEncoding}, "The text is not UTF-8; it was read as %s.", fallbackEncoding)
			continue
		}
		if err != nil {
			return err
		}
		if once("head") {
			found, err := b.head(ctx, im.Table, inputs, o, rejects)
			if err != nil {
				return err
			}
			if found.skip > 0 {
				r.note(ImportNote{Rule: RuleHeader, Count: int64(found.skip)}, "Lines above the header that were left out: %d.", found.skip)
			}
			if found.skip > 0 || found.Header != o.Header {
				o = found
				continue
			}
		}
		if rejects.short > 0 && once("short") {
			o.pad = true
			r.note(ImportNote{Rule: RuleShortRows, Count: rejects.short}, "Some rows have fewer cells than there are columns; what is missing is empty.")
			continue
		}
		if len(rejects.mixed) > 0 && (once("mixed") || once("mixed again")) {
			o.ImportOptions = o.typed(rejects.mixed, "VARCHAR")
			for _, c := range rejects.mixed {
				r.note(ImportNote{Column: c, Rule: RuleKeptText}, "The column %s was kept as text, because not every value fits the type of the first rows.", c)
			}
			continue
		}
		if once("wide") {
			wide, err := b.wide(ctx, im.Table, inputs, o)
			if err != nil {
				return err
			}
			if len(wide) > 0 {
				o.ImportOptions = o.typed(wide, "HUGEINT")
				continue
			}
		}
		if r.Rejected = rejects.rows; rejects.rows > 0 {
			r.note(ImportNote{Rule: RuleRejected, Count: rejects.rows}, "%d rows could not be read; the first: %s", rejects.rows, rejects.first)
		}
		return b.refine(ctx, im, r, func(columns []string) string {
			as := o
			as.ImportOptions = as.typed(columns, "VARCHAR")
			return csvQuery(inputs, as)
		})
	}
}

// typed is the options with a type for some columns, unless their types were given.
func (o ImportOptions) typed(columns []string, kind string) ImportOptions {
	types := map[string]string{}
	for _, c := range columns {
		types[c] = kind
	}
	maps.Copy(types, o.Types)
	o.Types = types
	return o
}

// csvQuery reads every file by itself, because only so are its bad rows kept apart,
// and puts columns of one name together.
func csvQuery(in inputs, o reading) string {
	// A quoted "" is empty text; only what stands unquoted is NULL.
	args := []string{"store_rejects=true", "allow_quoted_nulls=false"}
	add := func(name, value string) { args = append(args, name+"="+value) }
	if in.compression != "" {
		add("compression", quoteText(in.compression))
	}
	if in.bytes <= wholeSample {
		add("sample_size", "-1")
	} else {
		add("sample_size", "200000")
	}
	if o.Delimiter != "" {
		add("delim", quoteText(o.Delimiter))
	}
	if o.Quote != "" {
		add("quote", quoteText(o.Quote))
	}
	if o.Header != nil {
		add("header", fmt.Sprint(*o.Header))
	}
	if o.skip > 0 {
		add("skip", fmt.Sprint(o.skip))
	}
	if o.pad {
		add("null_padding", "true")
		add("parallel", "false") // the engine wants one thread where cells may hold lines
	}
	if len(o.Types) > 0 {
		add("types", structLiteral(slices.Sorted(maps.Keys(o.Types)), o.Types))
	}
	parts := make([]string, len(in.files))
	for i, f := range in.files {
		parts[i] = "SELECT * FROM read_csv(" + quoteText(f) + ", " + strings.Join(args, ", ") + ")"
	}
	return strings.Join(parts, " UNION ALL BY NAME ")
}

// structLiteral writes the types of columns in this order.
func structLiteral(names []string, types map[string]string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = quoteText(name) + ": " + quoteText(types[name])
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// rejects are the rows that the engine could not read.
type rejects struct {
	rows     int64
	first    string
	mixed    []string // columns with values of another type
	short    int64    // rows that end early
	long     int64    // rows that have too many cells
	encoding bool     // some text is not UTF-8
}

func (b *builder) rejects(ctx context.Context) (rejects, error) {
	var r rejects
	rows, err := b.texts(ctx, `SELECT count(DISTINCT (file_id, line))::VARCHAR, coalesce(first(error_message ORDER BY line), ''),
		coalesce(string_agg(DISTINCT column_name, chr(31)) FILTER (WHERE error_type = 'CAST'), ''),
		count(*) FILTER (WHERE error_type ILIKE '%ENCODING%' OR error_type ILIKE '%UNICODE%')::VARCHAR,
		count(*) FILTER (WHERE error_type = 'MISSING COLUMNS')::VARCHAR, count(*) FILTER (WHERE error_type = 'TOO MANY COLUMNS')::VARCHAR FROM reject_errors`)
	if err != nil || len(rows) == 0 {
		return r, err
	}
	if _, err := fmt.Sscan(strings.Join([]string{rows[0][0], rows[0][4], rows[0][5]}, " "), &r.rows, &r.short, &r.long); err != nil {
		return r, fmt.Errorf("counting the rows that could not be read: %w", err)
	}
	r.first = tidy(rows[0][1])
	if rows[0][2] != "" {
		r.mixed = strings.Split(rows[0][2], "\x1f")
	}
	r.encoding = rows[0][3] != "0"
	return r, nil
}

// wide finds the columns that were read as doubles and are whole numbers in the
// file, some of them beyond 64 bits: the engine's own look knows nothing between.
func (b *builder) wide(ctx context.Context, table string, in inputs, o reading) ([]string, error) {
	var r TableReport
	if err := b.measure(ctx, table, &r); err != nil {
		return nil, err
	}
	var doubles []string
	for _, c := range r.Columns {
		if _, given := o.Types[c.Name]; c.Type == "DOUBLE" && !given {
			doubles = append(doubles, c.Name)
		}
	}
	found, err := b.holding(ctx, "max(abs(%[1]s)) >= 9223372036854775808 AND max(abs(%[1]s)) < 1e38 AND bool_and(%[1]s = trunc(%[1]s))", doubles, quoteName(table))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	o.ImportOptions = o.typed(found, "VARCHAR")
	return b.holding(ctx, "bool_and(regexp_full_match(trim(%s), '[+-]?[0-9]+'))", found, "("+csvQuery(in, o)+")")
}

// holding gives the columns for which a condition over all rows holds.
func (b *builder) holding(ctx context.Context, condition string, columns []string, from string) ([]string, error) {
	if len(columns) == 0 {
		return nil, nil
	}
	tests := make([]string, len(columns))
	for i, c := range columns {
		tests[i] = "coalesce(" + fmt.Sprintf(condition, quoteName(c)) + ", false)::VARCHAR"
	}
	rows, err := b.texts(ctx, "SELECT "+strings.Join(tests, ", ")+" FROM "+from)
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

// texts gives the rows of a query whose columns are all text.
func (b *builder) texts(ctx context.Context, sql string) ([][]string, error) {
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
