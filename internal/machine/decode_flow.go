package machine

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

func (d *decoder) decodeTransition(n ast.Node, kind string) *Transition {
	o := d.decodeObject(n, kind)
	t := &Transition{Pos: o.pos, When: d.decodeExpr(o.by["when"].value, "when"), Writes: d.decodeWrites(o)}
	t.On, t.Tool, t.Card, t.Command = d.decodeNames(o, "on"), d.decodeNames(o, "tool"), d.decodeNames(o, "card"), d.decodeNames(o, "command")
	t.To = d.decodeNames(o, "to")
	if len(t.To) == 0 {
		d.report(finding{code: "missing-key", pos: o.pos, message: "the transition leads nowhere", repair: "add `to:` with a state"})
	}
	if o.has("rest") {
		t.Rest = d.decodeFlag(o.by["rest"].value, "rest")
	}
	if kind == "shared transition" {
		t.From = d.decodeNames(o, "from")
		if len(t.From) == 1 && t.From[0] == "any" && d.m.states["any"] == nil {
			t.From, t.Any = nil, true
		} else if len(t.From) == 0 {
			d.report(finding{code: "missing-key", pos: o.pos, message: "a shared transition needs `from`", repair: "add `from: [states]` or `from: any`"})
		}
	}
	return t
}

// decodeNames reads a key that takes one name or a list.
func (d *decoder) decodeNames(o object, key string) []string {
	if !o.has(key) {
		return nil
	}
	return d.decodeTexts(o.by[key].value, "`"+key+"`")
}

func (d *decoder) decodeEffect(n ast.Node) *Effect {
	o := d.decodeObject(n, "effect")
	e := &Effect{Pos: o.pos, When: d.decodeExpr(o.by["when"].value, "when"), Writes: d.decodeWrites(o)}
	e.On, e.Tool, e.Card, e.Command, e.State = d.decodeNames(o, "on"), d.decodeNames(o, "tool"), d.decodeNames(o, "card"), d.decodeNames(o, "command"), d.decodeNames(o, "state")
	if len(e.On) == 0 {
		d.report(finding{code: "missing-key", pos: o.pos, message: "the effect names no event", repair: "add `on:`"})
	}
	return e
}

func (d *decoder) decodeWrites(o object) Writes {
	w := Writes{Set: d.decodeAssigns(o.by["set"].value, "set"), Append: d.decodeAssigns(o.by["append"].value, "append"), Increment: d.decodeAssigns(o.by["increment"].value, "increment")}
	if o.has("drop") {
		w.Drop = d.decodeTexts(o.by["drop"].value, "`drop`")
		w.dropAt = d.positionsOf(o.by["drop"].value)
	}
	for _, e := range d.mapEntries(o.by["keep"].value, "`keep`") {
		if x := d.decodeExprOf(e.value, "keep", true); x != nil {
			w.Keep = append(w.Keep, Assign{Name: e.key, Expr: x, Pos: e.pos})
		}
	}
	return w
}

// positionsOf returns the position of each text of a list.
func (d *decoder) positionsOf(n ast.Node) map[string]Pos {
	at := make(map[string]Pos)
	list, ok := d.resolveNode(n).(*ast.SequenceNode)
	if !ok {
		at[d.decodeText(n, "a name")] = d.pos(d.resolveNode(n))
		return at
	}
	for _, v := range list.Values {
		at[d.decodeText(v, "a name")] = d.pos(d.resolveNode(v))
	}
	return at
}

func (d *decoder) decodeAssigns(n ast.Node, key string) []Assign {
	var out []Assign
	for _, e := range d.mapEntries(n, "`"+key+"`") {
		if x := d.decodeExpr(e.value, key+"."+e.key); x != nil {
			out = append(out, Assign{Name: e.key, Expr: x, Pos: e.pos})
		}
	}
	return out
}

