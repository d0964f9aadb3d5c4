package meaning

import (
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"interlock/internal/fault"
)

// writeExtension gives the text of a file that Read has read, with other data in our extension of
// one of its models. Only the lines of the extension change; the result is read again, and
// where anything else became different the change is refused.
func writeExtension(file string, text []byte, at int, data string) ([]byte, error) {
	before, _ := Read(file, text)
	out := spliceExtension(text, at, data)
	after, _ := Read(file, out)
	if after == nil || len(after.Models) != len(before.Models) {
		return nil, errCannotSplice(file, data)
	}
	if i := after.Models[at].ours(); i < 0 || after.Models[at].Extensions[i].Data != data {
		return nil, errCannotSplice(file, data)
	}
	for _, doc := range []*Document{before, after} {
		m := &doc.Models[at]
		m.Extensions = append([]Extension{}, slices.DeleteFunc(slices.Clone(m.Extensions), func(e Extension) bool { return e.Vendor == vendor })...)
		doc.places = places{}
	}
	if !reflect.DeepEqual(before, after) {
		return nil, errCannotSplice(file, data)
	}
	return out, nil
}

// ours is the place of our extension of a model, or -1.
func (m Model) ours() int {
	return slices.IndexFunc(m.Extensions, func(e Extension) bool { return e.Vendor == vendor })
}

func errCannotSplice(file, data string) error {
	return fault.New(fault.BadMeaning, "%s is written in a form that I cannot add a line to", file).
		Suggest("Write it yourself, as data of the custom_extensions of the vendor %s of the model: %s", vendor, data)
}

// spliceExtension puts the data where our extension of the model is, or adds one; nil where the
// text has a form that it does not know.
func spliceExtension(text []byte, at int, data string) (out []byte) {
	defer func() {
		if recover() != nil { // the parser is foreign code
			out = nil
		}
	}()
	f, err := parser.Parse(lexer.Tokenize(string(text)), 0)
	if err != nil {
		return nil
	}
	var model ast.Node
	for _, doc := range f.Docs {
		if doc.Body != nil {
			model = item(value(doc.Body, "semantic_model"), at)
		}
	}
	lines := strings.SplitAfter(string(text), "\n")
	list := value(model, "custom_extensions")
	for i := 0; item(list, i) != nil; i++ {
		name, old := value(item(list, i), "vendor_name"), value(item(list, i), "data")
		if name != nil && old != nil && name.GetToken().Value == vendor {
			return replaceScalar(lines, old.GetToken(), data)
		}
	}
	block := "- vendor_name: " + vendor + "\n  data: '" + strings.ReplaceAll(data, "'", "''") + "'\n"
	flow := `{"vendor_name": "` + vendor + `", "data": ` + jsonText(data) + "}"
	if list != nil { // another vendor's
		seq, ok := list.(*ast.SequenceNode)
		switch {
		case !ok || len(seq.Values) == 0:
			return nil
		case seq.IsFlowStyle:
			return insertAfter(lines, seq.Start, flow+", ")
		}
		return insertBefore(lines, seq.Start.Position, block)
	}
	m, ok := model.(*ast.MappingNode)
	switch {
	case !ok || len(m.Values) < 2:
		return nil
	case m.IsFlowStyle:
		return insertAfter(lines, m.Start, `"custom_extensions": [`+flow+"], ")
	}
	return insertBefore(lines, m.Values[1].Key.GetToken().Position, "custom_extensions:\n  "+strings.ReplaceAll(strings.TrimSuffix(block, "\n"), "\n", "\n  ")+"\n")
}

// value is what a mapping has under a key; nil is nothing.
func value(n ast.Node, key string) ast.Node {
	var pairs []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	}
	for _, p := range pairs {
		if p.Key.GetToken().Value == key {
			return p.Value
		}
	}
	return nil
}

// item is a value of a list; nil is none.
func item(n ast.Node, i int) ast.Node {
	if s, ok := n.(*ast.SequenceNode); ok && i < len(s.Values) {
		return s.Values[i]
	}
	return nil
}

// replaceScalar writes a text in the place of one that stands on a line.
func replaceScalar(lines []string, old *token.Token, text string) []byte {
	written, i := strings.TrimSpace(old.Origin), old.Position.Line-1
	if quote := map[token.Type]string{token.SingleQuoteType: "'", token.DoubleQuoteType: `"`}[old.Type]; quote != "" && !strings.HasPrefix(written, quote) {
		written = quote + written + quote
	}
	if i < 0 || i >= len(lines) || written == "" || strings.Count(lines[i], written) != 1 {
		return nil
	}
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	if old.Type == token.DoubleQuoteType {
		quoted = jsonText(text)
	}
	lines[i] = strings.Replace(lines[i], written, quoted, 1)
	return []byte(strings.Join(lines, ""))
}

// insertBefore puts lines above the one of a place, and above the comments that belong to that.
func insertBefore(lines []string, at *token.Position, block string) []byte {
	i := at.Line - 1
	if i < 0 || i >= len(lines) || at.Column < 1 {
		return nil
	}
	for i > 0 && strings.HasPrefix(strings.TrimSpace(lines[i-1]), "#") {
		i--
	}
	indent := strings.Repeat(" ", at.Column-1)
	var added strings.Builder
	for line := range strings.Lines(block) {
		added.WriteString(indent + line)
	}
	return []byte(strings.Join(slices.Insert(lines, i, added.String()), ""))
}

// insertAfter puts a text behind the bracket that begins a list or a mapping.
func insertAfter(lines []string, bracket *token.Token, text string) []byte {
	i, col := bracket.Position.Line-1, bracket.Position.Column-1
	if i < 0 || i >= len(lines) || col < 0 {
		return nil
	}
	runes := []rune(lines[i])
	if col >= len(runes) || string(runes[col]) != strings.TrimSpace(bracket.Value) {
		return nil
	}
	lines[i] = string(runes[:col+1]) + text + string(runes[col+1:])
	return []byte(strings.Join(lines, ""))
}
