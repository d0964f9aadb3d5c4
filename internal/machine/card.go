package machine

import "github.com/goccy/go-yaml/ast"

// The keys of a card and of its answers.
var (
	cardKeys   = []string{"title", "content", "message", "answers"}
	answerKeys = []string{"label", "key", "fields", "when", "otherwise", "set", "append", "increment", "drop", "keep", "to", "command"}
)

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