func (d *decoder) decodeOuts(n ast.Node) []Out {
	var out []Out
	for _, e := range d.mapEntries(n, "`out`") {
		from := strings.TrimSpace(d.decodeText(e.value, "a path of `out`"))
		for name := range strings.SplitSeq(from, ".") {
			if !isName(name) {
				d.reportForm(e.value, "a path of `out` has the form a.b.c, not %q", from)
				break
			}
		}
		out = append(out, Out{Fact: e.key, From: from, Pos: e.pos})
	}
	return out
}

func (d *decoder) decodeBindings(n ast.Node) {
	d.m.Tools = make(map[string]*Binding)
	for _, e := range d.mapEntries(n, "`tools`") {
		o := d.decodeObject(e.value, "binding")
		b := &Binding{Tool: e.key, Pos: e.pos, In: d.decodeAssigns(o.by["in"].value, "in"), Card: d.decodeText(o.by["card"].value, "card"), Args: make(map[string]*Narrow)}
		for _, a := range d.mapEntries(o.by["args"].value, "`args`") {
			no := d.decodeObject(a.value, "narrow")
			b.Args[a.key] = &Narrow{Enum: d.decodeEnumExpr(no.by["enum"].value), Default: d.decodeExpr(no.by["default"].value, "default")}
			d.recordPos("args/"+e.key, a.key, a.pos)
		}
		d.m.Tools[e.key] = b
	}
}

// decodeEnumExpr reads an expression, or a list of the values themselves.
func (d *decoder) decodeEnumExpr(n ast.Node) *Expr {
	if list, ok := d.resolveNode(n).(*ast.SequenceNode); ok {
		v := d.decodeValue(list, 0)
		return literal(v, canonicalJSON(v), d.pos(n))
	}
	return d.decodeExpr(n, "enum")
}

func nameOr(label, name string) string {
	if label == "" {
		return name
	}
	return label
}

func (d *decoder) decodeCommands(n ast.Node) {
	for _, e := range d.mapEntries(n, "`commands`") {
		o := d.decodeObject(e.value, "command")
		c := &Command{
			Name: e.key, Pos: e.pos, Label: nameOr(d.decodeText(o.by["label"].value, "label"), e.key), From: d.decodeNames(o, "from"), When: d.decodeExpr(o.by["when"].value, "when"),
			Fields: d.decodeFields(o.by["fields"].value), To: d.decodeText(o.by["to"].value, "to"), Writes: d.decodeWrites(o),
		}
		if len(c.From) == 1 && c.From[0] == "any" && d.m.states["any"] == nil {
			c.From = nil
		}
		d.m.Commands = append(d.m.Commands, c)
	}
}

func (d *decoder) decodeShows(n ast.Node) {
	d.m.Show = make(map[string]*Show)
	for _, e := range d.mapEntries(n, "`show`") {
		o := d.decodeObject(e.value, "show")
		s := &Show{PersonAll: true, ModelAll: true, PersonWhen: d.decodeExpr(o.by["person_when"].value, "person_when")}
		if o.has("person") {
			s.PersonAll, s.Person = d.decodeAudience(o.by["person"].value)
		}
		if o.has("model") {
			s.ModelAll, s.Model = d.decodeAudience(o.by["model"].value)
		}
		d.m.Show[e.key] = s
		d.recordPos("show", e.key, e.pos)
	}
}

// decodeAudience reads all, none or a list of fields.
func (d *decoder) decodeAudience(n ast.Node) (all bool, fields []string) {
	if _, ok := d.resolveNode(n).(*ast.SequenceNode); ok {
		return false, d.decodeTexts(n, "a field")
	}
	switch v := d.decodeText(n, "person or model"); v {
	case "all":
		return true, nil
	case "none":
	default:
		d.reportForm(n, "who sees what is all, none or a list of fields, not %q", v)
	}
	return false, nil
}

