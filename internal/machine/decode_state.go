package machine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

func (d *decoder) decodeStates(n ast.Node) {
	list := d.mapEntries(n, "`states`")
	if len(list) > maxStates {
		d.report(finding{code: "too-large", pos: d.pos(n), message: fmt.Sprintf("the machine has %d states, more than %d", len(list), maxStates)})
		return
	}
	for _, e := range list {
		if !isName(e.key) {
			d.report(finding{code: "name-taken", pos: e.pos, message: fmt.Sprintf("%q cannot be the name of a state", e.key), repair: "use letters, digits and _"})
			continue
		}
		s := d.decodeState(e)
		d.m.States = append(d.m.States, s)
		d.m.states[s.Name] = s
	}
}

// keysByKind lists keys that only some kinds of states have.
var keysByKind = map[string][]StateKind{
	"terminal": {Agent}, "uses": {Agent}, "tools": {Agent}, "prompt": {Agent}, "inject": {Agent},
	"run": {StepK, Final}, "in": {StepK, Final, Ask}, "out": {StepK, Final}, "card": {Ask},
	"reasoning": {Agent, StepK}, "note": {Agent},
}

func (d *decoder) decodeState(e entry) *State {
	o := d.decodeObject(e.value, "state")
	o.pos = e.pos
	get := func(key string) ast.Node { return o.by[key].value }
	s := &State{Name: e.key, Pos: e.pos, Kind: StateKind(d.decodeText(get("kind"), "kind"))}
	switch s.Kind {
	case Agent, StepK, Ask, Pass, Final:
		for _, key := range o.order {
			d.rejectForeignKeys(s, key, o.keyPos(key))
		}
	case "":
		d.report(finding{code: "missing-key", pos: e.pos, message: "state " + e.key + " has no kind", repair: "add `kind: agent`, step, ask, pass or final"})
	default:
		d.reportForm(get("kind"), "`kind` must be agent, step, ask, pass or final, not %q", s.Kind)
	}
	if o.has("terminal") {
		s.Terminal = d.decodeFlag(get("terminal"), "terminal")
	}
	for _, n := range d.decodeItems(get("requires"), "`requires`") {
		s.Requires = append(s.Requires, d.decodePredicate(n))
	}
	for _, n := range d.decodeItems(get("tools"), "`tools`") {
		s.Offers = append(s.Offers, d.decodeOffer(n))
	}
	if o.has("prompt") {
		s.Prompt = d.decodeSections(get("prompt"))
	}
	s.Note = d.recordPrompt(get("note"))
	for _, n := range d.decodeItems(get("inject"), "`inject`") {
		s.Inject = append(s.Inject, d.decodeInject(n))
	}
	d.decodeUses(s, get("uses"))
	s.In, s.Out = d.decodeAssigns(get("in"), "in"), d.decodeOuts(get("out"))
	for _, n := range d.decodeItems(get("run"), "`run`") {
		s.Run = append(s.Run, d.decodeAlternative(n, s))
	}
	s.Card, s.Model = d.decodeText(get("card"), "card"), d.decodeText(get("model"), "model")
	for _, n := range d.decodeItems(get("go"), "`go`") {
		s.Go = append(s.Go, d.decodeTransition(n, "transition"))
	}
	if o.has("errors") {
		s.Errors = d.decodeErrors(get("errors"), Errors{Pos: o.keyPos("errors")})
	}
	if o.has("limits") {
		l := d.decodeLimits(get("limits"), Limits{})
		s.Limits = &l
	}
	if o.has("reasoning") {
		r := d.decodeObject(get("reasoning"), "reasoning")
		s.Reasoning = &Reasoning{Effort: d.decodeExpr(r.by["effort"].value, "effort"), Budget: d.decodeExpr(r.by["budget"].value, "budget")}
	}
	s.Complete = d.decodeExpr(get("complete"), "complete")
	s.Data = d.decodeAssigns(get("data"), "data")
	return s
}

