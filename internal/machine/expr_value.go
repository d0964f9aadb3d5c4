package machine

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

func fieldOf(v any, name string) any {
	if r, ok := v.(map[string]any); ok {
		return plainNumber(r[name])
	}
	return nil
}

func elementAt(v, at any) any {
	switch v := v.(type) {
	case map[string]any:
		if name, ok := at.(string); ok {
			return plainNumber(v[name])
		}
	case []any:
		i, ok := at.(float64)
		if !ok || i != math.Trunc(i) {
			return nil
		}
		if i < 0 {
			i += float64(len(v))
		}
		if i >= 0 && i < float64(len(v)) {
			return plainNumber(v[int(i)])
		}
	}
	return nil
}

func slice(v, from, to any) any {
	bounds := func(n int) (int, int) {
		clamp := func(x any, def int) int {
			i, ok := x.(float64)
			if !ok {
				return def
			}
			if i < 0 {
				i += float64(n)
			}
			return int(min(max(i, 0), float64(n)))
		}
		a, b := clamp(from, 0), clamp(to, n)
		return a, max(a, b)
	}
	switch v := v.(type) {
	case []any:
		a, b := bounds(len(v))
		return slices.Clip(v[a:b])
	case string:
		runes := []rune(v)
		a, b := bounds(len(runes))
		return string(runes[a:b])
	}
	return nil
}

func length(v any) int {
	switch v := v.(type) {
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	case string:
		return len([]rune(v))
	}
	return 0
}

func sameValue(f *frame, a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		y, ok := b.(bool)
		return ok && a == y
	case float64:
		y, ok := b.(float64)
		return ok && a == y
	case string:
		y, ok := b.(string)
		return ok && a == y
	case []any:
		y, ok := b.([]any)
		if !ok || len(a) != len(y) || !f.useFuel(len(a)) {
			return false
		}
		for i := range a {
			if !sameValue(f, plainNumber(a[i]), plainNumber(y[i])) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(a) != len(y) || !f.useFuel(len(a)) {
			return false
		}
		for k, v := range a {
			w, has := y[k]
			if !has || !sameValue(f, plainNumber(v), plainNumber(w)) {
				return false
			}
		}
		return true
	}
	return false
}

func areOrdered(op string, a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && compare(op, a, b)
	case string:
		b, ok := b.(string)
		return ok && compare(op, a, b)
	}
	return false
}

func compare[T float64 | string](op string, a, b T) bool {
	switch op {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	default:
		return a >= b
	}
}

func contains(f *frame, x, of any) bool {
	if x == nil {
		return false
	}
	switch of := of.(type) {
	case []any:
		if !f.useFuel(len(of)) {
			return false
		}
		for _, item := range of {
			if sameValue(f, x, plainNumber(item)) {
				return true
			}
		}
	case map[string]any:
		name, ok := x.(string)
		if !ok {
			return false
		}
		_, has := of[name]
		return has
	}
	return false
}

func arithmetic(f *frame, op byte, a, b any) any {
	if s, ok := a.(string); ok && op == '+' {
		t, ok := b.(string)
		if !ok || !f.useFuel((len(s)+len(t))/16) {
			return nil
		}
		return s + t
	}
	x, okX := a.(float64)
	y, okY := b.(float64)
	if !okX || !okY {
		return nil
	}
	switch op {
	case '+':
		return finiteOrNil(x + y)
	case '-':
		return finiteOrNil(x - y)
	case '*':
		return finiteOrNil(x * y)
	case '/':
		return finiteOrNil(x / y)
	default:
		return finiteOrNil(math.Mod(x, y))
	}
}

func round(v any, how byte) any {
	x, ok := v.(float64)
	if s, isText := v.(string); isText && (how == 'i' || how == 'n') {
		parsed, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		x, ok = parsed, err == nil
	}
	if !ok {
		return nil
	}
	switch how {
	case 'a':
		x = math.Abs(x)
	case 'r':
		x = math.Round(x)
	case 'f':
		x = math.Floor(x)
	case 'c':
		x = math.Ceil(x)
	case 'i':
		x = math.Trunc(x)
	}
	return finiteOrNil(x)
}

// extreme returns the least or the greatest of its arguments, or of a list.
func extreme(f *frame, args []any, op string) any {
	if len(args) == 1 {
		args, _ = args[0].([]any)
	}
	if !f.useFuel(len(args)) {
		return nil
	}
	var best any
	for _, v := range args {
		v = plainNumber(v)
		if best == nil || areOrdered(op, v, best) {
			best = v
		}
	}
	return best
}

func concat(f *frame, args []any) any {
	n := 0
	for _, a := range args {
		list, _ := a.([]any)
		n += len(list)
	}
	if !f.useFuel(n) {
		return nil
	}
	out := make([]any, 0, n)
	for _, a := range args {
		list, _ := a.([]any)
		out = append(out, list...)
	}
	return out
}

func reverse(f *frame, args []any) any {
	list, _ := args[0].([]any)
	if !f.useFuel(len(list)) {
		return nil
	}
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

func join(f *frame, args []any) any {
	if len(args) == 0 || len(args) > 2 {
		return nil
	}
	list, ok := args[0].([]any)
	if !ok {
		return nil
	}
	sep := ""
	if len(args) == 2 {
		sep, _ = args[1].(string)
	}
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = valueText(plainNumber(v))
		if !f.useFuel(1 + (len(parts[i])+len(sep))/16) {
			return nil
		}
	}
	return strings.Join(parts, sep)
}

func split(f *frame, args []any) any {
	s, okS := args[0].(string)
	sep, okSep := args[1].(string)
	if !okS || !okSep || !f.useFuel(1+len(s)) {
		return nil
	}
	return plainNumber(strings.Split(s, sep))
}

func onText(v any, fn func(string) string) any {
	if s, ok := v.(string); ok {
		return fn(s)
	}
	return nil
}

func recordKeys(v any) any {
	r, _ := v.(map[string]any)
	return plainNumber(slices.Sorted(maps.Keys(r)))
}

func recordValues(v any) any {
	r, _ := v.(map[string]any)
	out := make([]any, 0, len(r))
	for _, k := range slices.Sorted(maps.Keys(r)) {
		out = append(out, r[k])
	}
	return out
}
