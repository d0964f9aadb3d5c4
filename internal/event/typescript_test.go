package event_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestDocumentedTypes holds web/types/events.ts equal to the bodies: the types of all
// that /api/threads/{id}/events sends.
func TestDocumentedTypes(t *testing.T) {
	ts, err := typeScript(
		parseFile(t, "body.go"), parseFile(t, "event.go"), parseFile(t, "outcome.go"), parseFile(t, "../fault/fault.go"), parseFile(t, figureFile), parseFile(t, lineageFile))
	if err != nil {
		t.Fatal(err)
	}
	checkFile(t, "../../web/types/events.ts", ts)
}

// TestTypesRefuseUnknown shows that a field whose type has no translation is an error
// and not an `any`.
func TestTypesRefuseUnknown(t *testing.T) {
	for _, field := range []string{
		"X chan int `json:\"x\"`", "X netip.Addr `json:\"x\"`", "X Missing `json:\"x\"`", "X map[int]string `json:\"x\"`",
		"X []complex128 `json:\"x,omitempty\"`", "X int", "X Kind `json:\"x\"`", "Origin `json:\"x\"`",
	} {
		src := "package event\ntype TurnStarted struct {\n" + field + "\n}\n"
		file, err := parser.ParseFile(token.NewFileSet(), "body.go", src, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if ts, err := typeScript(file); err == nil {
			t.Errorf("%s became\n%s", field, ts)
		}
	}
}

const tsPreface = `// The events of a thread, as GET /api/threads/{id}/events sends them: the name of each
// server-sent event is its kind and its data an Event. A stream that cannot go on ends
// with an event named "error", whose data is a Fault.
//
// Made of internal/event/body.go by go generate ./internal/event; do not edit.

/** Any JSON. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A JSON value inside an event; clients get it whole, whatever its size. */
export type Value = Json;

/** A code of /api/codes. */
export type Code = string;

/** A moment as RFC 3339 writes it. */
export type Time = string;

/** An event of any kind: a switch over its kind narrows its body. */
export type Event = { [K in Kind]: Envelope<K> }[Kind];

/** The names of all kinds. */
export type Kind = keyof Bodies;
`

// typeScript translates the structs and closed sets of texts of some files.
func typeScript(files ...*ast.File) (string, error) {
	w := tsWriter{known: map[string]string{
		"Value": "Value", "fault.Code": "Code", "Code": "Code", "time.Time": "Time", "any": "Json",
		"string": "string", "bool": "boolean", "int": "number", "int64": "number", "float64": "number",
	}}
	var all []record
	sets := map[string][]*ast.ValueSpec{}
	for _, file := range files {
		maps.Copy(sets, textSets(file))
		all = append(all, structs(file)...)
	}
	delete(sets, "Kind") // the keys of Bodies
	// Of event.go the envelope alone is written; Event itself has no JSON of its own.
	all = slices.DeleteFunc(all, func(r record) bool { return r.name == "Event" })
	for _, r := range all {
		w.known[r.name] = r.name
	}
	for name := range sets {
		w.known[name] = name
	}
	w.WriteString(tsPreface)
	w.WriteString("\n/** The body of each kind. */\nexport interface Bodies {\n")
	for _, r := range all {
		if kind := kindOf(r.name); kind != "" {
			fmt.Fprintf(&w, "  %s: %s;\n", kind, r.name)
		}
	}
	w.WriteString("}\n")
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		w.set(name, sets[name])
	}
	for _, r := range all {
		w.record(r)
	}
	return w.String(), w.failed
}

// textSets finds the constants of each type whose values are texts.
func textSets(file *ast.File) map[string][]*ast.ValueSpec {
	sets := map[string][]*ast.ValueSpec{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil || len(spec.Values) != 1 {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
			name := types.ExprString(spec.Type)
			sets[name] = append(sets[name], spec)
		}
		return true
	})
	return sets
}

// A tsWriter writes TypeScript; failed is the first field that it could not translate.
type tsWriter struct {
	strings.Builder
	known  map[string]string // Go types by name, as TypeScript
	failed error
}

func (w *tsWriter) set(name string, values []*ast.ValueSpec) {
	fmt.Fprintf(w, "\nexport type %s =", name)
	for _, v := range values {
		fmt.Fprintf(w, "\n  | %s", v.Values[0].(*ast.BasicLit).Value)
		if note := strings.TrimSpace(v.Comment.Text()); note != "" {
			w.WriteString(" // " + note)
		}
	}
	w.WriteString("\n")
}

func (w *tsWriter) record(r record) {
	name := r.name
	if name == "envelope" {
		name = "Envelope<K extends Kind>"
		w.known["Kind"], w.known["json.RawMessage"] = "K", "Bodies[K]"
		defer func() { delete(w.known, "Kind"); delete(w.known, "json.RawMessage") }()
	}
	fmt.Fprintf(w, "\n/** %s */\nexport interface %s {\n", r.doc, name)
	for _, f := range r.fields {
		tag := tagOf(f)
		if len(f.Names) == 1 && !f.Names[0].IsExported() {
			continue
		}
		typ, err := w.translate(f.Type)
		switch {
		case len(f.Names) != 1:
			err = errors.New("an embedded or joint field")
		case tag.name == "":
			err = errors.New("no json tag")
		}
		if err != nil && w.failed == nil {
			w.failed = fmt.Errorf("%s.%s cannot be written in TypeScript: %w: teach typescript_test.go", r.name, types.ExprString(f.Type), err)
		}
		if tag.enum != nil {
			quoted := make([]string, len(tag.enum))
			for i, text := range tag.enum {
				quoted[i] = strconv.Quote(text)
			}
			typ = strings.Join(quoted, " | ")
		}
		if note := comment(f); note != "" {
			fmt.Fprintf(w, "  /** %s */\n", note)
		}
		if tag.optional {
			fmt.Fprintf(w, "  %s?: %s;\n", tag.name, typ)
		} else {
			fmt.Fprintf(w, "  %s: %s%s;\n", tag.name, typ, orNull(f.Type))
		}
	}
	w.WriteString("}\n")
}

// orNull says that a list, map or pointer that is always written may be null.
func orNull(x ast.Expr) string {
	switch x.(type) {
	case *ast.StarExpr, *ast.ArrayType, *ast.MapType:
		return " | null"
	}
	return ""
}

func (w *tsWriter) translate(x ast.Expr) (string, error) {
	switch v := x.(type) {
	case *ast.StarExpr:
		return w.translate(v.X)
	case *ast.ArrayType:
		of, err := w.translate(v.Elt)
		return of + "[]", err
	case *ast.MapType:
		if key := types.ExprString(v.Key); key != "string" {
			return "", fmt.Errorf("a map by %s", key)
		}
		of, err := w.translate(v.Value)
		return "Record<string, " + of + ">", err
	}
	name := types.ExprString(x)
	if known, ok := w.known[strings.TrimPrefix(strings.TrimPrefix(name, "figure."), "schema.")]; ok {
		return known, nil
	}
	return "", fmt.Errorf("the type %s", name)
}
