package machine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

func (d *decoder) states(n ast.Node) {
	list := d.entries(n, "`states`")
	if len(list) > maxStates {
		d.report(finding{code: "too-large", pos: d.pos(n), message: fmt.Sprintf("the machine has %d states, more than %d", len(list), maxStates)})
		return
	}
	for _, e := range list {
		if !isName(e.key) {
			d.report(finding{code: "name-taken", pos: e.pos, message: fmt.Sprintf("%q cannot be the name of a state", e.key), repair: "use letters, digits and _"})
			continue
		}
		s := d.state(e)
		d.m.States = append(d.m.States, s)
		d.m.states[s.Name] = s
	}
}

// keysByKind lists keys that only some kinds of states have.
var keysByKind = map[string][]StateKind{
	"terminal": {Agent}, "tools": {Agent}, "prompt": {Agent}, "inject": {Agent},
	"run": {StepK, Final}, "in": {StepK, Final, Ask}, "out": {StepK, Final}, "card": {Ask},
}

func (d *decoder) state(e entry) *State {
	o := d.object(e.value, "state")
	o.pos = e.pos
	get := func(key string) ast.Node { return o.by[key].value }
	s := &State{Name: e.key, Pos: e.pos, Kind: StateKind(d.text(get("kind"), "kind"))}
	switch s.Kind {
	case Agent, StepK, Ask, Pass, Final:
		for _, key := range o.order {
			d.fits(s, key, o.at(key))
		}
	case "":
		d.report(finding{code: "missing-key", pos: e.pos, message: "state " + e.key + " has no kind", repair: "add `kind: agent`, step, ask, pass or final"})
	default:
		d.wrong(get("kind"), "`kind` must be agent, step, ask, pass or final, not %q", s.Kind)
	}
	if o.has("terminal") {
		s.Terminal = d.flag(get("terminal"), "terminal")
	}
	for _, n := range d.items(get("requires"), "`requires`") {
		s.Requires = append(s.Requires, d.predicate(n))
	}
	for _, n := range d.items(get("tools"), "`tools`") {
		s.Offers = append(s.Offers, d.offer(n))
	}
	if o.has("prompt") {
		s.Prompt = d.sections(get("prompt"))
	}
	for _, n := range d.items(get("inject"), "`inject`") {
		s.Inject = append(s.Inject, d.inject(n))
	}
	s.In, s.Out = d.assigns(get("in"), "in"), d.outs(get("out"))
	for _, n := range d.items(get("run"), "`run`") {
		s.Run = append(s.Run, d.alternative(n, s))
	}
	s.Card, s.Model = d.text(get("card"), "card"), d.text(get("model"), "model")
	for _, n := range d.items(get("go"), "`go`") {
		s.Go = append(s.Go, d.transition(n, "transition"))
	}
	if o.has("errors") {
		s.Errors = d.errors(get("errors"), Errors{Pos: o.at("errors")})
	}
	if o.has("limits") {
		l := d.limits(get("limits"), Limits{})
		s.Limits = &l
	}
	s.Complete = d.expr(get("complete"), "complete")
	return s
}

