package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	err = b.readJSON(ctx, im, read)
	if err != nil && format == NDJSON && ctx.Err() == nil {
		if err = b.readJSON(ctx, im, read+", ignore_errors=true"); err == nil {
			err = b.dropEmpty(ctx, im.Table, r)
		}
	}
	if err != nil {
		return err
	}
	return b.narrow(ctx, im)
}

// readJSON makes the table by a call of the reader that is still open. The reader
// takes types for all columns or for none, so that those that were not given are
// found out first.
func (b *builder) readJSON(ctx context.Context, im Import, read string) error {
	if len(im.Options.Types) == 0 {
		return b.create(ctx, im.Table, read+")")
	}
	found, err := b.texts(ctx, "SELECT column_name, column_type FROM (DESCRIBE "+read+"))")
	if err != nil {
		return err
	}
	var names []string
	types := maps.Clone(im.Options.Types)
	for _, c := range found {
		names = append(names, c[0])
		if _, given := types[c[0]]; !given {
			types[c[0]] = c[1]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(types)) { // those that the files do not have
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return b.create(ctx, im.Table, read+", columns="+structLiteral(names, types)+")")
}

// narrow makes 64 bits of whole numbers wherever they suffice: the reader takes more
// as soon as a column has numbers of both signs.
func (b *builder) narrow(ctx context.Context, im Import) error {
	var r TableReport
	if err := b.measure(ctx, im.Table, &r); err != nil {
		return err
	}
	for _, c := range r.Columns {
		kind := narrowed(c.Type)
		if _, given := im.Options.Types[c.Name]; given || kind == c.Type {
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
	n, err := b.number(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s", quoteName(table), strings.Join(tests, " AND ")))
	if err == nil && n > 0 {
		r.Rejected = n
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d lines are not JSON objects and were left out.", n))
	}
	return err
}
