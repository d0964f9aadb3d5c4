package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/machine"
	"interlock/internal/tool"
)

// The engine's own card, and its answers: may this call run?
const (
	approvalCard = "approval"
	allowOnce    = "allow_once"
	allowThread  = "allow_thread"
	refuseCall   = "refuse"
)

func itoa(n int) string { return strconv.Itoa(n) }

// call looks at one call of the model, in the order that the format lays down:
// what the state offers, the arguments, the moves that the call means, duplicates,
// approval. It ends in a refusal, a failure, an earlier result, a card, or a start.
func (r *rules) call(c event.ModelCall) decision {
	s := scope(r.m, r.f)
	if d := r.f.Turn.Direct; d != nil && d.Denied != nil {
		return decision{bodies: []event.Body{r.denial(c, []event.Denial{*d.Denied}, s)}}
	}
	entry, args, shown, rescued, refused := r.admit(c, s)
	if refused != nil {
		return decision{bodies: []event.Body{refused}}
	}
	var before []event.Body
	for _, sig := range r.callSignals(c.Name, args) {
		re, err := r.m.React(s, sig)
		if err != nil {
			return decision{bodies: []event.Body{r.refusal(c, fault.From(err))}}
		}
		before = append(before, bodies(re)...)
	}
	o, denied := r.offered(c.Name, s)
	if o == nil {
		return decision{bodies: append(before, r.denial(c, denied, s))}
	}
	whole := event.From(args)
	id := r.identity(entry, whole.JSON)
	if earlier, found := r.duplicate(id); found {
		b := event.ToolReturned{
			Call: c.ID, Tool: c.Name, Args: whole, Result: earlier.Result, Duplicate: earlier.Call, Version: id.version,
			Reason: fault.DuplicateCall, Taints: entry.Spec().Taints,
		}
		b.Person, b.Model = r.show(c.Name, s)
		return decision{bodies: append(before, b)}
	}
	if r.needsApproval(o) {
		return decision{bodies: append(before, r.approval(c, shown))}
	}
	start, bad := r.start(c, admitted{entry, whole, shown, rescued, id}, "", s)
	if bad != nil {
		return decision{bodies: append(before, bad)}
	}
	return decision{bodies: append(before, start...)}
}

// admit finds the tool of a call, if it may be called here, and its whole
// arguments. refused is the call's one result where it may not.
func (r *rules) admit(c event.ModelCall, s *machine.Scope) (entry *tool.Entry, args map[string]any, shown event.Value, rescued []string, refused event.Body) {
	entry, err := r.tools.Get(c.Name)
	if err != nil {
		return nil, nil, shown, nil, r.refusal(c, fault.New(fault.UnknownTool, "there is no tool %q", c.Name))
	}
	if !r.m.CallEdge(s, c.Name) {
		return nil, nil, shown, nil, r.refusal(c, fault.New(fault.InvalidState, "%s means the state %q, and no way leads there from %q",
			c.Name, r.m.Calls[c.Name], r.f.State))
	}
	o, denied := r.offered(c.Name, s)
	if o == nil {
		return nil, nil, shown, nil, r.denial(c, denied, s)
	}
	sent, rescued, bad := entry.Normalise(argsText(c.Args), r.m.Policies.Repair)
	if bad == nil && entry.Empty(sent) {
		bad = r.emptyCall(entry)
	}
	var whole map[string]any
	if bad == nil {
		whole, bad = r.bind(c.Name, sent, o.narrow, s)
	}
	if bad == nil {
		bad = entry.Validate(whole)
	}
	if bad != nil {
		return nil, nil, shown, nil, r.failure(c.ID, c.Name, c.Args, bad)
	}
	return entry, whole, event.From(sent), rescued, nil
}

// argsText is what the model sent, as text: raw JSON, or the text that was no JSON.
func argsText(v event.Value) string {
	var text string
	if json.Unmarshal(v.JSON, &text) == nil {
		return text
	}
	return string(v.JSON)
}

