package machine

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// startAtCurrent is the value of `start` that goes on where the thread is.
const startAtCurrent = "where it stands"

var isName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`).MatchString

// decodeMachine reads the whole document. Types come before what uses them; expressions
// are compiled at the end.
func (d *decoder) decodeMachine(root ast.Node) {
	m, o := d.m, d.decodeObject(root, "machine")
	get := func(key string) ast.Node { return o.by[key].value }
	m.Name, m.Title = d.decodeText(get("name"), "name"), d.decodeText(get("title"), "title")
	for _, key := range []string{"name", "start", "states"} {
		if !o.has(key) {
			d.report(finding{code: "missing-key", pos: Pos{File: d.file, Line: 1}, message: "the definition has no `" + key + "`", repair: "add `" + key + ":`"})
		}
	}
	if o.has("name") && !isName(strings.ReplaceAll(m.Name, "-", "_")) {
		d.report(finding{code: "name-taken", pos: o.keyPos("name"), message: fmt.Sprintf("%q is no name for a machine", m.Name), repair: "use letters, digits, - and _"})
	}
	if m.Title == "" {
		m.Title = m.Name
	}
	d.decodeTypes(get("types"))
	d.decodeSettings(get("settings"))
	d.decodeFacts(get("facts"))
	for _, n := range d.decodeItems(get("discover"), "`discover`") {
		m.Discover = append(m.Discover, d.decodeStep(n, "discover"))
	}
	m.Start = d.decodeStart(get("start"))
	if o.has("prompt") {
		p := d.decodeObject(get("prompt"), "prompts")
		m.Base, m.Ground = d.recordPrompt(p.by["base"].value), d.recordPrompt(p.by["grounding"].value)
	}
	d.indexParts(get("parts"))
	d.decodeStates(get("states"))
	d.reportUnusedParts()
	for _, n := range d.decodeItems(get("go"), "`go`") {
		m.Go = append(m.Go, d.decodeTransition(n, "shared transition"))
	}
	d.decodeBindings(get("tools"))
	m.Calls = make(map[string]string)
	for _, e := range d.mapEntries(get("calls"), "`calls`") {
		m.Calls[e.key] = d.decodeText(e.value, "a state of `calls`")
		d.recordPos("calls", e.key, e.pos)
	}
	for _, n := range d.decodeItems(get("effects"), "`effects`") {
		m.Effects = append(m.Effects, d.decodeEffect(n))
	}
	d.decodeCards(get("cards"))
	d.decodeCommands(get("commands"))
	d.decodeShows(get("show"))
	d.decodeShortcuts(get("shortcuts"))
	d.decodeTextCalls(get("text_calls"))
	m.Reply = d.decodeAssigns(get("reply"), "reply")
	m.Outcome = d.decodeExpr(get("outcome"), "outcome")
	d.decodeHistory(get("history"))
	d.decodePolicies(get("policies"))
	m.Errors = Errors{Failures: 3, Pos: o.keyPos("errors")}
	if o.has("errors") {
		m.Errors = *d.decodeErrors(get("errors"), m.Errors)
	}
	m.Limits = d.decodeLimits(get("limits"), Limits{
		Iterations: literal(25, "25", Pos{}), Seconds: literal(300, "300", Pos{}), Tokens: literal(200_000, "200000", Pos{}), Dollars: literal(1, "1", Pos{}),
	})
	// A state's own limits and errors fall back to the machine's, wherever they stand.
	for _, s := range m.States {
		if s.Limits != nil {
			*s.Limits = s.Limits.withDefaults(m.Limits)
		}
		if s.Errors != nil && s.Errors.Failures == 0 {
			s.Errors.Failures = m.Errors.Failures
		}
	}
}

// recordPos remembers the position of a name that is the key of a map.
func (d *decoder) recordPos(kind, name string, pos Pos) {
	if d.m.places == nil {
		d.m.places = make(map[string]Pos)
	}
	d.m.places[kind+"/"+name] = pos
}

func (d *decoder) decodeTypes(n ast.Node) {
	d.m.Types = make(map[string]*Type)
	list := d.mapEntries(n, "`types`")
	for _, e := range list {
		if _, isKind := kinds[e.key]; isKind || !isName(e.key) {
			d.report(finding{code: "name-taken", pos: e.pos, message: fmt.Sprintf("%q cannot be the name of a type", e.key)})
			continue
		}
		d.m.Types[e.key] = &Type{Kind: JSON, Name: e.key} // so that types may name each other
		d.recordPos("types", e.key, e.pos)
	}
	for _, e := range list {
		if t := d.m.Types[e.key]; t != nil {
			name := t.Name
			*t = *d.decodeType(e.value, 0)
			t.Name = name
		}
	}
	for _, e := range list {
		if t := d.m.Types[e.key]; t != nil && containsItself(t, map[*Type]bool{}) {
			d.report(finding{code: "unknown-type", pos: e.pos, message: fmt.Sprintf("type %s contains itself", e.key), repair: "use json for the inner part"})
			*t = Type{Kind: JSON, Name: e.key}
		}
	}
}

// containsItself reports whether a type contains itself.
func containsItself(t *Type, above map[*Type]bool) bool {
	if t == nil {
		return false
	}
	if above[t] {
		return true
	}
	above[t] = true
	defer delete(above, t)
	if containsItself(t.Of, above) {
		return true
	}
	for _, f := range t.Fields {
		if containsItself(f, above) {
			return true
		}
	}
	return false
}

var kinds = map[string]Kind{"string": String, "int": Int, "float": Float, "bool": Bool, "time": Time, "json": JSON}

// decodeType reads a type: a name, list(T), {enum: [...]}, or a record.
func (d *decoder) decodeType(n ast.Node, level int) *Type {
	if level > 8 {
		d.reportForm(n, "the type nests too deep")
		return &Type{Kind: JSON}
	}
	switch x := d.resolveNode(n).(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		list := d.mapEntries(n, "a type")
		if len(list) == 1 && list[0].key == "enum" {
			if _, isList := d.resolveNode(list[0].value).(*ast.SequenceNode); isList {
				return d.decodeEnum(list[0].value)
			}
		}
		t := &Type{Kind: Record, Fields: make(map[string]*Type)}
		for _, e := range list {
			t.Fields[e.key] = d.decodeType(e.value, level+1)
			t.Order = append(t.Order, e.key)
		}
		return t
	default:
		return d.lookUpType(d.decodeText(n, "a type"), d.pos(x), level)
	}
}

func (d *decoder) decodeEnum(n ast.Node) *Type {
	t := &Type{Kind: Enum, Values: d.decodeTexts(n, "a value of `enum`")}
	if len(t.Values) == 0 {
		d.reportForm(n, "`enum` needs at least one value")
	}
	return t
}

func (d *decoder) lookUpType(name string, pos Pos, level int) *Type {
	name = strings.TrimSpace(name)
	if k, ok := kinds[name]; ok {
		return &Type{Kind: k}
	}
	if inner, ok := strings.CutPrefix(name, "list("); ok && strings.HasSuffix(inner, ")") && level < 8 {
		return &Type{Kind: List, Of: d.lookUpType(strings.TrimSuffix(inner, ")"), pos, level+1)}
	}
	if t := d.m.Types[name]; t != nil {
		return t
	}
	known := append(slices.Sorted(maps.Keys(d.m.Types)), "string", "int", "float", "bool", "time", "json")
	d.report(finding{
		code: "unknown-type", pos: pos, message: fmt.Sprintf("unknown type %q%s", name, suggestName(name, known)),
		repair: "use string, int, float, bool, time, json, list(T), {enum: [...]} or a name from `types`",
	})
	return &Type{Kind: JSON}
}

// decodeTypeOrEnum reads the type of a fact or setting from its two keys.
func (d *decoder) decodeTypeOrEnum(o object, what string) *Type {
	switch {
	case o.has("enum"):
		return d.decodeEnum(o.by["enum"].value)
	case o.has("type"):
		return d.decodeType(o.by["type"].value, 0)
	}
	d.report(finding{code: "missing-key", pos: o.pos, message: what + " has no type", repair: "add `type:` or `enum:`"})
	return &Type{Kind: JSON}
}

func (d *decoder) decodeSettings(n ast.Node) {
	for _, e := range d.mapEntries(n, "`settings`") {
		if !isName(e.key) {
			d.report(finding{code: "name-taken", pos: e.pos, message: fmt.Sprintf("%q is no name", e.key)})
			continue
		}
		o := d.decodeObject(e.value, "setting")
		o.pos = e.pos
		s := &Setting{Name: e.key, Label: d.decodeText(o.by["label"].value, "label"), Type: d.decodeTypeOrEnum(o, "setting "+e.key), Pos: e.pos}
		for key, to := range map[string]**float64{"min": &s.Min, "max": &s.Max, "step": &s.Step} {
			if o.has(key) {
				*to = d.decodeNumber(o.by[key].value, key)
			}
		}
		if o.has("default") {
			s.Default = d.decodeValue(o.by["default"].value, 0)
			d.recordPos("default", e.key, d.pos(o.by["default"].value))
		}
		if s.Label == "" {
			s.Label = s.Name
		}
		d.m.Settings = append(d.m.Settings, s)
	}
}

func (d *decoder) decodeFacts(n ast.Node) {
	for _, e := range d.mapEntries(n, "`facts`") {
		if reserved[e.key] || !isName(e.key) {
			d.report(finding{code: "name-taken", pos: e.pos, message: fmt.Sprintf("%q cannot be the name of a fact", e.key), repair: "choose another name"})
			continue
		}
		f := d.decodeFact(e)
		d.m.Facts = append(d.m.Facts, f)
		d.m.facts[f.Name] = f
	}
}

func (d *decoder) decodeFact(e entry) *Fact {
	f := &Fact{Name: e.key, Pos: e.pos}
	switch d.resolveNode(e.value).(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		f.Type = d.decodeType(e.value, 0)
		return f
	}
	o := d.decodeObject(e.value, "fact")
	o.pos = e.pos
	f.Type = d.decodeTypeOrEnum(o, "fact "+e.key)
	if o.has("for") {
		switch v := d.decodeText(o.by["for"].value, "for"); v {
		case "turn":
			f.Turn = true
		case "thread":
		default:
			d.reportForm(o.by["for"].value, "`for` must be thread or turn, not %q", v)
		}
	}
	if o.has("by") {
		if v := d.decodeText(o.by["by"].value, "by"); v != "person" {
			d.reportForm(o.by["by"].value, "`by` must be person, not %q", v)
		}
		f.Person = true
	}
	if o.has("default") {
		f.Default = d.decodeValue(o.by["default"].value, 0)
		d.recordPos("factDefault", e.key, d.pos(o.by["default"].value))
	}
	if o.has("is") {
		f.Is = d.decodeExpr(o.by["is"].value, "is")
		for _, key := range []string{"default", "by", "max", "for"} {
			if o.has(key) {
				d.reportForm(o.by[key].value, "a computed fact has no `%s`", key)
			}
		}
	}
	if o.has("max") {
		f.Max = d.decodeCount(o.by["max"].value, "max")
	}
	return f
}

func (d *decoder) decodeStart(n ast.Node) Start {
	s := Start{Pos: d.pos(n)}
	switch x := d.resolveNode(n).(type) {
	case nil:
	case *ast.SequenceNode:
		for _, item := range x.Values {
			o := d.decodeObject(item, "choice")
			c := &Choice{When: d.decodeExpr(o.by["when"].value, "when"), To: d.decodeText(o.by["to"].value, "to"), Pos: o.pos}
			c.Set.Set = d.decodeAssigns(o.by["set"].value, "set")
			s.Choices = append(s.Choices, c)
		}
	default:
		if to := d.decodeText(n, "`start`"); to == startAtCurrent {
			s.Stands = true
		} else {
			s.Choices = []*Choice{{To: to, Pos: s.Pos}}
		}
	}
	return s
}
