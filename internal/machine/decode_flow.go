package machine

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

func (d *decoder) transition(n ast.Node, kind string) *Transition {
	o := d.object(n, kind)
	t := &Transition{Pos: o.pos, When: d.expr(o.by["when"].value, "when"), Writes: d.writes(o)}
	t.On, t.Tool, t.Card, t.Command = d.names(o, "on"), d.names(o, "tool"), d.names(o, "card"), d.names(o, "command")
	t.To = d.names(o, "to")
	if len(t.To) == 0 {
		d.report(finding{code: "missing-key", pos: o.pos, message: "the transition leads nowhere", repair: "add `to:` with a state"})
	}
	if o.has("rest") {
		t.Rest = d.flag(o.by["rest"].value, "rest")
	}
	if kind == "shared transition" {
		t.From = d.names(o, "from")
		if len(t.From) == 1 && t.From[0] == "any" && d.m.states["any"] == nil {
			t.From, t.Any = nil, true
		} else if len(t.From) == 0 {
			d.report(finding{code: "missing-key", pos: o.pos, message: "a shared transition needs `from`", repair: "add `from: [states]` or `from: any`"})
		}
	}
	return t
}

// names reads a key that takes one name or a list.
func (d *decoder) names(o object, key string) []string {
	if !o.has(key) {
		return nil
	}
	return d.texts(o.by[key].value, "`"+key+"`")
}

func (d *decoder) effect(n ast.Node) *Effect {
	o := d.object(n, "effect")
	e := &Effect{Pos: o.pos, When: d.expr(o.by["when"].value, "when"), Writes: d.writes(o)}
	e.On, e.Tool, e.Card, e.Command, e.State = d.names(o, "on"), d.names(o, "tool"), d.names(o, "card"), d.names(o, "command"), d.names(o, "state")
	if len(e.On) == 0 {
		d.report(finding{code: "missing-key", pos: o.pos, message: "the effect names no event", repair: "add `on:`"})
	}
	return e
}

func (d *decoder) writes(o object) Writes {
	w := Writes{Set: d.assigns(o.by["set"].value, "set"), Append: d.assigns(o.by["append"].value, "append"), Increment: d.assigns(o.by["increment"].value, "increment")}
	if o.has("drop") {
		w.Drop = d.texts(o.by["drop"].value, "`drop`")
		w.dropAt = d.placesOf(o.by["drop"].value)
	}
	for _, e := range d.entries(o.by["keep"].value, "`keep`") {
		if x := d.exprOf(e.value, "keep", true); x != nil {
			w.Keep = append(w.Keep, Assign{Name: e.key, Expr: x, Pos: e.pos})
		}
	}
	return w
}

// placesOf gives where each text of a list stands.
func (d *decoder) placesOf(n ast.Node) map[string]Pos {
	at := make(map[string]Pos)
	list, ok := d.resolve(n).(*ast.SequenceNode)
	if !ok {
		at[d.text(n, "a name")] = d.pos(d.resolve(n))
		return at
	}
	for _, v := range list.Values {
		at[d.text(v, "a name")] = d.pos(d.resolve(v))
	}
	return at
}

func (d *decoder) assigns(n ast.Node, key string) []Assign {
	var out []Assign
	for _, e := range d.entries(n, "`"+key+"`") {
		if x := d.expr(e.value, key+"."+e.key); x != nil {
			out = append(out, Assign{Name: e.key, Expr: x, Pos: e.pos})
		}
	}
	return out
}

func (d *decoder) outs(n ast.Node) []Out {
	var out []Out
	for _, e := range d.entries(n, "`out`") {
		from := strings.TrimSpace(d.text(e.value, "a path of `out`"))
		for name := range strings.SplitSeq(from, ".") {
			if !isName(name) {
				d.wrong(e.value, "a path of `out` has the form a.b.c, not %q", from)
				break
			}
		}
		out = append(out, Out{Fact: e.key, From: from, Pos: e.pos})
	}
	return out
}