// rejectForeignKeys reports the keys that this kind of state does not have.
func (d *decoder) rejectForeignKeys(s *State, key string, pos Pos) {
	of, limited := keysByKind[key]
	if !limited {
		return
	}
	var names []string
	for _, k := range of {
		if k == s.Kind {
			return
		}
		names = append(names, string(k))
	}
	d.report(finding{
		code: "agent-only", pos: pos, message: fmt.Sprintf("state %s is a %s and has no `%s`", s.Name, s.Kind, key),
		repair: fmt.Sprintf("remove it, or make the state `kind: %s`", strings.Join(names, "` or `")),
	})
}

var (
	predicateSet  = regexp.MustCompile(`^([A-Za-z_]\w*)$`)
	predicateTrue = regexp.MustCompile(`^([A-Za-z_]\w*)\s*==\s*true$`)
	predicateLen  = regexp.MustCompile(`^len\(\s*([A-Za-z_]\w*)\s*\)\s*>=\s*(\d{1,9})$`)
)

func (d *decoder) decodePredicate(n ast.Node) Predicate {
	p := Predicate{Source: strings.TrimSpace(d.decodeText(n, "a predicate of `requires`")), Pos: d.pos(n)}
	if m := predicateSet.FindStringSubmatch(p.Source); m != nil {
		p.Fact = m[1]
	} else if m := predicateTrue.FindStringSubmatch(p.Source); m != nil {
		p.Fact, p.IsTrue = m[1], true
	} else if m := predicateLen.FindStringSubmatch(p.Source); m != nil {
		p.Fact = m[1]
		p.Len, _ = strconv.Atoi(m[2])
	} else {
		d.reportForm(n, "a predicate of `requires` has the form x, x == true or len(x) >= n, not %q", p.Source)
	}
	return p
}

func (d *decoder) decodeOffer(n ast.Node) *Offer {
	t := &Offer{Pos: d.pos(n)}
	switch d.resolveNode(n).(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		t.Tool = d.decodeText(n, "a tool")
		return t
	}
	o := d.decodeObject(n, "offer")
	t.Tool, t.From = d.decodeText(o.by["name"].value, "name"), d.decodeText(o.by["from"].value, "from")
	if (t.Tool == "") == (t.From == "") {
		d.reportForm(n, "a tool needs either `name` or `from`")
	}
	t.When = d.decodeExpr(o.by["when"].value, "when")
	if o.has("approve") {
		t.Approve = Approval(d.decodeText(o.by["approve"].value, "approve"))
		switch t.Approve {
		case ApproveAlways, ApproveTainted, ApproveNever:
		default:
			d.reportForm(o.by["approve"].value, "`approve` must be always, tainted or never, not %q", t.Approve)
		}
	}
	return t
}

func (d *decoder) decodeSections(n ast.Node) []*Section {
	list, ok := d.resolveNode(n).(*ast.SequenceNode)
	if !ok {
		return []*Section{{Text: d.recordPrompt(n)}}
	}
	var out []*Section
	for _, item := range list.Values {
		switch d.resolveNode(item).(type) {
		case *ast.MappingNode, *ast.MappingValueNode:
			o := d.decodeObject(item, "section")
			if !o.has("file") {
				d.reportForm(item, "a section of `prompt` needs `file`")
				continue
			}
			out = append(out, &Section{Text: d.recordPrompt(o.by["file"].value), When: d.decodeExpr(o.by["when"].value, "when")})
		default:
			out = append(out, &Section{Text: d.recordPrompt(item)})
		}
	}
	return out
}

// recordPrompt notes the file name of a prompt; its text is read once all facts are
// known.
func (d *decoder) recordPrompt(n ast.Node) *Template {
	if n == nil {
		return nil
	}
	name := d.decodeText(n, "a prompt file")
	if name == "" {
		d.reportForm(n, "a prompt file needs a name")
		return nil
	}
	t := &Template{File: name}
	d.templates = append(d.templates, pendingTemplate{t, d.pos(n)})
	return t
}

