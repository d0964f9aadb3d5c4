package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// plainNumber makes the number types that code may bring into float64; JSON has one kind
// of number, and facts from code must equal facts from the log.
func plainNumber(v any) any {
	switch v := v.(type) {
	case nil, bool, string, []any, map[string]any:
		return v
	case float64:
		return finiteOrNil(v)
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case int32:
		return float64(v)
	case float32:
		return finiteOrNil(float64(v))
	case json.Number:
		x, err := v.Float64()
		if err != nil {
			return nil
		}
		return finiteOrNil(x)
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list
	}
	return toJSONValue(v)
}

// toJSONValue brings any further Go value into JSON form; what has none is unset.
func toJSONValue(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

// plainValue is plain all the way down. A value that is plain already is given back
// as it is, without a copy.
func plainValue(v any) any {
	v, _ = toPlain(v, 0)
	return v
}

// maxNesting bounds how deep a value may be; what lies deeper is unset.
const maxNesting = 200

// toPlain returns the plain form of a value and whether it differs from the value.
func toPlain(v any, depth int) (any, bool) {
	if depth > maxNesting {
		return nil, true
	}
	switch x := v.(type) {
	case nil, bool, string:
		return v, false
	case []any:
		var out []any
		for i, item := range x {
			p, changed := toPlain(item, depth+1)
			if changed && out == nil {
				out = slices.Clone(x)
			}
			if out != nil {
				out[i] = p
			}
		}
		if out != nil {
			return out, true
		}
		return v, false
	case map[string]any:
		var out map[string]any
		for k, item := range x {
			p, changed := toPlain(item, depth+1)
			if changed && out == nil {
				out = maps.Clone(x)
			}
			if out != nil {
				out[k] = p
			}
		}
		if out != nil {
			return out, true
		}
		return v, false
	case float64:
		p := finiteOrNil(x)
		return p, p == nil
	}
	return plainNumber(v), true
}

func finiteOrNil(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return x
}

func isTrue(v any) bool { b, ok := v.(bool); return ok && b }

// valueText writes a value for a prompt: text as it is, unset as nothing,
// everything else as compact JSON.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	}
	return canonicalJSON(v)
}

// canonicalJSON returns compact JSON with sorted names, the same for equal values.
func canonicalJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func hashText(args []any) string {
	sum := sha256.Sum256([]byte(canonicalJSON(plainValue(args))))
	return hex.EncodeToString(sum[:8])
}
