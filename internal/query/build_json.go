package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"interlock/internal/schema"
)

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
	if format == NDJSON {
		args = append(args, "format='newline_delimited'")
	}
	read := "SELECT * FROM read_json(" + strings.Join(args, ", ")
	err = b.readJSON(ctx, im, read, r)
	if err != nil && inputs.bytes > wholeSample && ctx.Err() == nil { // types that the sample did not show
		read += ", sample_size=-1"
		err = b.readJSON(ctx, im, read, r)
	}
	if err != nil && format == NDJSON && ctx.Err() == nil {
		lenient := read + ", ignore_errors=true"
		if err = b.readJSON(ctx, im, lenient, r); err == nil {
			im, err = b.keepTexts(ctx, im, lenient, r)
		}
		if err == nil {
			err = b.dropEmpty(ctx, im.Table, r)
		}
	}
	if e, ok := errors.AsType[*engineErr](err); ok && format != NDJSON && len(im.Options.Types) > 0 && ctx.Err() == nil {
		im.Options.Types = nil
		if b.readJSON(ctx, im, read, r) != nil {
			return err
		}
		r.addNote(schema.Note{Rule: schema.RuleTypes}, "The types that were given do not fit and were found out instead: %s", cleanMessage(e.Message))
		err = nil
	}
	if err != nil {
		return err
	}
	return b.narrow(ctx, im)
}

// readJSON makes the table by a call of the reader that is still open. Times, UUIDs and
// doubles, which the reader changes where it must, are read as texts and get a type that
// each survives.
func (b *builder) readJSON(ctx context.Context, im Import, read string, r *TableReport) error {
	found, err := b.queryTexts(ctx, "SELECT column_name, column_type FROM (DESCRIBE "+read+"))")
	if err != nil {
		return err
	}
	var names []string
	var columns []*textColumn
	types := map[string]string{}
	for _, f := range found {
		c := &textColumn{name: f[0], whole: true}
		names, columns, types[c.name] = append(names, c.name), append(columns, c), f[1]
		given := im.Options.Types[c.name]
		switch kind := f[1]; {
		case given != "":
			types[c.name] = given
		case kind == "DOUBLE":
			c.whole, c.allowed, types[c.name] = false, jsonNumbers, "VARCHAR"
		case isTimeType(kind):
			c.whole, c.allowed, types[c.name] = false, jsonTimes, "VARCHAR"
		case kind == "UUID":
			c.whole, c.allowed, types[c.name] = false, jsonUUIDs, "VARCHAR"
		default:
			types[c.name] = textTimes(kind)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(im.Options.Types)) { // those that the files do not have
		if !slices.Contains(names, name) {
			names, types[name] = append(names, name), im.Options.Types[name]
			columns = append(columns, &textColumn{name: name, whole: true})
		}
	}
	if err := b.keepNestedDigits(ctx, read, names, types); err != nil {
		return err
	}
	from := read + ", columns=" + structLiteral(names, types) + ")"
	if hasMadeNames(names[:len(found)]) {
		from = readEveryKey(read, names[:len(found)], names[len(found):], types)
	}
	if err := b.sampleTexts(ctx, columns, from); err != nil {
		return err
	}
	if err := b.settleTypes(ctx, im.Table, columns, from); err != nil {
		return err
	}
	return b.noteTypes(ctx, im.Table, columns, from, r)
}

// A keyless name is what the reader calls a key that is empty.
var keylessName = regexp.MustCompile(`^C[0-9]+$`)

// hasMadeNames says that the reader may have made up some of the names: keys that differ
// only in case are numbered, and an empty key gets a name.
func hasMadeNames(names []string) bool {
	lower := map[string]bool{}
	for _, n := range names {
		lower[strings.ToLower(n)] = true
	}
	return slices.ContainsFunc(names, func(n string) bool {
		i := strings.LastIndexByte(n, '_')
		return keylessName.MatchString(n) || i >= 0 && lower[strings.ToLower(n[:i])]
	})
}

// readEveryKey reads the columns by the names that the reader gave them: asked for a
// name that it made, it would look for a key of that name and find nothing.
func readEveryKey(read string, found, absent []string, types map[string]string) string {
	var list []string
	for _, n := range found {
		name, value := quoteName(n), quoteName(n)
		switch types[n] {
		case "JSON":
		case "VARCHAR":
			value += " ->> '$'"
		default:
			value = "CAST(" + value + " AS " + types[n] + ")"
		}
		list = append(list, value+" AS "+name)
	}
	for _, n := range absent {
		list = append(list, "CAST(NULL AS "+types[n]+") AS "+quoteName(n))
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM (" + read + ", maximum_depth=1))"
}

// jsonNumbers read what a JSON number is: whole numbers with all their digits, or a
// double, unless that would drop digits of a whole number.
var jsonNumbers = []conversion{
	{number: true, form: form(wholeForm), plain: asItIs},
	{kind: "DOUBLE", form: form(`(?s).*`), plain: asItIs, value: fmt.Sprintf(castValue, "DOUBLE"), same: "(isfinite(%[2]s) OR NOT regexp_matches(%[1]s, '[0-9]')) AND (NOT regexp_full_match(%[1]s, '-?[0-9]{16,}') OR " + printedDouble + ")"},
}

// jsonTimes are the conversions of dates and times.
var jsonTimes = slices.DeleteFunc(slices.Clone(conversions), func(c conversion) bool { return !isTimeType(c.kind) })

// jsonUUIDs leave those as texts that are written with capital letters.
var jsonUUIDs = []conversion{
	{kind: "UUID", form: form(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), plain: asItIs, value: fmt.Sprintf(castValue, "UUID"), same: printed},
}

func isTimeType(kind string) bool { return kind == "DATE" || strings.HasPrefix(kind, "TIME") }

var nestedTime = regexp.MustCompile(`\b(DATE|TIMESTAMP WITH TIME ZONE|TIMESTAMP|TIME|UUID)\b`)

// textTimes is a type with texts in the place of times and UUIDs inside of it, which the
// reader would write anew. Names of fields, which are quoted, stay.
func textTimes(kind string) string {
	parts := strings.Split(kind, `"`)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = nestedTime.ReplaceAllString(parts[i], "VARCHAR")
	}
	return strings.Join(parts, `"`)
}