func (r *rules) emptyCall(entry *tool.Entry) *fault.Fault {
	spec := entry.Spec()
	code := fault.EmptyPayload
	if r.f.Turn.Empty[spec.Name] < r.m.Policies.EmptyRetries {
		code = entry.EmptyRetry()
	}
	return fault.New(code, "%s came without %s", spec.Name, spec.Main).
		Suggest("Call %s again with the text in the argument %q.", spec.Name, spec.Main)
}

func (r *rules) offered(name string, s *machine.Scope) (*offer, []event.Denial) {
	offers, denied := r.offers(s)
	i := slices.IndexFunc(offers, func(o offer) bool { return o.entry.Spec().Name == name })
	if i < 0 {
		return nil, denied
	}
	return &offers[i], denied
}

// callSignals are the events before a tool starts: the plan, once in a turn, and
// the call itself where it means a state.
func (r *rules) callSignals(name string, args map[string]any) []machine.Signal {
	t := r.f.Turn
	var out []machine.Signal
	if t.Direct == nil && t.CallReplies == 1 && len(t.Pending) == t.Batch && t.Said != "" {
		out = append(out, machine.Signal{Name: machine.OnPlanned, Tool: name, Fields: map[string]any{"text": t.Said}})
	}
	if _, means := r.m.Calls[name]; means {
		out = append(out, machine.Signal{Name: machine.OnCall, Tool: name, Fields: map[string]any{"args": args}})
	}
	return out
}

// admitted is a call that may run.
type admitted struct {
	entry        *tool.Entry
	whole, shown event.Value
	rescued      []string
	identity     identity
}

// start makes the events with which a call begins: the moves of `started`, then
// ToolStarted. A move that takes the tool away refuses the call.
func (r *rules) start(c event.ModelCall, a admitted, approved string, s *machine.Scope) ([]event.Body, event.Body) {
	re, err := r.m.React(s, machine.Signal{Name: machine.OnStarted, Tool: c.Name, Fields: map[string]any{"args": a.whole.Decode()}})
	if err != nil {
		return nil, r.refusal(c, fault.From(err))
	}
	out := bodies(re)
	if re.Moved() {
		if o, denied := r.offered(c.Name, s); o == nil {
			return nil, r.denial(c, denied, s)
		}
	}
	by := byModel
	if d := r.f.Turn.Direct; d != nil {
		by = d.By
	}
	return append(out, event.ToolStarted{
		Call: c.ID, Tool: c.Name, Args: a.whole, Shown: a.shown, State: re.State, By: by,
		Identity: a.identity.hash, Version: a.identity.version, Rescued: a.rescued, Approved: approved,
	}), nil
}

// identity names a call by what decides its result: tool, arguments, and the
// version of what it reads beside them.
type identity struct{ hash, version string }

func (r *rules) identity(entry *tool.Entry, args json.RawMessage) identity {
	if !r.m.Policies.Duplicates {
		return identity{}
	}
	version := r.version(entry, args)
	if _, versioned := entry.Tool.(tool.Versioner); versioned && version == "" {
		return identity{}
	}
	args = without(args, entry.Spec().Apart)
	return identity{event.Hash(fmt.Appendf(nil, "%s\x00%s\x00%s", entry.Spec().Name, args, version)), version}
}

// without leaves some arguments out.
func without(args json.RawMessage, names []string) json.RawMessage {
	var all map[string]json.RawMessage
	if len(names) == 0 || json.Unmarshal(args, &all) != nil {
		return args
	}
	for _, name := range names {
		delete(all, name)
	}
	left, err := json.Marshal(all)
	if err != nil {
		return args
	}
	return left
}

// duplicate finds the result that an equal call of a model gave. What a person calls
// always runs.
func (r *rules) duplicate(id identity) (known, bool) {
	t := r.f.Turn
	if id.hash == "" || t.Rerun || t.Direct != nil {
		return known{}, false
	}
	k, ok := r.f.knows(id.hash)
	if !ok || (!r.m.Policies.AcrossTurns && k.Run != t.Run) {
		return known{}, false
	}
	result, err := r.fetch(k.Result)
	if err != nil {
		return known{}, false // a result that is not there answers nothing: the call runs
	}
	k.Result = result
	return k, true
}