type pendingTemplate struct {
	t   *Template
	pos Pos
}

// fillTemplates reads the prompts that were named and reports those that are
// missing or named nowhere.
func (d *decoder) fillTemplates() {
	parts := make(map[string][]part)
	for _, p := range d.templates {
		source, ok := d.m.Files[p.t.File]
		if !ok || p.t.File == File {
			d.report(finding{code: "prompt-file", pos: p.pos, message: fmt.Sprintf("there is no prompt file %s", p.t.File), repair: "write " + p.t.File + " beside " + File})
			continue
		}
		if _, done := parts[p.t.File]; !done {
			parts[p.t.File] = d.decodeTemplate(p.t.File, source).parts
		}
		p.t.parts = parts[p.t.File]
		d.named[p.t.File] = true
	}
	for name := range d.m.Files {
		if name != File && !d.named[name] {
			d.report(finding{
				code: "prompt-file", pos: Pos{File: name, Line: 1}, message: fmt.Sprintf("no `prompt` names %s", name),
				repair: "name it in a `prompt`, or remove the file", warn: true,
			})
		}
	}
}

func (d *decoder) decodeInject(n ast.Node) *Inject {
	o := d.decodeObject(n, "inject")
	i := &Inject{Pos: o.pos, Fact: d.decodeText(o.by["fact"].value, "fact"), Title: d.decodeText(o.by["title"].value, "title"), More: d.decodeText(o.by["more"].value, "more")}
	for key, to := range map[string]**Expr{"value": &i.Value, "rows": &i.Rows, "chars": &i.Chars, "of": &i.Of, "when": &i.When} {
		*to = d.decodeExpr(o.by[key].value, key)
	}
	if (i.Fact == "") == (i.Value == nil) {
		d.reportForm(n, "an injection needs either `fact` or `value`")
	}
	if i.Title == "" {
		i.Title = i.Fact
	}
	return i
}

func (d *decoder) decodeAlternative(n ast.Node, s *State) *Alternative {
	o := d.decodeObject(n, "alternative")
	a := &Alternative{When: d.decodeExpr(o.by["when"].value, "when"), Pos: o.pos}
	if !o.has("steps") {
		step := d.decodeStepOf(o)
		step.In, step.Out = joinTexts(s.In, step.In), joinedOuts(s.Out, step.Out)
		a.Steps = []*Step{step}
		return a
	}
	for _, key := range []string{"tool", "model", "in", "out"} {
		if o.has(key) {
			d.reportForm(o.by[key].value, "`%s` has no place beside `steps`: write it on a step", key)
		}
	}
	if len(s.In)+len(s.Out) > 0 {
		d.reportForm(n, "`in` and `out` of the state do not reach into `steps`: write them on each step")
	}
	for _, item := range d.decodeItems(o.by["steps"].value, "`steps`") {
		a.Steps = append(a.Steps, d.decodeStep(item, "step"))
	}
	if len(a.Steps) == 0 {
		d.reportForm(n, "`steps` is empty")
	}
	return a
}

func (d *decoder) decodeStep(n ast.Node, kind string) *Step {
	o := d.decodeObject(n, kind)
	s := d.decodeStepOf(o)
	s.When = d.decodeExpr(o.by["when"].value, "when")
	s.Stop = d.decodeExpr(o.by["stop"].value, "stop")
	return s
}

