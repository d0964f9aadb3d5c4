package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// wholeSample is the size up to which every row of a file is looked at before the
// types of its columns are decided.
const wholeSample = 256 << 20

// loadCSV reads delimited text. What the first look got wrong is put right by a
// second: text that is not UTF-8 is translated, and a column in which some cell does
// not fit its type becomes text, so that no row is lost for it.
func (b *builder) loadCSV(ctx context.Context, im Import, r *TableReport) error {
	inputs, err := b.inputs(ctx, im.Files, im.Options.Encoding, ".csv")
	if err != nil {
		return err
	}
	o := im.Options
	for attempt := 0; ; attempt++ {
		if err := b.session.exec("DROP TABLE IF EXISTS "+quoteName(im.Table), "DROP TABLE IF EXISTS reject_errors", "DROP TABLE IF EXISTS reject_scans"); err != nil {
			return err
		}
		if err := b.create(ctx, im.Table, csvQuery(inputs, o)); err != nil {
			if attempt == 0 && o.Encoding == "" && strings.Contains(strings.ToLower(err.Error()), "utf-8") {
				if inputs, err = b.inputs(ctx, im.Files, fallbackEncoding, ".csv"); err != nil {
					return err
				}
				o.Encoding = fallbackEncoding
				r.Warnings = append(r.Warnings, "The text is not UTF-8; it was read as "+fallbackEncoding+".")
				continue
			}
			return err
		}
		rejects, err := b.rejects(ctx)
		if err != nil {
			return err
		}
		if attempt < 2 && o.Encoding == "" && rejects.encoding {
			if inputs, err = b.inputs(ctx, im.Files, fallbackEncoding, ".csv"); err != nil {
				return err
			}
			o.Encoding = fallbackEncoding
			r.Warnings = append(r.Warnings, "The text is not UTF-8; it was read as "+fallbackEncoding+".")
			continue
		}
		if attempt < 2 && len(rejects.mixed) > 0 {
			o = o.asText(rejects.mixed)
			r.Warnings = append(r.Warnings, "Kept as text, because not every value fits the type of the first rows: "+strings.Join(rejects.mixed, ", ")+".")
			continue
		}
		r.Rejected = rejects.rows
		if rejects.rows > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%d rows could not be read; the first: %s", rejects.rows, rejects.first))
		}
		return nil
	}
}

// asText is the options with some columns as text, unless their types were given.
func (o ImportOptions) asText(columns []string) ImportOptions {
	types := map[string]string{}
	for k, v := range o.Types {
		types[k] = v
	}
	for _, c := range columns {
		if _, given := types[c]; !given {
			types[c] = "VARCHAR"
		}
	}
	o.Types = types
	return o
}

// csvQuery reads every file by itself, because only so are its bad rows kept apart,
// and puts columns of one name together.
func csvQuery(in inputs, o ImportOptions) string {
	// A quoted "" is empty text; only what stands unquoted is NULL.
	args := []string{"store_rejects=true", "rejects_limit=1000", "allow_quoted_nulls=false"}
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
	if len(o.Types) > 0 {
		add("types", structLiteral(o.Types))
	}
	parts := make([]string, len(in.files))
	for i, f := range in.files {
		parts[i] = "SELECT * FROM read_csv(" + quoteText(f) + ", " + strings.Join(args, ", ") + ")"
	}
	return strings.Join(parts, " UNION ALL BY NAME ")
}

func structLiteral(m map[string]string) string {
	parts := make([]string, 0, len(m))
	for k, v := range m {
		parts = append(parts, quoteText(k)+": "+quoteText(v))
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}

// rejects are the rows that the engine could not read.
type rejects struct {
	rows     int64
	first    string
	mixed    []string // columns with values of another type
	encoding bool     // some text is not UTF-8
}

func (b *builder) rejects(ctx context.Context) (rejects, error) {
	var r rejects
	rows, err := b.texts(ctx, `SELECT count(DISTINCT (file_id, line))::VARCHAR, coalesce(first(error_message ORDER BY line), ''),
		coalesce(string_agg(DISTINCT column_name, chr(31)) FILTER (WHERE error_type = 'CAST'), ''),
		count(*) FILTER (WHERE error_type ILIKE '%ENCODING%' OR error_type ILIKE '%UNICODE%')::VARCHAR FROM reject_errors`)
	if err != nil || len(rows) == 0 {
		return r, err
	}
	if _, err := fmt.Sscan(rows[0][0], &r.rows); err != nil {
		return r, fmt.Errorf("counting the rows that could not be read: %w", err)
	}
	r.first = tidy(rows[0][1])
	if rows[0][2] != "" {
		r.mixed = strings.Split(rows[0][2], "\x1f")
	}
	r.encoding = rows[0][3] != "0"
	return r, nil
}

// loadJSON reads objects: an array of them, or one after the other.
func (b *builder) loadJSON(ctx context.Context, im Import, format Format, r *TableReport) error {
	inputs, err := b.inputs(ctx, im.Files, im.Options.Encoding, ".json")
	if err != nil {
		return err
	}
	args := []string{"[" + inputs.list() + "]", "union_by_name=true", "maximum_object_size=67108864"}
	if inputs.bytes <= wholeSample {
		args = append(args, "sample_size=-1")
	}
	if inputs.compression != "" {
		args = append(args, "compression="+quoteText(inputs.compression))
	}
	if len(im.Options.Types) > 0 {
		args = append(args, "columns="+structLiteral(im.Options.Types))
	}
	if format == NDJSON {
		args = append(args, "format='newline_delimited'")
	}
	read := "SELECT * FROM read_json(" + strings.Join(args, ", ")
	err = b.create(ctx, im.Table, read+")")
	if err == nil || format != NDJSON || ctx.Err() != nil {
		return err
	}
	if err := b.create(ctx, im.Table, read+", ignore_errors=true)"); err != nil {
		return err
	}
	return b.dropEmpty(ctx, im.Table, r)
}

// dropEmpty takes away the rows that lines without JSON became: all their cells are NULL.
func (b *builder) dropEmpty(ctx context.Context, table string, r *TableReport) error {
	if err := b.measure(ctx, table, r); err != nil {
		return err
	}
	tests := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		tests[i] = quoteName(c.Name) + " IS NULL"
	}
	n, err := b.number(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s", quoteName(table), strings.Join(tests, " AND ")))
	if err == nil && n > 0 {
		r.Rejected = n
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d lines are not JSON objects and were left out.", n))
	}
	return err
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