// fits reports a key that this kind of state does not have.
func (d *decoder) fits(s *State, key string, pos Pos) {
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

func (d *decoder) predicate(n ast.Node) Predicate {
	p := Predicate{Source: strings.TrimSpace(d.text(n, "a predicate of `requires`")), Pos: d.pos(n)}
	if m := predicateSet.FindStringSubmatch(p.Source); m != nil {
		p.Fact = m[1]
	} else if m := predicateTrue.FindStringSubmatch(p.Source); m != nil {
		p.Fact, p.IsTrue = m[1], true
	} else if m := predicateLen.FindStringSubmatch(p.Source); m != nil {
		p.Fact = m[1]
		p.Len, _ = strconv.Atoi(m[2])
	} else {
		d.wrong(n, "a predicate of `requires` has the form x, x == true or len(x) >= n, not %q", p.Source)
	}
	return p
}

func (d *decoder) offer(n ast.Node) *Offer {
	t := &Offer{Pos: d.pos(n)}
	switch d.resolve(n).(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		t.Tool = d.text(n, "a tool")
		return t
	}
	o := d.object(n, "offer")
	t.Tool, t.From = d.text(o.by["name"].value, "name"), d.text(o.by["from"].value, "from")
	if (t.Tool == "") == (t.From == "") {
		d.wrong(n, "a tool needs either `name` or `from`")
	}
	t.When = d.expr(o.by["when"].value, "when")
	if o.has("approve") {
		t.Approve = Approval(d.text(o.by["approve"].value, "approve"))
		switch t.Approve {
		case ApproveAlways, ApproveTainted, ApproveNever:
		default:
			d.wrong(o.by["approve"].value, "`approve` must be always, tainted or never, not %q", t.Approve)
		}
	}
	return t
}

func (d *decoder) sections(n ast.Node) []*Section {
	list, ok := d.resolve(n).(*ast.SequenceNode)
	if !ok {
		return []*Section{{Text: d.promptFile(n)}}
	}
	var out []*Section
	for _, item := range list.Values {
		switch d.resolve(item).(type) {
		case *ast.MappingNode, *ast.MappingValueNode:
			o := d.object(item, "section")
			if !o.has("file") {
				d.wrong(item, "a section of `prompt` needs `file`")
				continue
			}
			out = append(out, &Section{Text: d.promptFile(o.by["file"].value), When: d.expr(o.by["when"].value, "when")})
		default:
			out = append(out, &Section{Text: d.promptFile(item)})
		}
	}
	return out
}

// promptFile names a prompt; its text is read once all facts are known.
func (d *decoder) promptFile(n ast.Node) *Template {
	if n == nil {
		return nil
	}
	name := d.text(n, "a prompt file")
	if name == "" {
		d.wrong(n, "a prompt file needs a name")
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
			parts[p.t.File] = d.template(p.t.File, source).parts
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

func (d *decoder) inject(n ast.Node) *Inject {
	o := d.object(n, "inject")
	i := &Inject{Pos: o.pos, Fact: d.text(o.by["fact"].value, "fact"), Title: d.text(o.by["title"].value, "title"), More: d.text(o.by["more"].value, "more")}
	for key, to := range map[string]**Expr{"value": &i.Value, "rows": &i.Rows, "chars": &i.Chars, "of": &i.Of, "when": &i.When} {
		*to = d.expr(o.by[key].value, key)
	}
	if (i.Fact == "") == (i.Value == nil) {
		d.wrong(n, "an injection needs either `fact` or `value`")
	}
	if i.Title == "" {
		i.Title = i.Fact
	}
	return i
}

func (d *decoder) alternative(n ast.Node, s *State) *Alternative {
	o := d.object(n, "alternative")
	a := &Alternative{When: d.expr(o.by["when"].value, "when"), Pos: o.pos}
	if !o.has("steps") {
		step := d.stepOf(o)
		step.In, step.Out = joined(s.In, step.In), joinedOuts(s.Out, step.Out)
		a.Steps = []*Step{step}
		return a
	}
	for _, key := range []string{"tool", "model", "in", "out"} {
		if o.has(key) {
			d.wrong(o.by[key].value, "`%s` has no place beside `steps`: write it on a step", key)
		}
	}
	if len(s.In)+len(s.Out) > 0 {
		d.wrong(n, "`in` and `out` of the state do not reach into `steps`: write them on each step")
	}
	for _, item := range d.items(o.by["steps"].value, "`steps`") {
		a.Steps = append(a.Steps, d.step(item, "step"))
	}
	if len(a.Steps) == 0 {
		d.wrong(n, "`steps` is empty")
	}
	return a
}

func (d *decoder) step(n ast.Node, kind string) *Step {
	o := d.object(n, kind)
	s := d.stepOf(o)
	s.When = d.expr(o.by["when"].value, "when")
	s.Stop = d.expr(o.by["stop"].value, "stop")
	return s
}

func (d *decoder) stepOf(o object) *Step {
	s := &Step{Pos: o.pos, Tool: d.text(o.by["tool"].value, "tool"), In: d.assigns(o.by["in"].value, "in"), Out: d.outs(o.by["out"].value)}
	if o.has("model") {
		mo := d.object(o.by["model"].value, "model step")
		s.Model = &ModelStep{Prompt: d.promptFile(mo.by["prompt"].value)}
		if s.Model.Prompt == nil {
			d.report(finding{code: "missing-key", pos: mo.pos, message: "a model step needs `prompt`", repair: "name a prompt file"})
		}
		if mo.has("output") {
			s.Model.Output = d.output(mo.by["output"].value)
		} else {
			d.report(finding{code: "output-type", pos: mo.pos, message: "a model step needs `output`", repair: "name a record type of `types`"})
		}
	}
	if (s.Tool == "") == (s.Model == nil) {
		d.report(finding{code: "wrong-form", pos: o.pos, message: "a step needs either `tool` or `model`"})
	}
	return s
}

// output reads the type that a model step must return: a record.
func (d *decoder) output(n ast.Node) *Type {
	before := len(d.findings)
	t := d.typeOf(n, 0)
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

func joined(all, own []Assign) []Assign {
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

func (d *decoder) errors(n ast.Node, base Errors) *Errors {
	o := d.object(n, "errors")
	e := base
	if o.has("failures") {
		e.Failures = d.count(o.by["failures"].value, "failures")
		if e.Failures == 0 {
			d.wrong(o.by["failures"].value, "`failures` must be 1 or more")
		}
	}
	if !o.has("then") {
		return &e
	}
	switch d.resolve(o.by["then"].value).(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		t := d.object(o.by["then"].value, "then")
		e.Skip = d.text(t.by["skip"].value, "skip")
		e.Pos = t.at("skip")
	default:
		if v := d.text(o.by["then"].value, "then"); v != "inform_user" {
			d.wrong(o.by["then"].value, "`then` must be inform_user or {skip: state}, not %q", v)
		}
	}
	return &e
}

func (d *decoder) limits(n ast.Node, base Limits) Limits {
	o := d.object(n, "limits")
	return Limits{
		Iterations: d.expr(o.by["iterations"].value, "iterations"), Seconds: d.expr(o.by["seconds"].value, "seconds"),
		Tokens: d.expr(o.by["tokens"].value, "tokens"), Dollars: d.expr(o.by["dollars"].value, "dollars"),
	}.or(base)
}

// or fills what is not given.
func (l Limits) or(base Limits) Limits {
	pick := func(a, b *Expr) *Expr {
		if a != nil {
			return a
		}
		return b
	}
	return Limits{pick(l.Iterations, base.Iterations), pick(l.Seconds, base.Seconds), pick(l.Tokens, base.Tokens), pick(l.Dollars, base.Dollars)}
}
