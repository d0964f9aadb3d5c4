package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Origin says in words where a figure comes from. It is "" for one of the question, which
// needs no words.
func (f Figure) Origin() string {
	switch f.Support {
	case FromCell:
		return f.place()
	case FromFormula:
		return f.formula()
	case FromDocument:
		return "document " + f.Source
	case Mixed:
		from := cmp.Or(f.formula(), f.Source)
		return "computed with " + strings.Join(f.Factors, ", ") + " from " + from
	case FromStatement:
		return "a condition of the query"
	case FromSize:
		return f.Formula + " (" + f.place() + ")"
	case Stated:
		return "A constant that the statement or the code put into its result: no data supports it."
	case Contradicted:
		return fmt.Sprintf("the words beside it say %q, which the values deny: %s", f.Denies, f.formula())
	case Weak:
		return "may be by chance: " + cmp.Or(f.formula(), "a value of the results")
	case None:
		return "No origin was found for this figure in the results of the thread."
	}
	return ""
}

// Named is the figure with its results under the names that people know, where there are
// some: by the id of the call that gave a result.
func (f Figure) Named(names map[string]string) Figure {
	rename := func(id string) string {
		call, rest := id, ""
		if i := strings.IndexAny(id, ".["); i >= 0 {
			call, rest = id[:i], id[i:]
		}
		return cmp.Or(names[call], call) + rest
	}
	f.Cells, f.Source = slices.Clone(f.Cells), rename(f.Source)
	for i := range f.Cells {
		f.Cells[i].Table = rename(f.Cells[i].Table)
	}
	return f
}

// place names the cells of a figure.
func (f Figure) place() string {
	switch {
	case len(f.Cells) == 1:
		return fmt.Sprintf("result %s, column %s, row %d", f.Cells[0].Table, f.Cells[0].Column, f.Cells[0].Row+1)
	case len(f.Cells) > 1:
		return fmt.Sprintf("result %s, column %s", f.Cells[0].Table, f.Cells[0].Column)
	case f.Source != "":
		return "result " + f.Source
	}
	return ""
}

func (f Figure) formula() string {
	place := f.place()
	if f.Formula == "" || place == "" {
		return f.Formula + place
	}
	return f.Formula + " (" + place + ")"
}