func (d *decoder) bindings(n ast.Node) {
	d.m.Tools = make(map[string]*Binding)
	for _, e := range d.entries(n, "`tools`") {
		o := d.object(e.value, "binding")
		b := &Binding{Tool: e.key, Pos: e.pos, In: d.assigns(o.by["in"].value, "in"), Card: d.text(o.by["card"].value, "card"), Args: make(map[string]*Narrow)}
		for _, a := range d.entries(o.by["args"].value, "`args`") {
			no := d.object(a.value, "narrow")
			b.Args[a.key] = &Narrow{Enum: d.enumExpr(no.by["enum"].value), Default: d.expr(no.by["default"].value, "default")}
			d.place("args/"+e.key, a.key, a.pos)
		}
		d.m.Tools[e.key] = b
	}
}

// enumExpr reads an expression, or a list of the values themselves.
func (d *decoder) enumExpr(n ast.Node) *Expr {
	if list, ok := d.resolve(n).(*ast.SequenceNode); ok {
		v := d.value(list, 0)
		return literal(v, canonical(v), d.pos(n))
	}
	return d.expr(n, "enum")
}

func (d *decoder) cards(n ast.Node) {
	d.m.Cards = make(map[string]*Card)
	for _, e := range d.entries(n, "`cards`") {
		o := d.object(e.value, "card")
		c := &Card{Name: e.key, Pos: e.pos, Title: d.text(o.by["title"].value, "title"), Message: d.text(o.by["message"].value, "message"), Content: make(map[string]*Type)}
		for _, f := range d.entries(o.by["content"].value, "`content`") {
			c.Content[f.key] = d.typeOf(f.value, 0)
		}
		for _, a := range d.entries(o.by["answers"].value, "`answers`") {
			ao := d.object(a.value, "answer")
			c.Answers = append(c.Answers, &Answer{
				Name: a.key, Pos: a.pos, Label: orName(d.text(ao.by["label"].value, "label"), a.key), Key: d.text(ao.by["key"].value, "key"),
				Fields: d.fields(ao.by["fields"].value), Writes: d.writes(ao), To: d.text(ao.by["to"].value, "to"), Command: d.text(ao.by["command"].value, "command"),
			})
			d.place("answer/"+e.key+"/"+a.key, "to", ao.at("to"))
			d.place("answer/"+e.key+"/"+a.key, "command", ao.at("command"))
		}
		if c.Title == "" {
			c.Title = c.Name
		}
		d.place("message", e.key, o.at("message"))
		d.m.Cards[e.key] = c
	}
}

func orName(label, name string) string {
	if label == "" {
		return name
	}
	return label
}

func (d *decoder) fields(n ast.Node) []Field {
	var out []Field
	for _, e := range d.entries(n, "`fields`") {
		out = append(out, Field{Name: e.key, Type: d.typeOf(e.value, 0)})
	}
	return out
}

func (d *decoder) commands(n ast.Node) {
	for _, e := range d.entries(n, "`commands`") {
		o := d.object(e.value, "command")
		c := &Command{
			Name: e.key, Pos: e.pos, Label: orName(d.text(o.by["label"].value, "label"), e.key), From: d.names(o, "from"), When: d.expr(o.by["when"].value, "when"),
			Fields: d.fields(o.by["fields"].value), To: d.text(o.by["to"].value, "to"), Writes: d.writes(o),
		}
		if len(c.From) == 1 && c.From[0] == "any" && d.m.states["any"] == nil {
			c.From = nil
		}
		d.m.Commands = append(d.m.Commands, c)
	}
}

func (d *decoder) shows(n ast.Node) {
	d.m.Show = make(map[string]*Show)
	for _, e := range d.entries(n, "`show`") {
		o := d.object(e.value, "show")
		s := &Show{PersonAll: true, ModelAll: true, PersonWhen: d.expr(o.by["person_when"].value, "person_when")}
		if o.has("person") {
			s.PersonAll, s.Person = d.audience(o.by["person"].value)
		}
		if o.has("model") {
			s.ModelAll, s.Model = d.audience(o.by["model"].value)
		}
		d.m.Show[e.key] = s
		d.place("show", e.key, e.pos)
	}
}

