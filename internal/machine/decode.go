package machine

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// stands is the start that goes on where the thread is.
const stands = "where it stands"

var isName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`).MatchString

// machine reads the whole document. Types come before what uses them; expressions
// are compiled at the end.
func (d *decoder) machine(root ast.Node) {
	m, o := d.m, d.object(root, "machine")
	get := func(key string) ast.Node { return o.by[key].value }
	m.Name, m.Title = d.text(get("name"), "name"), d.text(get("title"), "title")
	for _, key := range []string{"name", "start", "states"} {
		if !o.has(key) {
			d.report(finding{code: "missing-key", pos: Pos{File: d.file, Line: 1}, message: "the definition has no `" + key + "`", repair: "add `" + key + ":`"})
		}
	}
	if o.has("name") && !isName(strings.ReplaceAll(m.Name, "-", "_")) {
		d.report(finding{code: "name-taken", pos: o.at("name"), message: fmt.Sprintf("%q is no name for a machine", m.Name), repair: "use letters, digits, - and _"})
	}
	if m.Title == "" {
		m.Title = m.Name
	}
	d.types(get("types"))
	d.settings(get("settings"))
	d.facts(get("facts"))
	for _, n := range d.items(get("discover"), "`discover`") {
		m.Discover = append(m.Discover, d.step(n, "discover"))
	}
	m.Start = d.start(get("start"))
	if o.has("prompt") {
		p := d.object(get("prompt"), "prompts")
		m.Base, m.Ground = d.promptFile(p.by["base"].value), d.promptFile(p.by["grounding"].value)
	}
	d.states(get("states"))
	for _, n := range d.items(get("go"), "`go`") {
		m.Go = append(m.Go, d.transition(n, "shared transition"))
	}
	d.bindings(get("tools"))
	m.Calls = make(map[string]string)
	for _, e := range d.entries(get("calls"), "`calls`") {
		m.Calls[e.key] = d.text(e.value, "a state of `calls`")
		d.place("calls", e.key, e.pos)
	}
	for _, n := range d.items(get("effects"), "`effects`") {
		m.Effects = append(m.Effects, d.effect(n))
	}
	d.cards(get("cards"))
	d.commands(get("commands"))
	d.shows(get("show"))
	d.shortcuts(get("shortcuts"))
	d.textCalls(get("text_calls"))
	m.Reply = d.assigns(get("reply"), "reply")
	m.Outcome = d.expr(get("outcome"), "outcome")
	d.history(get("history"))
	d.policies(get("policies"))
	m.Errors = Errors{Failures: 3, Pos: o.at("errors")}
	if o.has("errors") {
		m.Errors = *d.errors(get("errors"), m.Errors)
	}
	m.Limits = d.limits(get("limits"), Limits{
		Iterations: literal(25, "25", Pos{}), Seconds: literal(300, "300", Pos{}), Tokens: literal(200_000, "200000", Pos{}), Dollars: literal(1, "1", Pos{}),
	})
	// A state's own limits and errors fall back to the machine's, wherever they stand.
	for _, s := range m.States {
		if s.Limits != nil {
			*s.Limits = s.Limits.or(m.Limits)
		}
		if s.Errors != nil && s.Errors.Failures == 0 {
			s.Errors.Failures = m.Errors.Failures
		}
	}
}

// place remembers where a name of a map stands.
func (d *decoder) place(kind, name string, pos Pos) {
	if d.m.places == nil {
		d.m.places = make(map[string]Pos)
	}
	d.m.places[kind+"/"+name] = pos
}

func (d *decoder) types(n ast.Node) {
	d.m.Types = make(map[string]*Type)
	list := d.entries(n, "`types`")
	for _, e := range list {
		if _, isKind := kinds[e.key]; isKind || !isName(e.key) {
			d.report(finding{code: "name-taken", pos: e.pos, message: fmt.Sprintf("%q cannot be the name of a type", e.key)})
			continue
		}
		d.m.Types[e.key] = &Type{Kind: JSON, Name: e.key} // so that types may name each other
		d.place("types", e.key, e.pos)
	}
	for _, e := range list {
		if t := d.m.Types[e.key]; t != nil {
			name := t.Name
			*t = *d.typeOf(e.value, 0)
			t.Name = name
		}
	}
	for _, e := range list {
		if t := d.m.Types[e.key]; t != nil && endless(t, map[*Type]bool{}) {
			d.report(finding{code: "unknown-type", pos: e.pos, message: fmt.Sprintf("type %s contains itself", e.key), repair: "use json for the inner part"})
			*t = Type{Kind: JSON, Name: e.key}
		}
	}
}

// endless reports whether a type contains itself.
func endless(t *Type, above map[*Type]bool) bool {
	if t == nil {
		return false
	}
	if above[t] {
		return true
	}
	above[t] = true
	defer delete(above, t)
	if endless(t.Of, above) {
		return true
	}
	for _, f := range t.Fields {
		if endless(f, above) {
			return true
		}
	}
	return false
}

var kinds = map[string]Kind{"string": String, "int": Int, "float": Float, "bool": Bool, "time": Time, "json": JSON}

// typeOf reads a type: a name, list(T), {enum: [...]}, or a record.
func (d *decoder) typeOf(n ast.Node, level int) *Type {
	if level > 8 {
		d.wrong(n, "the type nests too deep")
		return &Type{Kind: JSON}
	}
	switch x := d.resolve(n).(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		list := d.entries(n, "a type")
		if len(list) == 1 && list[0].key == "enum" {
			if _, isList := d.resolve(list[0].value).(*ast.SequenceNode); isList {
				return d.enum(list[0].value)
			}
		}
		t := &Type{Kind: Record, Fields: make(map[string]*Type)}
		for _, e := range list {
			t.Fields[e.key] = d.typeOf(e.value, level+1)
			t.Order = append(t.Order, e.key)
		}
		return t
	default:
		return d.typeNamed(d.text(n, "a type"), d.pos(x), level)
	}
}

func (d *decoder) enum(n ast.Node) *Type {
	t := &Type{Kind: Enum, Values: d.texts(n, "a value of `enum`")}
	if len(t.Values) == 0 {
		d.wrong(n, "`enum` needs at least one value")
	}
	return t
}

func (d *decoder) typeNamed(name string, pos Pos, level int) *Type {
	name = strings.TrimSpace(name)
	if k, ok := kinds[name]; ok {
		return &Type{Kind: k}
	}
	if inner, ok := strings.CutPrefix(name, "list("); ok && strings.HasSuffix(inner, ")") && level < 8 {
		return &Type{Kind: List, Of: d.typeNamed(strings.TrimSuffix(inner, ")"), pos, level+1)}
	}
	if t := d.m.Types[name]; t != nil {
		return t
	}
	known := append(slices.Sorted(maps.Keys(d.m.Types)), "string", "int", "float", "bool", "time", "json")
	d.report(finding{
		code: "unknown-type", pos: pos, message: fmt.Sprintf("unknown type %q%s", name, nearest(name, known)),
		repair: "use string, int, float, bool, time, json, list(T), {enum: [...]} or a name from `types`",
	})
	return &Type{Kind: JSON}
}

// typeOrEnum reads the type of a fact or setting from its two keys.
func (d *decoder) typeOrEnum(o object, what string) *Type {
	switch {
	case o.has("enum"):
		return d.enum(o.by["enum"].value)
	case o.has("type"):
		return d.typeOf(o.by["type"].value, 0)
	}
	d.report(finding{code: "missing-key", pos: o.pos, message: what + " has no type", repair: "add `type:` or `enum:`"})
	return &Type{Kind: JSON}
}

func (d *decoder) settings(n ast.Node) {
	for _, e := range d.entries(n, "`settings`") {
		if !isName(e.key) {
			d.report(finding{code: "name-taken", pos: e.pos, message: fmt.Sprintf("%q is no name", e.key)})
			continue
		}
		o := d.object(e.value, "setting")
		o.pos = e.pos
		s := &Setting{Name: e.key, Label: d.text(o.by["label"].value, "label"), Type: d.typeOrEnum(o, "setting "+e.key), Pos: e.pos}
		for key, to := range map[string]**float64{"min": &s.Min, "max": &s.Max, "step": &s.Step} {
			if o.has(key) {
				*to = d.number(o.by[key].value, key)
			}
		}
		if o.has("default") {
			s.Default = d.value(o.by["default"].value, 0)
			d.place("default", e.key, d.pos(o.by["default"].value))
		}
		if s.Label == "" {
			s.Label = s.Name
		}
		d.m.Settings = append(d.m.Settings, s)
	}
}

func (d *decoder) facts(n ast.Node) {
	for _, e := range d.entries(n, "`facts`") {
		if reserved[e.key] || !isName(e.key) {
			d.report(finding{code: "name-taken", pos: e.pos, message: fmt.Sprintf("%q cannot be the name of a fact", e.key), repair: "choose another name"})
			continue
		}
		f := d.fact(e)
		d.m.Facts = append(d.m.Facts, f)
		d.m.facts[f.Name] = f
	}
}

func (d *decoder) fact(e entry) *Fact {
	f := &Fact{Name: e.key, Pos: e.pos}
	switch d.resolve(e.value).(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		f.Type = d.typeOf(e.value, 0)
		return f
	}
	o := d.object(e.value, "fact")
	o.pos = e.pos
	f.Type = d.typeOrEnum(o, "fact "+e.key)
	if o.has("for") {
		switch v := d.text(o.by["for"].value, "for"); v {
		case "turn":
			f.Turn = true
		case "thread":
		default:
			d.wrong(o.by["for"].value, "`for` must be thread or turn, not %q", v)
		}
	}
	if o.has("by") {
		if v := d.text(o.by["by"].value, "by"); v != "person" {
			d.wrong(o.by["by"].value, "`by` must be person, not %q", v)
		}
		f.Person = true
	}
	if o.has("default") {
		f.Default = d.value(o.by["default"].value, 0)
		d.place("factDefault", e.key, d.pos(o.by["default"].value))
	}
	if o.has("is") {
		f.Is = d.expr(o.by["is"].value, "is")
		for _, key := range []string{"default", "by", "max", "for"} {
			if o.has(key) {
				d.wrong(o.by[key].value, "a computed fact has no `%s`", key)
			}
		}
	}
	if o.has("max") {
		f.Max = d.count(o.by["max"].value, "max")
	}
	return f
}

func (d *decoder) start(n ast.Node) Start {
	s := Start{Pos: d.pos(n)}
	switch x := d.resolve(n).(type) {
	case nil:
	case *ast.SequenceNode:
		for _, item := range x.Values {
			o := d.object(item, "choice")
			c := &Choice{When: d.expr(o.by["when"].value, "when"), To: d.text(o.by["to"].value, "to"), Pos: o.pos}
			c.Set.Set = d.assigns(o.by["set"].value, "set")
			s.Choices = append(s.Choices, c)
		}
	default:
		if to := d.text(n, "`start`"); to == stands {
			s.Stands = true
		} else {
			s.Choices = []*Choice{{To: to, Pos: s.Pos}}
		}
	}
	return s
}
