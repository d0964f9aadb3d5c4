package query

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"interlock/internal/schema"
)

// loadCells reads rows that this program wrote, each a line with a JSON array of cells,
// into columns of given names and types. Every cell is read from its text, so that
// none goes through a float. Where a column does not take its type again, it is text.
func (b *builder) loadCells(ctx context.Context, im Import, r *TableReport) error {
	files, err := b.plainList(ctx, im.Files, ".ndjson")
	if err != nil {
		return err
	}
	from := "read_json([" + files + "], format='unstructured', records=false, columns={'j': 'JSON'}, maximum_object_size=67108864)"
	list := make([]string, len(im.Options.Columns))
	for i, c := range im.Options.Columns {
		cell, fits := rowCell(i, c.Type.String()), isType(c.Type.String())
		if fits {
			err := b.run(ctx, fmt.Sprintf("SELECT count(CAST(%s AS %s)) FROM %s", cell, c.Type, from))
			if _, ok := errors.AsType[*engineErr](err); err != nil && (!ok || ctx.Err() != nil) {
				return err
			}
			fits = err == nil
		}
		if !fits {
			r.addNote(schema.Note{Column: c.Name, Rule: schema.RuleTypes}, "The column %s does not take its type %s again; it was read as text.", c.Name, c.Type)
			c.Type, cell = schema.ParseType("VARCHAR"), rowCell(i, "VARCHAR")
		}
		list[i] = fmt.Sprintf("CAST(%s AS %s) AS %s", cell, c.Type, quoteName(c.Name))
	}
	return b.create(ctx, im.Table, "SELECT "+strings.Join(list, ", ")+" FROM "+from)
}

// rowCell is a cell of a row: its text, or its JSON where the type is made of others.
func rowCell(i int, kind string) string {
	upper := strings.ToUpper(kind)
	for _, nested := range []string{"STRUCT", "MAP", "JSON", "UNION"} {
		if strings.HasPrefix(upper, nested) {
			return fmt.Sprintf("nullif(j->%d, 'null')", i)
		}
	}
	if strings.HasSuffix(kind, "]") {
		return fmt.Sprintf("nullif(j->%d, 'null')", i)
	}
	return fmt.Sprintf("(j->>%d)", i)
}

// isType says that a text has the form of a type and no more: names, numbers, brackets
// that close, and quoted names. Types of results may come from a stranger's code.
func isType(kind string) bool {
	depth, quote := 0, rune(0)
	for _, r := range kind {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '(' || r == '[':
			depth++
		case r == ')' || r == ']':
			if depth--; depth < 0 {
				return false
			}
		case r == '_' || r == ' ' || r == ',' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z':
		default:
			return false
		}
	}
	return kind != "" && depth == 0 && quote == 0
}
