package source_test

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"interlock/internal/dialect"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// FuzzFilter holds the promise of the translators: the text of a statement depends
// on columns, operators and how many values there are, never on a value, and has a
// parameter for each of them.
func FuzzFilter(f *testing.F) {
	f.Add(`'; DROP TABLE x; --`, uint8(5), uint8(8))
	f.Add(`\' OR 1=1`, uint8(5), uint8(0))
	f.Add(`$1`, uint8(5), uint8(7))
	f.Add(`99999999999999999999.5`, uint8(1), uint8(2))
	f.Add(`2024-01-01`, uint8(6), uint8(6))
	f.Fuzz(func(t *testing.T, value string, col, op uint8) {
		c := typed[int(col)%len(typed)]
		operator := schema.Ops[int(op)%len(schema.Ops)]
		selection := func(v any) source.Selection {
			switch operator {
			case schema.Between:
				v = []any{v, v}
			case schema.In:
				v = []any{v}
			}
			return source.Selection{
				Table: []string{"t"}, Columns: columns(), Limit: 7, Offset: 11,
				Filter: schema.Filter{Conditions: []schema.Condition{{Column: c.column.Name, Op: operator, Value: v}}},
			}
		}
		for _, d := range dialect.All() {
			got, err := source.Select(d, selection(value))
			if err != nil {
				return
			}
			other, err := source.Select(d, selection(c.values[1]))
			if err != nil {
				t.Fatal(err)
			}
			where, err := source.Where(d, columns(), selection(value).Filter)
			if err != nil {
				t.Fatal(err)
			}
			if !decided(where.Text) && (got.Text != other.Text || len(got.Args) != len(other.Args)) {
				t.Errorf("%s: %q gives %q, another value %q", d, value, got.Text, other.Text)
			}
			if decided(where.Text) && len(where.Args) > 0 {
				t.Errorf("%s: %q has arguments %v", d, where.Text, where.Args)
			}
			if n := parameters(got.Text); n != len(got.Args) {
				t.Errorf("%s: %q has %d parameters and the arguments %v", d, got.Text, n, got.Args)
			}
		}
	})
}

// quoted is a name or a literal of any dialect, parameter a place for a value.
var (
	quoted    = regexp.MustCompile("\"(?:[^\"]|\"\")*\"|`(?:[^`]|``|\\\\`)*`|'(?:[^']|'')*'")
	parameter = regexp.MustCompile(`\?|\$\d+|@p\d+|\{p\d+:`)
)

func parameters(text string) int {
	return len(parameter.FindAllString(quoted.ReplaceAllString(text, ""), -1))
}

func decided(text string) bool { return text == "1 = 0" || strings.HasSuffix(text, " IS NOT NULL") }

// The normalised comparison holds for exactly the values for which the comparison holds.
func TestExactNumbersMeanTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.IntRange(0, 3).Draw(t, "scale")
		width := rapid.IntRange(max(1, scale), 6).Draw(t, "width")
		c := column("x", fmt.Sprintf("DECIMAL(%d,%d)", width, scale))
		limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(width)), nil).Int64() - 1
		cell := big.NewRat(rapid.Int64Range(-limit, limit).Draw(t, "cell"), pow10(scale))
		number := rapid.Custom(func(t *rapid.T) *big.Rat {
			s := rapid.IntRange(0, 5).Draw(t, "s")
			return big.NewRat(rapid.Int64Range(-2_000_000, 2_000_000).Draw(t, "n"), pow10(s))
		})
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		op := rapid.SampledFrom(schema.OpsFor(c.Type)).Draw(t, "op")
		var value any = a.FloatString(6)
		if op == schema.Between || op == schema.In {
			value = []any{a.FloatString(6), b.FloatString(6)}
		}
		s, err := source.Where(dialect.PostgreSQL, []schema.Column{c}, schema.Filter{Conditions: []schema.Condition{{Column: "x", Op: op, Value: value}}})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := evaluate(t, s, cell), holds(op, cell, a, b); got != want {
			t.Fatalf("%s %s %v: %q %v gives %v, want %v", cell.FloatString(3), op, value, s.Text, s.Args, got, want)
		}
	})
}

func pow10(n int) int64 {
	return slices.Max([]int64{1, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil).Int64()})
}

func holds(op schema.Op, x, a, b *big.Rat) bool {
	switch op {
	case schema.Eq:
		return x.Cmp(a) == 0
	case schema.Neq:
		return x.Cmp(a) != 0
	case schema.Gt:
		return x.Cmp(a) > 0
	case schema.Gte:
		return x.Cmp(a) >= 0
	case schema.Lt:
		return x.Cmp(a) < 0
	case schema.Lte:
		return x.Cmp(a) <= 0
	case schema.Between:
		return x.Cmp(a) >= 0 && x.Cmp(b) <= 0
	}
	return x.Cmp(a) == 0 || x.Cmp(b) == 0
}

// evaluate is the SQL that these statements can be, by hand.
func evaluate(t *rapid.T, s source.Statement, x *big.Rat) bool {
	args := make([]*big.Rat, len(s.Args))
	for i, a := range s.Args {
		args[i], _ = new(big.Rat).SetString(fmt.Sprint(a))
	}
	for text, result := range map[string]func() bool{
		`1 = 0`:                                   func() bool { return false },
		`"x" IS NOT NULL`:                         func() bool { return true },
		`"x" = $1::numeric`:                       func() bool { return x.Cmp(args[0]) == 0 },
		`"x" <> $1::numeric`:                      func() bool { return x.Cmp(args[0]) != 0 },
		`"x" > $1::numeric`:                       func() bool { return x.Cmp(args[0]) > 0 },
		`"x" >= $1::numeric`:                      func() bool { return x.Cmp(args[0]) >= 0 },
		`"x" < $1::numeric`:                       func() bool { return x.Cmp(args[0]) < 0 },
		`"x" <= $1::numeric`:                      func() bool { return x.Cmp(args[0]) <= 0 },
		`"x" IN ($1::numeric)`:                    func() bool { return x.Cmp(args[0]) == 0 },
		`"x" IN ($1::numeric, $2::numeric)`:       func() bool { return x.Cmp(args[0]) == 0 || x.Cmp(args[1]) == 0 },
		`"x" BETWEEN $1::numeric AND $2::numeric`: func() bool { return x.Cmp(args[0]) >= 0 && x.Cmp(args[1]) <= 0 },
	} {
		if s.Text == text {
			return result()
		}
	}
	t.Fatalf("unexpected statement %q", s.Text)
	return false
}
