package source

import (
	"fmt"
	"math/big"
	"strings"

	"interlock/internal/schema"
)

// bindExact brings numbers to the exact type of their column, so that both sides of
// every comparison have one type, an index can be used, and 12.345 means the same
// against DECIMAL(9,2) in every system. What the column cannot hold decides the
// comparison instead of being rounded.
func bindExact(c schema.Column, op schema.Op, values []any) (predicate, error) {
	p := predicate{column: c, op: op}
	lowest, highest := bounds(c.Type)
	down := make([]*big.Int, len(values)) // rounded towards -∞, in units of the last digit
	up := make([]*big.Int, len(values))
	for i, v := range values {
		r, ok := rational(v)
		if !ok {
			return p, fmt.Errorf("the value must be a number, not %s", describeValue(v))
		}
		down[i], up[i] = neighbours(r, c.Type.Scale)
	}
	decide := func(f form) (predicate, error) { p.form = f; return p, nil }
	holds := func(i int) bool {
		return down[i].Cmp(up[i]) == 0 && down[i].Cmp(lowest) >= 0 && down[i].Cmp(highest) <= 0
	}
	switch op {
	case schema.Eq, schema.In:
		for i := range values {
			if holds(i) {
				p.values = append(p.values, boundValue(c.Type, down[i]))
			}
		}
		if len(p.values) == 0 {
			return decide(never)
		}
		return p, nil
	case schema.Neq:
		if !holds(0) {
			return decide(present)
		}
		p.values = []any{boundValue(c.Type, down[0])}
		return p, nil
	}
	v := down[0]
	switch op {
	case schema.Gt, schema.Gte:
		if op == schema.Gte {
			v = up[0]
		}
		if v.Cmp(lowest) < 0 || op == schema.Gte && v.Cmp(lowest) == 0 {
			return decide(present)
		}
		if v.Cmp(highest) > 0 || op == schema.Gt && v.Cmp(highest) == 0 {
			return decide(never)
		}
	case schema.Lt, schema.Lte:
		if op == schema.Lt {
			v = up[0]
		}
		if v.Cmp(highest) > 0 || op == schema.Lte && v.Cmp(highest) == 0 {
			return decide(present)
		}
		if v.Cmp(lowest) < 0 || op == schema.Lt && v.Cmp(lowest) == 0 {
			return decide(never)
		}
	case schema.Between:
		return bindRange(p, greater(up[0], lowest), lesser(down[1], highest), lowest, highest)
	}
	p.values = []any{boundValue(c.Type, v)}
	return p, nil
}

func bindRange(p predicate, from, to, lowest, highest *big.Int) (predicate, error) {
	switch {
	case from.Cmp(to) > 0:
		p.form = never
	case from.Cmp(lowest) == 0 && to.Cmp(highest) == 0:
		p.form = present
	default:
		p.values = []any{boundValue(p.column.Type, from), boundValue(p.column.Type, to)}
	}
	return p, nil
}

func greater(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

func lesser(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// bounds gives the least and greatest value of a type in units of its last digit.
func bounds(t schema.Type) (lowest, highest *big.Int) {
	one := big.NewInt(1)
	switch t.Kind {
	case schema.Int:
		limit := new(big.Int).Lsh(one, 63)
		return new(big.Int).Neg(limit), new(big.Int).Sub(limit, one)
	case schema.Uint:
		return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, 64), one)
	}
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Width)), nil)
	limit.Sub(limit, one)
	return new(big.Int).Neg(limit), limit
}

// neighbours gives the two multiples of 10^-scale next to r, equal if r is one.
func neighbours(r *big.Rat, scale int) (down, up *big.Int) {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	num := new(big.Int).Mul(r.Num(), unit)
	down, rest := new(big.Int).DivMod(num, r.Denom(), new(big.Int))
	if rest.Sign() == 0 {
		return down, down
	}
	return down, new(big.Int).Add(down, big.NewInt(1))
}

// boundValue gives a number in units of the last digit as a parameter.
func boundValue(t schema.Type, units *big.Int) any {
	if t.Kind == schema.Int {
		return units.Int64()
	}
	return formatUnits(units.String(), t.Scale)
}

// formatUnits sets the decimal point into a whole number.
func formatUnits(digits string, scale int) string {
	if scale == 0 {
		return digits
	}
	sign := ""
	if rest, ok := strings.CutPrefix(digits, "-"); ok {
		sign, digits = "-", rest
	}
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	point := len(digits) - scale
	return sign + digits[:point] + "." + digits[point:]
}