// keepNestedDigits leaves lists and objects as JSON that hold a whole number of more
// digits than the doubles they would become.
func (b *builder) keepNestedDigits(ctx context.Context, read string, names []string, types map[string]string) error {
	var nested []string
	raw := map[string]string{}
	for _, n := range names {
		if strings.Contains(types[n], "DOUBLE") && strings.ContainsAny(types[n], "([") {
			nested = append(nested, n)
			raw[n] = "JSON"
		}
	}
	long, err := b.columnsWhere(ctx, "bool_or(regexp_matches(CAST(%[1]s AS VARCHAR), '[:,[]-?[0-9]{16,}[],}]'))", nested, "("+read+", columns="+structLiteral(nested, raw)+"))")
	for _, n := range long {
		types[n] = "JSON"
	}
	return err
}

// sampleTexts looks at the first rows of the columns that are to get a type.
func (b *builder) sampleTexts(ctx context.Context, columns []*textColumn, from string) error {
	var open []*textColumn
	var list []string
	for _, c := range columns {
		if !c.whole {
			open = append(open, c)
			list = append(list, quoteName(c.name))
		}
	}
	if len(open) == 0 {
		return nil
	}
	rows, err := b.queryTexts(ctx, fmt.Sprintf("SELECT %s FROM (%s) LIMIT %d", strings.Join(list, ", "), from, sampleRecords))
	if err != nil {
		return err
	}
	for i, c := range open {
		var values []string
		for _, row := range rows {
			if row[i] != "" {
				values = append(values, row[i])
			}
		}
		c.consider(values)
	}
	return nil
}

