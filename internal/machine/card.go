package machine

import "github.com/goccy/go-yaml/ast"

// A formatKey is a key of cards and answers: `go generate ./internal/machine` writes its
// form into machine.schema.json and its meaning into docs/machines.md.
type formatKey struct{ name, form, meaning string }

// Forms of values, as JSON Schema.
const (
	textForm   = `{"type": "string"}`
	guardForm  = `{"$ref": "#/$defs/expression"}`
	namesForm  = `{"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}`
	typesForm  = `{"type": ["object", "null"], "additionalProperties": {"$ref": "#/$defs/type"}}`
	writesForm = `{"type": ["object", "null"], "additionalProperties": {"$ref": "#/$defs/expression"}}`
)

var cardKeys = []formatKey{
	{"title", textForm, "Its heading; without one, its name."},
	{"content", typesForm, "What the card shows."},
	{"message", textForm, "The answer that a plain message counts as."},
	{"answers", `{"type": ["object", "null"], "additionalProperties": {"$ref": "#/$defs/answer"}}`, "The ways to answer it."},
}

var answerKeys = []formatKey{
	{"label", textForm, "The words of its button; without them, its name."},
	{"key", textForm, "A key to press."},
	{"fields", typesForm, "What the person fills in: `event.fields.x`."},
	{"when", guardForm, "A guard over what was filled in: the answer is taken only where it holds, else the card stays open."},
	{"otherwise", guardForm, "What the person is told where `when` does not hold."},
	{"set", writesForm, "Fact or field of a record fact -> value."},
	{"append", writesForm, "List fact -> item to add at its end."},
	{"increment", writesForm, "Number fact -> how much to add."},
	{"drop", namesForm, "Facts that go back to their default."},
	{"keep", writesForm, "List fact -> predicate over its items (#): items for which it is false are removed."},
	{"to", textForm, "The state that it leads to."},
	{"command", textForm, "Does what this command does."},
}

// keyNames returns the names of keys.
func keyNames(keys []formatKey) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

// A Card is a question with typed answers.
type Card struct {
	Name, Title string
	Content     map[string]*Type
	Message     string // the answer a plain message counts as
	Answers     []*Answer
	Pos         Pos
}

// An Answer is one way to answer a card.
type Answer struct {
	Name, Label, Key string
	Fields           []Field
	Writes           Writes
	To               string
	Command          string // does what this command does
	When             *Expr  // guard over what was filled in: the answer is taken only where it holds
	Otherwise        *Expr  // what the person is told where it does not
	Pos              Pos
}

// A Field is a typed input of an answer or command.
type Field struct {
	Name string
	Type *Type
}

// decodeCards reads the cards of the machine.
func (d *decoder) decodeCards(n ast.Node) {
	d.m.Cards = make(map[string]*Card)
	for _, e := range d.mapEntries(n, "`cards`") {
		o := d.decodeObject(e.value, "card")
		c := &Card{Name: e.key, Pos: e.pos, Title: d.decodeText(o.by["title"].value, "title"), Message: d.decodeText(o.by["message"].value, "message"), Content: make(map[string]*Type)}
		for _, f := range d.mapEntries(o.by["content"].value, "`content`") {
			c.Content[f.key] = d.decodeType(f.value, 0)
		}
		for _, a := range d.mapEntries(o.by["answers"].value, "`answers`") {
			ao := d.decodeObject(a.value, "answer")
			c.Answers = append(c.Answers, &Answer{
				Name: a.key, Pos: a.pos, Label: nameOr(d.decodeText(ao.by["label"].value, "label"), a.key), Key: d.decodeText(ao.by["key"].value, "key"),
				Fields: d.decodeFields(ao.by["fields"].value), Writes: d.decodeWrites(ao), To: d.decodeText(ao.by["to"].value, "to"), Command: d.decodeText(ao.by["command"].value, "command"),
				When: d.decodeExpr(ao.by["when"].value, "when"), Otherwise: d.decodeExpr(ao.by["otherwise"].value, "otherwise"),
			})
			d.recordPos("answer/"+e.key+"/"+a.key, "to", ao.keyPos("to"))
			d.recordPos("answer/"+e.key+"/"+a.key, "command", ao.keyPos("command"))
		}
		if c.Title == "" {
			c.Title = c.Name
		}
		d.recordPos("message", e.key, o.keyPos("message"))
		d.m.Cards[e.key] = c
	}
}

// decodeFields reads what a person fills in.
func (d *decoder) decodeFields(n ast.Node) []Field {
	var out []Field
	for _, e := range d.mapEntries(n, "`fields`") {
		out = append(out, Field{Name: e.key, Type: d.decodeType(e.value, 0)})
	}
	return out
}
