package meaning

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"interlock/internal/schema"
)

// maxLevel is how deep a document may nest.
const maxLevel = 60

// Read reads a file, YAML or JSON, and checks its form. The document is nil where findings
// say that it cannot be used at all.
func Read(file string, text []byte) (*Document, Findings) {
	r := &reader{places: places{file, map[string]int{}}}
	value := r.parse(text)
	if len(r.found) > 0 {
		return nil, r.found.sorted()
	}
	r.validate("", ossie(), value)
	if len(r.found) > 0 {
		return nil, r.found.sorted()
	}
	raw, err := json.Marshal(value)
	if err != nil {
		r.add("unreadable", "", "", "it cannot be read: %v", err)
		return nil, r.found
	}
	doc := &Document{places: r.places}
	if err := json.Unmarshal(raw, doc); err != nil {
		r.add("unreadable", "", "", "it cannot be read: %v", err)
		return nil, r.found
	}
	return doc, nil
}

// A reader turns text into values and remembers their lines.
type reader struct {
	places places
	found  Findings
}

func (r *reader) add(code, path, repair, format string, args ...any) {
	r.found = append(r.found, Finding{code, Error, r.places.file, r.places.lineOf(path), path, fmt.Sprintf(format, args...), repair})
}

// parse gives the value of the text. The parser is foreign code: its panic is a fault of the file.
func (r *reader) parse(text []byte) (value any) {
	defer func() {
		if recover() != nil {
			value = nil
			r.add("unreadable", "", "correct the YAML", "it cannot be read as YAML")
		}
	}()
	if len(text) > MaxBytes {
		r.add("too-large", "", "leave out what the planner does not need", "it has %d bytes, more than the %d that are read", len(text), MaxBytes)
		return nil
	}
	if line, why := schema.CostlyYAML(text); why != "" {
		r.places.lines[""] = max(line, 1)
		r.add("too-large", "", "leave out what the planner does not need, and nest less", "%s", why)
		return nil
	}
	tokens := lexer.Tokenize(string(text))
	if what, line := longPaths(tokens); line > 0 {
		r.places.lines[""] = line
		r.add("too-large", "", "write shorter keys with less in them, as docs/meaning.md shows", "%s", what)
		return nil
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		message := err.Error()
		if se, ok := errors.AsType[*yaml.SyntaxError](err); ok {
			message = se.Message
			if t := se.Token; t != nil && t.Position != nil {
				r.places.lines[""] = t.Position.Line
			}
		}
		r.add("unreadable", "", "correct the YAML at this place", "%s", message)
		return nil
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc != nil && doc.Body != nil {
			bodies = append(bodies, doc.Body)
		}
	}
	if len(bodies) != 1 {
		r.add("unreadable", "", "write one document", "it holds %d documents", len(bodies))
		return nil
	}
	return r.convert(bodies[0], "", 0)
}

// convert gives a node as the value that JSON would have.
func (r *reader) convert(n ast.Node, path string, level int) any {
	if level > maxLevel {
		r.add("too-large", path, "", "it nests deeper than %d", maxLevel)
		return nil
	}
	if t := n.GetToken(); t != nil && t.Position != nil && r.places.lines[path] == 0 {
		r.places.lines[path] = t.Position.Line
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return r.mapping(n.Values, path, level)
	case *ast.MappingValueNode:
		return r.mapping([]*ast.MappingValueNode{n}, path, level)
	case *ast.SequenceNode:
		list := make([]any, len(n.Values))
		for i, v := range n.Values {
			list[i] = r.convert(v, path+"["+strconv.Itoa(i)+"]", level+1)
		}
		return list
	case *ast.NullNode:
		return nil
	case *ast.BoolNode:
		return n.Value
	case *ast.IntegerNode, *ast.FloatNode:
		if text := n.GetToken().Value; json.Valid([]byte(text)) {
			return json.Number(text)
		}
		return n.GetToken().Value
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	}
	r.add("unreadable", path, "write out what it stands for", "aliases, anchors and tags are not read")
	return nil
}