func (d *decoder) decodeStepOf(o object) *Step {
	s := &Step{Pos: o.pos, Tool: d.decodeText(o.by["tool"].value, "tool"), In: d.decodeAssigns(o.by["in"].value, "in"), Out: d.decodeOuts(o.by["out"].value)}
	if o.has("model") {
		mo := d.decodeObject(o.by["model"].value, "model step")
		s.Model = &ModelStep{Prompt: d.recordPrompt(mo.by["prompt"].value)}
		if s.Model.Prompt == nil {
			d.report(finding{code: "missing-key", pos: mo.pos, message: "a model step needs `prompt`", repair: "name a prompt file"})
		}
		if mo.has("output") {
			s.Model.Output = d.decodeOutput(mo.by["output"].value)
		} else {
			d.report(finding{code: "output-type", pos: mo.pos, message: "a model step needs `output`", repair: "name a record type of `types`"})
		}
	}
	if (s.Tool == "") == (s.Model == nil) {
		d.report(finding{code: "wrong-form", pos: o.pos, message: "a step needs either `tool` or `model`"})
	}
	return s
}

// decodeOutput reads the type that a model step must return: a record.
func (d *decoder) decodeOutput(n ast.Node) *Type {
	before := len(d.findings)
	t := d.decodeType(n, 0)
	for i := before; i < len(d.findings); i++ {
		if d.findings[i].Code == "unknown-type" {
			f := finding{code: "output-type", pos: d.findings[i].Pos, message: "the output of the model step has an " + d.findings[i].Message, repair: d.findings[i].Repair}
			d.findings[i] = f.public()
			return t
		}
	}
	if t.Kind != Record {
		d.report(finding{code: "output-type", pos: d.pos(n), message: "the output of a model step must be a record", repair: "name a record type of `types`"})
	}
	return t
}

func joinTexts(all, own []Assign) []Assign {
	out := make([]Assign, 0, len(all)+len(own))
	for _, a := range all {
		if !hasAssign(own, a.Name) {
			out = append(out, a)
		}
	}
	return append(out, own...)
}

func hasAssign(list []Assign, name string) bool {
	for _, a := range list {
		if a.Name == name {
			return true
		}
	}
	return false
}

func joinedOuts(all, own []Out) []Out {
	out := make([]Out, 0, len(all)+len(own))
	for _, a := range all {
		taken := false
		for _, b := range own {
			taken = taken || b.Fact == a.Fact
		}
		if !taken {
			out = append(out, a)
		}
	}
	return append(out, own...)
}

func (d *decoder) decodeErrors(n ast.Node, base Errors) *Errors {
	o := d.decodeObject(n, "errors")
	e := base
	if o.has("failures") {
		e.Failures = d.decodeCount(o.by["failures"].value, "failures")
		if e.Failures == 0 {
			d.reportForm(o.by["failures"].value, "`failures` must be 1 or more")
		}
	}
	if !o.has("then") {
		return &e
	}
	switch d.resolveNode(o.by["then"].value).(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		t := d.decodeObject(o.by["then"].value, "then")
		e.Skip = d.decodeText(t.by["skip"].value, "skip")
		e.Pos = t.keyPos("skip")
	default:
		if v := d.decodeText(o.by["then"].value, "then"); v != "inform_user" {
			d.reportForm(o.by["then"].value, "`then` must be inform_user or {skip: state}, not %q", v)
		}
	}
	return &e
}

func (d *decoder) decodeLimits(n ast.Node, base Limits) Limits {
	o := d.decodeObject(n, "limits")
	return Limits{
		Iterations: d.decodeExpr(o.by["iterations"].value, "iterations"), Seconds: d.decodeExpr(o.by["seconds"].value, "seconds"),
		Tokens: d.decodeExpr(o.by["tokens"].value, "tokens"), Dollars: d.decodeExpr(o.by["dollars"].value, "dollars"),
	}.withDefaults(base)
}

// withDefaults fills the limits that are not given from another set.
func (l Limits) withDefaults(base Limits) Limits {
	pick := func(a, b *Expr) *Expr {
		if a != nil {
			return a
		}
		return b
	}
	return Limits{pick(l.Iterations, base.Iterations), pick(l.Seconds, base.Seconds), pick(l.Tokens, base.Tokens), pick(l.Dollars, base.Dollars)}
}