// audience reads all, none or a list of fields.
func (d *decoder) audience(n ast.Node) (all bool, fields []string) {
	if _, ok := d.resolve(n).(*ast.SequenceNode); ok {
		return false, d.texts(n, "a field")
	}
	switch v := d.text(n, "person or model"); v {
	case "all":
		return true, nil
	case "none":
	default:
		d.wrong(n, "who sees what is all, none or a list of fields, not %q", v)
	}
	return false, nil
}

func (d *decoder) shortcuts(n ast.Node) {
	for _, item := range d.items(n, "`shortcuts`") {
		o := d.object(item, "shortcut")
		s := &Shortcut{
			Pos: o.pos, Prefix: d.text(o.by["prefix"].value, "prefix"), Tool: d.text(o.by["tool"].value, "tool"),
			Say: d.text(o.by["say"].value, "say"), In: d.assigns(o.by["in"].value, "in"), When: d.expr(o.by["when"].value, "when"),
		}
		if s.Prefix == "" || (s.Tool == "") == (s.Say == "") {
			d.report(finding{code: "missing-key", pos: o.pos, message: "a shortcut needs `prefix` and either `tool` or `say`"})
		}
		d.m.Short = append(d.m.Short, s)
	}
}

func (d *decoder) textCalls(n ast.Node) {
	for _, item := range d.items(n, "`text_calls`") {
		o := d.object(item, "text call")
		t := &TextCall{
			Pos: o.pos, Fence: d.text(o.by["fence"].value, "fence"), Tool: d.text(o.by["tool"].value, "tool"),
			Argument: d.text(o.by["argument"].value, "argument"), States: d.names(o, "states"),
		}
		if t.Fence == "" || t.Tool == "" || t.Argument == "" {
			d.report(finding{code: "missing-key", pos: o.pos, message: "a text call needs `fence`, `tool` and `argument`"})
		}
		d.m.Text = append(d.m.Text, t)
	}
}

func (d *decoder) history(n ast.Node) {
	o := d.object(n, "history")
	h := History{Messages: d.expr(o.by["messages"].value, "messages"), ToolTurns: d.expr(o.by["tool_turns"].value, "tool_turns"), Beside: d.assigns(o.by["beside"].value, "beside")}
	if h.Messages == nil {
		h.Messages = literal(12, "12", Pos{})
	}
	if h.ToolTurns == nil {
		h.ToolTurns = literal(1, "1", Pos{})
	}
	d.m.History = h
}

func (d *decoder) policies(n ast.Node) {
	p := Policies{Duplicates: true, AcrossTurns: true, Inventory: true, InventoryMax: literal(30, "30", Pos{}), Repair: true, EmptyRetries: 1, Origins: true}
	o := d.object(n, "policies")
	// options reads a policy that is true, false or a map of its options.
	options := func(key string, on *bool) object {
		if !o.has(key) {
			return object{}
		}
		if b, ok := d.resolve(o.by[key].value).(*ast.BoolNode); ok {
			*on = b.Value
			return object{}
		}
		return d.object(o.by[key].value, key)
	}
	dup := options("duplicates", &p.Duplicates)
	if dup.has("across_turns") {
		p.AcrossTurns = d.flag(dup.by["across_turns"].value, "across_turns")
	}
	if dup.has("rerun_words") {
		p.RerunWords = d.texts(dup.by["rerun_words"].value, "rerun_words")
	}
	if inv := options("inventory", &p.Inventory); inv.has("max") {
		p.InventoryMax = d.expr(inv.by["max"].value, "max")
	}
	if rep := options("repair", &p.Repair); rep.has("empty_retries") {
		p.EmptyRetries = d.count(rep.by["empty_retries"].value, "empty_retries")
	}
	if o.has("origins") {
		p.Origins = d.flag(o.by["origins"].value, "origins")
	}
	d.m.Policies = p
}

// where returns the place in the file of a name that is the key of a map.
func (m *Machine) where(kind, name string) Pos {
	if p, ok := m.places[kind+"/"+name]; ok {
		return p
	}
	return Pos{File: File, Line: 1}
}

// quoted is a list of names for people.
func quoted(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) > 12 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:12], ", "), len(names)-12)
	}
	return strings.Join(names, ", ")
}