// needsApproval says whether a person must allow the call. Nothing that a model
// says changes the answer.
func (r *rules) needsApproval(o *offer) bool {
	spec := o.entry.Spec()
	if slices.Contains(r.f.Allowed, spec.Name) {
		return false
	}
	when := o.decl.Approve
	if when == "" {
		when = machine.ApproveNever
		if spec.Reaches {
			when = machine.ApproveTainted
		}
	}
	// A tool found at run time may call itself harmless; a declared `tainted` asks
	// only for those that can reach outside or write.
	harmless := !spec.Reaches && spec.Effect != tool.Writes
	switch when {
	case machine.ApproveAlways:
		return true
	case machine.ApproveTainted:
		return r.f.Tainted && !(o.decl.From != "" && harmless)
	}
	return false
}

func (r *rules) approval(c event.ModelCall, shown event.Value) event.CardRaised {
	why := "this tool always needs your word"
	if r.f.Tainted {
		why = "text from data, documents or servers has been read in this thread and could have asked for it"
	}
	return event.CardRaised{
		Card: r.cardID(), Name: approvalCard, Title: "May " + c.Name + " run?", State: r.f.State, Call: c.ID,
		Content: event.From(map[string]any{"tool": c.Name, "arguments": shown.JSON, "why": why}),
		Answers: []event.CardChoice{
			{Name: allowOnce, Label: "Allow once", Key: "y"},
			{Name: allowThread, Label: "Allow in this thread"},
			{Name: refuseCall, Label: "Refuse", Key: "n"},
		},
	}
}

// approved goes on with a call after the person's word.
func (r *rules) approved(c event.ModelCall, a event.CardAnswered) decision {
	if a.Answer == refuseCall {
		f := fault.New(fault.ApprovalRefused, "the person refused %s", c.Name)
		if a.Note != "" {
			f.Message += ": " + a.Note
		}
		return decision{bodies: []event.Body{r.refusal(c, f)}}
	}
	s := scope(r.m, r.f)
	entry, args, shown, rescued, refused := r.admit(c, s)
	if refused != nil {
		return decision{bodies: []event.Body{refused}}
	}
	whole := event.From(args)
	start, bad := r.start(c, admitted{entry, whole, shown, rescued, r.identity(entry, whole.JSON)}, a.User, s)
	if bad != nil {
		return decision{bodies: []event.Body{bad}}
	}
	return decision{bodies: start}
}

// refusal makes the one result of a call that may not run.
func (r *rules) refusal(c event.ModelCall, f *fault.Fault) event.ToolRefused {
	return event.ToolRefused{Call: c.ID, Tool: c.Name, Args: c.Args, State: r.f.State, Code: f.Code, Message: f.Message, Hint: f.Code.Entry().Hint}
}

// denial refuses a tool that the state does not offer now, with the reason as data.
func (r *rules) denial(c event.ModelCall, denied []event.Denial, s *machine.Scope) event.ToolRefused {
	state, _ := s.State["name"].(string)
	b := r.refusal(c, fault.New(fault.ToolNotAllowed, "the state %q does not offer %s", state, c.Name))
	i := slices.IndexFunc(denied, func(d event.Denial) bool { return d.Tool == c.Name })
	if i < 0 {
		return b
	}
	d := denied[i]
	b.Code, b.When, b.Saw, b.Hint = d.Code, d.When, d.Saw, d.Code.Entry().Hint
	switch d.Code {
	case fault.FeatureDisabled:
		b.Message = fmt.Sprintf("%s is switched off by a setting (%s)", c.Name, d.When)
	case fault.ToolUsedUp:
		b.Message = fmt.Sprintf("%s failed too often in this turn", c.Name)
	case fault.ToolNotAllowed:
		b.Message = fmt.Sprintf("the state %q offers %s only when %s", state, c.Name, d.When)
	}
	return b
}

// show says who sees which part of a tool's result.
func (r *rules) show(name string, s *machine.Scope) (person, model event.Show) {
	sh := r.m.Show[name]
	if sh == nil {
		return event.Show{All: true}, event.Show{All: true}
	}
	person, model = event.Show{All: sh.PersonAll, Fields: sh.Person}, event.Show{All: sh.ModelAll, Fields: sh.Model}
	if !r.m.Holds(sh.PersonWhen, s) {
		person = event.Show{}
	}
	return person, model
}
