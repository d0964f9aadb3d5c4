package tool

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/fault"
)

// Kinds of rescue: what argument repair had to do. They are counted and shown.
const (
	RescuedString = "json_string" // arguments or a value were JSON inside a string
	RescuedNested = "nested"      // arguments were wrapped in another object
	RescuedAlias  = "alias"       // the main argument came under another name
	RescuedName   = "name"        // an argument's name was spelt in another case
	RescuedFence  = "fence"       // code came in a fenced block
	RescuedRaw    = "raw_text"    // arguments were the bare main text
	RescuedNumber = "number"      // a number or truth value came as text
	RescuedUnit   = "unit"        // a duration came with its unit
	RescuedJSON   = "json"        // arguments were nearly JSON
)

// byteOrderMark is what some programs write before a text.
const byteOrderMark = "\uFEFF"

// maxUnwrap bounds how deep wrapped arguments are unwrapped.
const maxUnwrap = 4

// wrappers are names under which models wrap arguments.
var wrappers = []string{"arguments", "args", "input", "parameters", "params", "tool_input", "kwargs", "payload"}

// aliases are other names of main arguments, by family.
var aliases = map[string][]string{
	"sql":  {"sql", "query", "sql_query", "statement", "sql_statement", "q", "select"},
	"code": {"code", "python_code", "python", "script", "source", "source_code", "program", "snippet"},
}

// Normalise turns what a model sent into arguments: it undoes wrappings and
// misspellings that leave only one meaning, and never guesses where two are
// possible. rescued lists what it did. Repair off means plain JSON only.
func (e *Entry) Normalise(raw string, repair bool) (args map[string]any, rescued []string, err *fault.Fault) {
	r := &argumentRepair{main: e.spec.Main, shape: e.shape}
	args, ok := r.findObject(raw, repair)
	if !ok {
		return nil, r.kinds, fault.New(fault.InvalidArguments, "the arguments of %s are no JSON object", e.spec.Name).
			Suggest("Send one JSON object with the arguments of the schema.")
	}
	if repair {
		r.fixNames(args)
		r.fixTypes(args)
	}
	return args, r.kinds, nil
}

// Empty reports whether the main argument is there but holds nothing after cleaning.
func (e *Entry) Empty(args map[string]any) bool {
	if e.spec.Main == "" {
		return false
	}
	v, present := args[e.spec.Main]
	text, isText := v.(string)
	return !present || v == nil || (isText && strings.TrimSpace(text) == "")
}

// EmptyRetry is the code with which an empty call is sent back for the first time.
func (e *Entry) EmptyRetry() fault.Code {
	if slices.Contains(aliases["code"], e.spec.Main) {
		return fault.EmptyPythonRetried
	}
	return fault.EmptyPayload
}

// An argumentRepair is the work on one call's arguments, with a list of what was changed.
type argumentRepair struct {
	main  string
	shape argumentShape
	kinds []string
}

// note records what was changed.
func (r *argumentRepair) note(kind string) {
	if !slices.Contains(r.kinds, kind) {
		r.kinds = append(r.kinds, kind)
	}
}

// findObject finds the argument object in what was sent.
func (r *argumentRepair) findObject(raw string, repair bool) (map[string]any, bool) {
	text := strings.TrimSpace(strings.TrimPrefix(strings.ToValidUTF8(raw, "\uFFFD"), byteOrderMark))
	if text == "" || text == "null" {
		return map[string]any{}, true
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		if !repair {
			return nil, false
		}
		args, nearly := parseLenient(text)
		if !nearly {
			return r.takeBareText(text)
		}
		r.note(RescuedJSON)
		v = args
	}
	if !repair {
		args, ok := v.(map[string]any)
		return args, ok
	}
	for range maxUnwrap {
		switch x := v.(type) {
		case string:
			var inner any
			if json.Unmarshal([]byte(x), &inner) != nil {
				return r.takeBareText(x)
			}
			_, isObject := inner.(map[string]any)
			if _, isText := inner.(string); !isObject && !isText {
				return r.takeBareText(x)
			}
			r.note(RescuedString)
			v = inner
		case []any:
			if len(x) != 1 {
				return nil, false
			}
			if _, isObject := x[0].(map[string]any); !isObject {
				return nil, false
			}
			r.note(RescuedNested)
			v = x[0]
		case map[string]any:
			inner, wrapped := r.unwrap(x)
			if !wrapped {
				return x, true
			}
			r.note(RescuedNested)
			v = inner
		default:
			return nil, false
		}
	}
	args, ok := v.(map[string]any)
	return args, ok
}

// unwrap finds arguments inside a wrapper: an object whose only content is one of
// the known names, which the tool itself does not have, or the main argument with
// an object of arguments in it.
func (r *argumentRepair) unwrap(x map[string]any) (any, bool) {
	for _, name := range slices.Sorted(maps.Keys(x)) {
		_, known := r.shape.props[name]
		switch v := x[name].(type) {
		case map[string]any:
			if known && name == r.main {
				if _, again := v[r.main]; again && len(x) == 1 {
					return v, true
				}
			}
			if !known && slices.Contains(wrappers, strings.ToLower(name)) && r.hasOnlyMeta(x, name) {
				return v, true
			}
		case string:
			if !known && slices.Contains(wrappers, strings.ToLower(name)) && r.hasOnlyMeta(x, name) && strings.HasPrefix(strings.TrimSpace(v), "{") {
				return v, true
			}
		}
	}
	return nil, false
}

