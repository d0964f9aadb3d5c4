package event_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"interlock/internal/event"
)

var update = flag.Bool("update", false, "write docs/events.md and web/types/events.ts anew")

// TestDocumentedEvents holds docs/events.md equal to the bodies and their comments.
func TestDocumentedEvents(t *testing.T) {
	checkFile(t, "../../docs/events.md", document(t))
}

// checkFile fails where a file made of the bodies is old; with -update it is written.
func checkFile(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is old: run go generate ./internal/event", path)
	}
}

// figureFile has the records of figures_traced.
const figureFile = "../figure/figure.go"

// lineageFile has the record of what feeds a column.
const lineageFile = "../schema/lineage.go"

const preface = `# Events

A thread is an append-only log of events; everything else is a fold of it. On the wire an event is

` + "```json" + `
{"thread": "t_…", "seq": 7, "time": "2026-01-02T03:04:05.678901Z", "kind": "tool_started", "body": {…}}
` + "```" + `

` + "`seq`" + ` counts from 1 without gaps; it is the id of a server-sent event, and a client that reconnects with ` + "`Last-Event-ID`" + ` misses nothing.
*Transient* events have no ` + "`seq`" + `: they are shown and never stored. The bodies are the types of ` + "`internal/event/body.go`" + `, of
which this page is made. A *value* is JSON; in the store one above 2 KiB is ` + "`{\"$blob\": \"sha256…\"}`" + ` and its bytes are kept once, clients get it whole.
A field with *?* may be missing.

| kind | meaning |
|---|---|
`

// document writes the page: the kinds in the order in which the source lists them,
// then the fields of each, then the records that they hold.
func document(t *testing.T) string {
	t.Helper()
	kinds, records := bodies(t, parseFile(t, "body.go"))
	records = append(records, slices.Concat(structs(parseFile(t, figureFile)), structs(parseFile(t, lineageFile)))...)
	var b strings.Builder
	b.WriteString(preface)
	for _, r := range kinds {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.kind, r.sentence())
	}
	b.WriteString("\n## Fields\n")
	for _, r := range kinds {
		r.write(&b, r.kind)
	}
	b.WriteString("\n## Records in them\n")
	for _, r := range records {
		r.write(&b, r.name)
	}
	return b.String()
}

func parseFile(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// A record is a type of body.go; kind is "" where it is only part of others.
type record struct {
	name, kind, doc string
	fields          []*ast.Field
}

func bodies(t *testing.T, file *ast.File) (kinds, records []record) {
	t.Helper()
	for _, r := range structs(file) {
		if r.kind = kindOf(r.name); r.kind == "" {
			records = append(records, r)
			continue
		}
		if _, err := event.Decode(event.Kind(r.kind), json.RawMessage(`{}`)); err != nil {
			t.Errorf("%s is no kind of event: %v", r.kind, err)
		}
		kinds = append(kinds, r)
	}
	if len(kinds) < 20 {
		t.Errorf("only %d kinds of events were found in body.go", len(kinds))
	}
	return kinds, records
}

// structs lists the struct types of a file.
func structs(file *ast.File) []record {
	var out []record
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		ts := gen.Specs[0].(*ast.TypeSpec)
		if st, ok := ts.Type.(*ast.StructType); ok {
			out = append(out, record{name: ts.Name.Name, doc: strings.Join(strings.Fields(gen.Doc.Text()), " "), fields: st.Fields.List})
		}
	}
	return out
}

// kindOf finds the kind of a body by its name: ToolStarted is tool_started. What is
// no body has none.
func kindOf(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	kind := strings.ToLower(b.String())
	if body, err := event.Decode(event.Kind(kind), json.RawMessage(`{}`)); err != nil || reflect.TypeOf(body).Name() != name {
		return ""
	}
	return kind
}

// sentence makes a cell of a record's comment: without the name that it begins with.
func (r record) sentence() string {
	for _, lead := range []string{"A ", "An ", ""} {
		if rest, ok := strings.CutPrefix(r.doc, lead+r.name+" "); ok {
			return strings.ReplaceAll(strings.TrimPrefix(rest, "is "), "|", "\\|")
		}
	}
	return r.doc
}

func (r record) write(b *strings.Builder, title string) {
	fmt.Fprintf(b, "\n**`%s`**", title)
	if r.kind == "" {
		fmt.Fprintf(b, ": %s", r.sentence())
	}
	b.WriteString("\n\n")
	for _, f := range r.fields {
		tag := tagOf(f)
		if tag.name == "" {
			continue
		}
		fmt.Fprintf(b, "- `%s` %s", tag.name, typeName(f.Type))
		if tag.optional {
			b.WriteString("?")
		}
		switch {
		case tag.enum != nil && comment(f) != "":
			fmt.Fprintf(b, ": %s; %s", strings.Join(tag.enum, ", "), comment(f))
		case tag.enum != nil:
			fmt.Fprintf(b, ": %s", strings.Join(tag.enum, ", "))
		case comment(f) != "":
			b.WriteString(": " + comment(f))
		}
		b.WriteString("\n")
	}
}

// A fieldTag is what the tags of a field say about its JSON. The enum is the closed
// set of its texts.
type fieldTag struct {
	name     string // "" where the field is not written
	optional bool
	enum     []string
}

func tagOf(f *ast.Field) fieldTag {
	if f.Tag == nil {
		return fieldTag{}
	}
	text, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return fieldTag{}
	}
	all := reflect.StructTag(text)
	name, options, _ := strings.Cut(all.Get("json"), ",")
	tag := fieldTag{name: name}
	for option := range strings.SplitSeq(options, ",") {
		tag.optional = tag.optional || option == "omitempty" || option == "omitzero"
	}
	if enum := all.Get("enum"); enum != "" {
		tag.enum = strings.Split(enum, ",")
	}
	return tag
}

// comment is what is said beside a field or above it.
func comment(f *ast.Field) string {
	if note := strings.TrimSpace(f.Comment.Text()); note != "" {
		return note
	}
	return strings.Join(strings.Fields(f.Doc.Text()), " ")
}

// typeName gives the type as a reader of JSON knows it.
func typeName(x ast.Expr) string {
	switch v := x.(type) {
	case *ast.StarExpr:
		return typeName(v.X)
	case *ast.ArrayType:
		return "list of " + typeName(v.Elt)
	case *ast.MapType:
		return "name -> " + typeName(v.Value)
	}
	switch name := types.ExprString(x); name {
	case "Value":
		return "value"
	case "fault.Code":
		return "code"
	case "time.Time":
		return "time"
	case "string":
		return "text"
	case "int", "int64", "float64":
		return "number"
	case "any":
		return "JSON"
	case "Support":
		return "text"
	default:
		return strings.TrimPrefix(strings.TrimPrefix(name, "figure."), "schema.")
	}
}