func (r *reader) mapping(values []*ast.MappingValueNode, path string, level int) map[string]any {
	out := map[string]any{}
	for _, v := range values {
		key := v.Key.GetToken().Value
		at := strings.TrimPrefix(path+"."+key, ".")
		if _, twice := out[key]; twice {
			r.add("name-taken", at, "keep one of them", "the key %q stands here twice", key)
		}
		r.places.lines[at] = v.Key.GetToken().Position.Line
		out[key] = r.convert(v.Value, at, level+1)
	}
	return out
}

// validate adds the findings of a schema about a value at a path.
func (r *reader) validate(path string, form *jsonschema.Schema, value any) {
	err := form.Validate(value)
	if err == nil {
		return
	}
	top, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		r.add("wrong-form", path, "", "%v", err)
		return
	}
	english := message.NewPrinter(language.English)
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, c := range e.Causes {
			walk(c)
		}
		if len(e.Causes) == 0 {
			r.add("wrong-form", strings.TrimPrefix(path+writePath(e.InstanceLocation), "."), "see docs/meaning.md for the form", "%s", e.ErrorKind.LocalizedString(english))
		}
	}
	walk(top)
}

func writePath(steps []string) string {
	var b strings.Builder
	for _, s := range steps {
		if _, err := strconv.Atoi(s); err == nil {
			b.WriteString("[" + s + "]")
		} else {
			b.WriteString("." + s)
		}
	}
	return b.String()
}

var ossie = sync.OnceValue(func() *jsonschema.Schema { return compileSchema(ossieSchema, "") })

// extensionForms are the schemas of our extensions, by what they extend.
var extensionForms = sync.OnceValue(func() map[string]*jsonschema.Schema {
	out := map[string]*jsonschema.Schema{}
	for _, name := range []string{"model", "dataset", "field", "metric"} {
		out[name] = compileSchema(extensionSchema, "#/$defs/"+name)
	}
	return out
})

func compileSchema(text []byte, part string) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic("meaning: " + err.Error())
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		panic("meaning: " + err.Error())
	}
	return c.MustCompile("schema.json" + part)
}

// extension reads what our extension of one kind says, into target. Two of ours are one too many.
func (r *reader) extension(list []Extension, path, kind string, target any) {
	ours := slices.IndexFunc(list, func(e Extension) bool { return e.Vendor == vendor })
	if ours < 0 {
		return
	}
	at := fmt.Sprintf("%s.custom_extensions[%d].data", path, ours)
	if slices.ContainsFunc(list[ours+1:], func(e Extension) bool { return e.Vendor == vendor }) {
		r.add("name-taken", path+".custom_extensions", "write both into one", "there are several extensions of the vendor %s", vendor)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(list[ours].Data))
	if err != nil {
		r.add("bad-extension", at, `write JSON such as {"main_date": "order_date"}`, "the data of the extension are not JSON: %v", err)
		return
	}
	before := len(r.found)
	r.validate(at, extensionForms()[kind], value)
	var parts map[string]json.RawMessage
	if json.Unmarshal([]byte(list[ours].Data), &parts) != nil {
		return // no object, which is found already
	}
	for key := range parts { // what is wrong under one key does not hide the others
		if slices.ContainsFunc(r.found[before:], func(f Finding) bool {
			rest, under := strings.CutPrefix(f.Path, at+"."+key)
			return under && (rest == "" || rest[0] == '.' || rest[0] == '[')
		}) {
			delete(parts, key)
		}
	}
	dec := json.NewDecoder(strings.NewReader(jsonText(parts)))
	dec.UseNumber()
	if err := dec.Decode(target); err != nil {
		r.add("bad-extension", at, "", "the data of the extension cannot be read: %v", err)
	}
}