// keepTexts makes texts of the columns in which the lenient reader dropped values that
// are not of their type: it says nothing of them.
func (b *builder) keepTexts(ctx context.Context, im Import, read string, r *TableReport) (Import, error) {
	var got TableReport
	if err := b.measure(ctx, im.Table, &got); err != nil {
		return im, err
	}
	counts, texts := make([]string, len(got.Columns)), map[string]string{}
	names := make([]string, len(got.Columns))
	for i, c := range got.Columns {
		counts[i], names[i], texts[c.Name] = "count("+quoteName(c.Name)+")::VARCHAR", c.Name, "VARCHAR"
	}
	list := "SELECT " + strings.Join(counts, ", ") + " FROM "
	kept, err := b.queryTexts(ctx, list+quoteName(im.Table))
	if err != nil {
		return im, err
	}
	there, err := b.queryTexts(ctx, list+"("+read+", columns="+structLiteral(names, texts)+"))")
	if err != nil {
		return im, err
	}
	types := maps.Clone(im.Options.Types)
	if types == nil {
		types = map[string]string{}
	}
	dropped := false
	for i, c := range got.Columns {
		if kept[0][i] == there[0][i] {
			continue
		}
		dropped, types[c.Name] = true, "VARCHAR"
		r.addNote(schema.Note{Column: c.Name, Rule: schema.RuleKeptText}, "The column %s has values that are not %s; it was read as text.", c.Name, c.Type)
	}
	if !dropped {
		return im, nil
	}
	im.Options.Types = types
	if err := b.run(ctx, "DROP TABLE "+quoteName(im.Table)); err != nil {
		return im, err
	}
	return im, b.readJSON(ctx, im, read, r)
}

// narrow makes 64 bits of whole numbers wherever they suffice: the reader takes more
// as soon as a column has numbers of both signs.
func (b *builder) narrow(ctx context.Context, im Import) error {
	var r TableReport
	if err := b.measure(ctx, im.Table, &r); err != nil {
		return err
	}
	if err := b.unquote(ctx, im, r.Columns); err != nil {
		return err
	}
	for _, c := range r.Columns {
		kind := narrowed(c.Type.String())
		if _, given := im.Options.Types[c.Name]; given || kind == c.Type.String() {
			continue
		}
		err := b.run(ctx, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s", quoteName(im.Table), quoteName(c.Name), kind))
		if e, ok := errors.AsType[*engineErr](err); ok && strings.EqualFold(e.Kind, "conversion") {
			continue // some value needs more
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unquote makes texts of the columns that hold texts and numbers beside each other,
// which the reader leaves as JSON with its quotes.
func (b *builder) unquote(ctx context.Context, im Import, columns []schema.Column) error {
	var mixed []string
	for _, c := range columns {
		if _, given := im.Options.Types[c.Name]; c.Type.Kind == schema.JSON && !given {
			mixed = append(mixed, c.Name)
		}
	}
	plain, err := b.columnsWhere(ctx, "bool_and(json_type(%[1]s) NOT IN ('OBJECT', 'ARRAY'))", mixed, quoteName(im.Table))
	if err != nil {
		return err
	}
	for _, c := range plain {
		name := quoteName(c)
		if err := b.run(ctx, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE VARCHAR USING %s->>'$'", quoteName(im.Table), name, name)); err != nil {
			return err
		}
	}
	return nil
}

// narrowed is a type, or one made of types, with 64 bits in the place of 128. Names
// of fields, which are quoted, stay.
func narrowed(kind string) string {
	parts := strings.Split(kind, `"`)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.ReplaceAll(parts[i], "HUGEINT", "BIGINT")
	}
	return strings.Join(parts, `"`)
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
	n, err := b.queryNumber(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s", quoteName(table), strings.Join(tests, " AND ")))
	if err == nil && n > 0 {
		r.Rejected = n
		r.addNote(schema.Note{Rule: schema.RuleRejected, Count: n}, "%d lines are not JSON objects and were left out.", n)
	}
	return err
}