func (d *decoder) decodeShortcuts(n ast.Node) {
	for _, item := range d.decodeItems(n, "`shortcuts`") {
		o := d.decodeObject(item, "shortcut")
		s := &Shortcut{
			Pos: o.pos, Prefix: d.decodeText(o.by["prefix"].value, "prefix"), Tool: d.decodeText(o.by["tool"].value, "tool"),
			Say: d.decodeText(o.by["say"].value, "say"), In: d.decodeAssigns(o.by["in"].value, "in"), When: d.decodeExpr(o.by["when"].value, "when"),
		}
		if s.Prefix == "" || (s.Tool == "") == (s.Say == "") {
			d.report(finding{code: "missing-key", pos: o.pos, message: "a shortcut needs `prefix` and either `tool` or `say`"})
		}
		d.m.Short = append(d.m.Short, s)
	}
}

func (d *decoder) decodeTextCalls(n ast.Node) {
	for _, item := range d.decodeItems(n, "`text_calls`") {
		o := d.decodeObject(item, "text call")
		t := &TextCall{
			Pos: o.pos, Fence: d.decodeText(o.by["fence"].value, "fence"), Tool: d.decodeText(o.by["tool"].value, "tool"),
			Argument: d.decodeText(o.by["argument"].value, "argument"), States: d.decodeNames(o, "states"),
		}
		if t.Fence == "" || t.Tool == "" || t.Argument == "" {
			d.report(finding{code: "missing-key", pos: o.pos, message: "a text call needs `fence`, `tool` and `argument`"})
		}
		d.m.Text = append(d.m.Text, t)
	}
}

func (d *decoder) decodeHistory(n ast.Node) {
	o := d.decodeObject(n, "history")
	h := History{
		Messages: d.decodeExpr(o.by["messages"].value, "messages"), ToolTurns: d.decodeExpr(o.by["tool_turns"].value, "tool_turns"),
		ResultChars: d.decodeExpr(o.by["result_chars"].value, "result_chars"), Beside: d.decodeAssigns(o.by["beside"].value, "beside"),
	}
	if h.Messages == nil {
		h.Messages = literal(12, "12", Pos{})
	}
	if h.ToolTurns == nil {
		h.ToolTurns = literal(1, "1", Pos{})
	}
	d.m.History = h
}

func (d *decoder) decodePolicies(n ast.Node) {
	p := Policies{Duplicates: true, AcrossTurns: true, Inventory: true, InventoryMax: literal(30, "30", Pos{}), Repair: true, EmptyRetries: 1, Origins: true}
	o := d.decodeObject(n, "policies")
	// options reads a policy that is true, false or a map of its options.
	options := func(key string, on *bool) object {
		if !o.has(key) {
			return object{}
		}
		if b, ok := d.resolveNode(o.by[key].value).(*ast.BoolNode); ok {
			*on = b.Value
			return object{}
		}
		return d.decodeObject(o.by[key].value, key)
	}
	dup := options("duplicates", &p.Duplicates)
	if dup.has("across_turns") {
		p.AcrossTurns = d.decodeFlag(dup.by["across_turns"].value, "across_turns")
	}
	if dup.has("rerun_words") {
		p.RerunWords = d.decodeTexts(dup.by["rerun_words"].value, "rerun_words")
	}
	if inv := options("inventory", &p.Inventory); inv.has("max") {
		p.InventoryMax = d.decodeExpr(inv.by["max"].value, "max")
	}
	if rep := options("repair", &p.Repair); rep.has("empty_retries") {
		p.EmptyRetries = d.decodeCount(rep.by["empty_retries"].value, "empty_retries")
	}
	if o.has("origins") {
		p.Origins = d.decodeFlag(o.by["origins"].value, "origins")
	}
	d.m.Policies = p
}

// keyPos returns the position of a name that is the key of a map.
func (m *Machine) keyPos(kind, name string) Pos {
	if p, ok := m.places[kind+"/"+name]; ok {
		return p
	}
	return Pos{File: File, Line: 1}
}

// quoteNames writes a list of names for people.
func quoteNames(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) > 12 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:12], ", "), len(names)-12)
	}
	return strings.Join(names, ", ")
}
