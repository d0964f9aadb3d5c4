package main

import (
	"fmt"

	"interlock/internal/event"
	"interlock/internal/figure"
)

// maxMarked bounds the figures that are named under an answer.
const maxMarked = 20

// printFigures prints under an answer which of its figures have no origin in the data,
// which may have one by chance, and which were computed with numbers of the statement.
func (a *app) printFigures(b *event.FiguresTraced) {
	if b == nil {
		return
	}
	marked := 0
	for _, f := range b.Figures {
		mark := "!"
		switch {
		case f.Unsupported(), f.Support == figure.Contradicted:
		case f.Support == figure.Weak:
			mark = "?"
		case f.Support == figure.Mixed:
			mark = "*"
		default:
			continue
		}
		if marked++; marked <= maxMarked {
			fmt.Fprintf(a.out, "[%s] %s: %s\n", mark, f.Text, printable(f.Origin()))
		}
	}
	if marked > maxMarked {
		fmt.Fprintf(a.out, "    and %d more\n", marked-maxMarked)
	}
	if b.Unsupported > 0 {
		fmt.Fprintf(a.out, "%d of %d figures have no origin in the results of this thread. Check them before you use them.\n", b.Unsupported, len(b.Figures))
	}
	if b.Contradicted > 0 {
		fmt.Fprintf(a.out, "%d of %d figures stand beside a direction or a name that their values deny.\n", b.Contradicted, len(b.Figures))
	}
	if b.Cut {
		fmt.Fprintln(a.out, "Only a part of the results was looked at for the origins of figures.")
	}
}

// listFigures prints every figure of an answer with its origin.
func (a *app) listFigures(b *event.FiguresTraced) {
	if b == nil {
		return
	}
	for _, f := range b.Figures {
		fmt.Fprintf(a.out, "figure:   %s (%s) %s\n", f.Text, f.Support, printable(f.Origin()))
	}
	if b.Cut {
		fmt.Fprintln(a.out, "          only a part of the results was looked at")
	}
}