// hasOnlyMeta reports whether nothing beside the wrapper carries meaning for the
// tool.
func (r *argumentRepair) hasOnlyMeta(x map[string]any, wrapper string) bool {
	for name := range x {
		if name == wrapper {
			continue
		}
		if _, known := r.shape.props[name]; known {
			return false
		}
	}
	return true
}

// takeBareText takes text that is no JSON for the main argument, if that alone is
// required.
func (r *argumentRepair) takeBareText(text string) (map[string]any, bool) {
	inner, fenced := unfence(text)
	if fenced {
		var v any
		if json.Unmarshal([]byte(inner), &v) == nil {
			if args, ok := v.(map[string]any); ok {
				r.note(RescuedFence)
				return args, true
			}
		}
	}
	if r.main == "" || strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[") {
		return nil, false
	}
	for _, name := range r.shape.required {
		if name != r.main {
			return nil, false
		}
	}
	if fenced {
		r.note(RescuedFence)
	}
	r.note(RescuedRaw)
	return map[string]any{r.main: inner}, true
}

// fixNames returns arguments the names of the schema.
func (r *argumentRepair) fixNames(args map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if _, known := r.shape.props[name]; known {
			continue
		}
		for _, prop := range slices.Sorted(maps.Keys(r.shape.props)) {
			if _, taken := args[prop]; !taken && canonicalName(prop) == canonicalName(name) {
				args[prop] = args[name]
				delete(args, name)
				r.note(RescuedName)
				break
			}
		}
	}
	if r.main == "" {
		return
	}
	if v, there := args[r.main]; there && v != nil {
		return
	}
	found := ""
	for _, family := range aliases {
		if !slices.Contains(family, r.main) {
			continue
		}
		for name, v := range args {
			_, known := r.shape.props[name]
			if _, isText := v.(string); isText && !known && slices.Contains(family, strings.ToLower(name)) {
				if found != "" {
					return // two candidates: not ours to choose
				}
				found = name
			}
		}
	}
	if found != "" {
		args[r.main] = args[found]
		delete(args, found)
		r.note(RescuedAlias)
	}
}

// canonicalName makes datasetId, dataset-id and dataset_id the same.
func canonicalName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// fixTypes returns each argument the type of the schema where its text leaves no
// doubt.
func (r *argumentRepair) fixTypes(args map[string]any) {
	for name, p := range r.shape.props {
		v, there := args[name]
		if !there {
			continue
		}
		if v == nil && !slices.Contains(p.kinds, "null") && !slices.Contains(r.shape.required, name) {
			delete(args, name)
			continue
		}
		text, isText := v.(string)
		if !isText {
			continue
		}
		if name == r.main {
			if inner, fenced := unfence(text); fenced {
				args[name] = inner
				r.note(RescuedFence)
			}
			continue
		}
		if fit, kind, ok := convertText(name, p, text); ok {
			args[name] = fit
			r.note(kind)
		}
	}
}

// convertText reads text as the type that the schema wants, if it cannot be text.
func convertText(name string, p property, text string) (any, string, bool) {
	if len(p.kinds) == 0 || slices.Contains(p.kinds, "string") {
		return nil, "", false
	}
	text = strings.TrimSpace(text)
	for _, kind := range p.kinds {
		switch kind {
		case "integer", "number":
			if n, err := strconv.ParseFloat(text, 64); err == nil && (kind == "number" || n == float64(int64(n))) {
				return n, RescuedNumber, true
			}
			if n, ok := parseSeconds(name, text); ok && (kind == "number" || n == float64(int64(n))) {
				return n, RescuedUnit, true
			}
		case "boolean":
			switch strings.ToLower(text) {
			case "true":
				return true, RescuedNumber, true
			case "false":
				return false, RescuedNumber, true
			}
		case "object", "array":
			var v any
			if json.Unmarshal([]byte(text), &v) != nil {
				continue
			}
			_, isObject := v.(map[string]any)
			_, isArray := v.([]any)
			if (kind == "object" && isObject) || (kind == "array" && isArray) {
				return v, RescuedString, true
			}
		}
	}
	return nil, "", false
}

var withUnit = regexp.MustCompile(`^(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)$`)

// parseSeconds reads a duration with a unit, for arguments that mean one.
func parseSeconds(name, text string) (float64, bool) {
	lower := strings.ToLower(name)
	if !strings.Contains(lower, "timeout") && !strings.Contains(lower, "seconds") {
		return 0, false
	}
	m := withUnit.FindStringSubmatch(strings.ToLower(text))
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, false
	}
	unit := time.Second
	switch {
	case strings.HasPrefix(m[2], "ms"), strings.HasPrefix(m[2], "milli"):
		unit = time.Millisecond
	case strings.HasPrefix(m[2], "m"):
		unit = time.Minute
	case strings.HasPrefix(m[2], "h"):
		unit = time.Hour
	}
	return n * unit.Seconds(), true
}

var fence = regexp.MustCompile("(?s)^```[a-zA-Z0-9_+-]*[ \t]*\r?\n(.*?)\r?\n?```$")

// unfence takes the content of a text that is exactly one fenced block.
func unfence(text string) (string, bool) {
	trimmed := strings.TrimSpace(text)
	m := fence.FindStringSubmatch(trimmed)
	if m == nil || strings.Contains(m[1], "```") {
		return trimmed, false
	}
	return m[1], true
}
