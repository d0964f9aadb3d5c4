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
	answerRefuse = "refuse"
)

func itoa(n int) string { return strconv.Itoa(n) }

// decideCall decides about the first open call. It checks, in the order that
// docs/machines.md lays down, what the state offers, the arguments, the moves that the
// call causes, duplicates and approval. The outcome is a refusal, a failure, an earlier
// result, a card, or the start of the call.
func (r *rules) decideCall(p calling, found *lookup) decision {
	c := p.Calls[0]
	s := r.readScope()
	if d := r.f.Turn.Direct; d != nil && d.Denied != nil {
		return decision{bodies: []event.Body{r.denyCall(c, []event.Denial{*d.Denied}, s)}}
	}
	a, refused := r.admitOnce(c, s, found)
	if refused != nil {
		return decision{bodies: []event.Body{refused}}
	}
	var before []event.Body
	signals := r.callSignals(p, a.args)
	if len(signals) > 0 || r.m.Reacts(r.f.State, startSignal(c)) {
		s = r.scope() // a reaction changes it
	}
	for _, sig := range signals {
		re, err := r.m.React(s, sig)
		if err != nil {
			return decision{bodies: []event.Body{r.newToolRefused(c, fault.From(err))}}
		}
		before = append(before, reactionEvents(re)...)
	}
	o, denied := r.findOffer(c.Name, s)
	if o == nil {
		return decision{bodies: append(before, r.denyCall(c, denied, s))}
	}
	if found == nil && r.mustLookUp(a) {
		return decision{lookup: &lookup{admitted: a}}
	}
	id := r.identify(a, found)
	if earlier, ok := r.duplicateResult(id, found); ok {
		b := event.ToolReturned{
			Call: c.ID, Tool: c.Name, Args: a.whole, Result: earlier.Result, Duplicate: earlier.Call, Version: id.version,
			Reason: fault.DuplicateCall, Taints: a.entry.Spec().Taints, Ran: earlier.Ran,
		}
		b.Person, b.Model = r.audiences(c.Name, func() *machine.Scope { return s })
		return decision{bodies: append(before, b)}
	}
	if r.needsApproval(o) {
		return decision{bodies: append(before, r.newApprovalCard(c, a))}
	}
	start, bad := r.startCall(c, a, id, "", s)
	if bad != nil {
		return decision{bodies: append(before, bad)}
	}
	return decision{bodies: append(before, start...)}
}

// An admitted call has a tool that may be called here and valid arguments. Duplicates
// and approval are checked after that.
type admitted struct {
	call         string
	entry        *tool.Entry
	args         map[string]any // the model's and those that the machine binds
	whole, shown event.Value
	rescued      []string
}

// admitOnce admits a call. After a lookup it returns what was admitted before it.
func (r *rules) admitOnce(c event.ModelCall, s *machine.Scope, found *lookup) (admitted, event.Body) {
	if found != nil && found.call == c.ID {
		return found.admitted, nil
	}
	return r.admit(c, s)
}

// admit finds the tool of a call and completes its arguments. If the tool may not be
// called here, refused is the result of the call.
func (r *rules) admit(c event.ModelCall, s *machine.Scope) (a admitted, refused event.Body) {
	if _, err := r.findTool(c.Name); err != nil {
		return a, r.newToolRefused(c, fault.New(fault.UnknownTool, "there is no tool %q", c.Name))
	}
	if !r.m.CallEdge(s, c.Name) {
		return a, r.newToolRefused(c, fault.New(fault.InvalidState, "%s means the state %q, and no way leads there from %q",
			c.Name, r.m.Calls[c.Name], r.f.State))
	}
	o, denied := r.findOffer(c.Name, s)
	if o == nil {
		return a, r.denyCall(c, denied, s)
	}
	entry := o.entry
	sent, rescued, bad := entry.Normalise(argsText(c.Args), r.m.Policies.Repair)
	if bad == nil && entry.Empty(sent) {
		bad = r.emptyCallFault(entry)
	}
	var whole map[string]any
	if bad == nil {
		whole, bad = r.bindArgs(c.Name, sent, o.narrow, s)
	}
	if bad == nil {
		bad = entry.Validate(whole)
	}
	if bad != nil {
		return a, r.newToolFailed(c.ID, c.Name, c.Args, bad)
	}
	a = admitted{call: c.ID, entry: entry, args: whole, shown: event.EncodeValue(sent), rescued: rescued}
	a.whole = a.shown
	if r.m.Tools[c.Name] != nil { // the machine may have bound some
		a.whole = event.EncodeValue(whole)
	}
	return a, nil
}

// argsText returns the arguments as the model sent them: JSON, or text that is not JSON.
func argsText(v event.Value) string {
	var text string
	if len(v.JSON) > 0 && v.JSON[0] == '"' && json.Unmarshal(v.JSON, &text) == nil {
		return text
	}
	return string(v.JSON)
}

// emptyCallFault says that a call came without its main argument. The first such calls
// of a turn get a code that does not count as a failure of the tool.
func (r *rules) emptyCallFault(entry *tool.Entry) *fault.Fault {
	spec := entry.Spec()
	code := fault.EmptyPayload
	if r.f.Turn.SentBack[spec.Name] < r.m.Policies.EmptyRetries {
		code = entry.EmptyRetry()
	}
	return fault.New(code, "%s came without %s", spec.Name, spec.Main).
		Suggest("Call %s again with the text in the argument %q.", spec.Name, spec.Main)
}

// findOffer returns the offer of a tool in the present state, nil if there is none, and
// the tools that are denied.
func (r *rules) findOffer(name string, s *machine.Scope) (*offer, []event.Denial) {
	offers, denied := r.offers(s)
	i := slices.IndexFunc(offers, func(o offer) bool { return o.entry.Spec().Name == name })
	if i < 0 {
		return nil, denied
	}
	return &offers[i], denied
}

// callSignals lists what the machine is told before a tool starts: `planned`, once in a
// turn, and `call` where the tool is listed in `calls`.
func (r *rules) callSignals(p calling, args map[string]any) []machine.Signal {
	t := r.f.Turn
	name := p.Calls[0].Name
	var out []machine.Signal
	if t.Direct == nil && t.CallReplies == 1 && len(p.Calls) == p.Made && t.Said != "" {
		out = append(out, machine.Signal{Name: machine.OnPlanned, Tool: name, Fields: map[string]any{"text": t.Said}})
	}
	if _, means := r.m.Calls[name]; means {
		out = append(out, machine.Signal{Name: machine.OnCall, Tool: name, Fields: map[string]any{"args": args}})
	}
	return out
}

// startSignal returns the signal of a call that starts, without its fields.
func startSignal(c event.ModelCall) machine.Signal {
	return machine.Signal{Name: machine.OnStarted, Tool: c.Name}
}

// startCall returns the events with which a call begins: the moves of `started`, then
// ToolStarted. If the state that it moves to does not offer the tool, the call is refused.
func (r *rules) startCall(c event.ModelCall, a admitted, id identity, approved string, s *machine.Scope) ([]event.Body, event.Body) {
	state, _ := s.State["name"].(string)
	re, sig := machine.Reaction{State: state}, startSignal(c)
	if r.m.Reacts(state, sig) {
		var err error
		sig.Fields = map[string]any{"args": a.whole.Decode()}
		if re, err = r.m.React(s, sig); err != nil {
			return nil, r.newToolRefused(c, fault.From(err))
		}
	}
	out := reactionEvents(re)
	if re.Moved() {
		if o, denied := r.findOffer(c.Name, s); o == nil {
			return nil, r.denyCall(c, denied, s)
		}
	}
	by := byModel
	if d := r.f.Turn.Direct; d != nil {
		by = d.By
	}
	return append(out, event.ToolStarted{
		Call: c.ID, Tool: c.Name, Args: a.whole, Shown: a.shown, State: re.State, By: by,
		Identity: id.hash, Version: id.version, Rescued: a.rescued, Approved: approved, Declared: a.entry.Digest(),
	}), nil
}

// An identity is equal for calls that give the same result: hash covers the tool, its
// arguments and version, which is the version of the data that the tool reads.
type identity struct{ hash, version string }

// A lookup asks for what a call depends on outside its thread, and carries the answer.
type lookup struct {
	admitted
	version string
	earlier event.Value // the result of an equal call, with its bytes
}

// mustLookUp reports whether a decision about the call needs something from outside the
// thread: the version of the data that it reads, or the stored result of an equal call.
func (r *rules) mustLookUp(a admitted) bool {
	if !r.m.Policies.Duplicates {
		return false
	}
	if _, versioned := a.entry.Tool.(tool.Versioner); versioned {
		return true
	}
	k, ok := r.findEarlierResult(r.identify(a, nil))
	return ok && !k.Result.Resolved()
}

// identify returns the identity of a call, or the zero identity if the call cannot be
// compared with others.
func (r *rules) identify(a admitted, found *lookup) identity {
	if !r.m.Policies.Duplicates {
		return identity{}
	}
	version := ""
	if _, versioned := a.entry.Tool.(tool.Versioner); versioned {
		if found == nil || found.version == "" {
			return identity{}
		}
		version = found.version
	}
	args := withoutArgs(a.whole.JSON, a.entry.Spec().IgnoreInIdentity)
	return identity{event.Hash(fmt.Appendf(nil, "%s\x00%s\x00%s", a.entry.Spec().Name, args, version)), version}
}

// withoutArgs returns the arguments without the named ones.
func withoutArgs(args json.RawMessage, names []string) json.RawMessage {
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

// findEarlierResult finds the result of an equal call of a model. A call that a person
// makes is never answered by an earlier result.
func (r *rules) findEarlierResult(id identity) (knownResult, bool) {
	t := r.f.Turn
	if id.hash == "" || t.Rerun || t.Direct != nil {
		return knownResult{}, false
	}
	k, ok := r.f.findKnown(id.hash)
	return k, ok && (r.m.Policies.AcrossTurns || k.Run == t.Run)
}

// duplicateResult returns the result of an equal call with its bytes. If the bytes cannot
// be had, the call runs again.
func (r *rules) duplicateResult(id identity, found *lookup) (knownResult, bool) {
	k, ok := r.findEarlierResult(id)
	if ok && !k.Result.Resolved() && found != nil && found.earlier.Hash == k.Result.Hash {
		k.Result = found.earlier
	}
	return k, ok && k.Result.Resolved()
}

// needsApproval reports whether a person must allow the call. Nothing that a model says
// changes the answer.
func (r *rules) needsApproval(o *offer) bool {
	spec := o.entry.Spec()
	if slices.Contains(r.f.Allowed, approvalKey(spec.Name, o.entry.Digest())) {
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

// approvalKey returns what a person allows for a whole thread: a built-in tool by its
// name, a found tool as it is declared now.
func approvalKey(name, digest string) string {
	if digest == "" {
		return name
	}
	return name + "@" + digest
}

// newApprovalCard returns the card that asks a person whether a call may run.
func (r *rules) newApprovalCard(c event.ModelCall, a admitted) event.CardRaised {
	why := "this tool always needs your word"
	if r.f.Tainted {
		why = "text from data, documents or servers has been read in this thread and could have asked for it"
	}
	content := map[string]any{"tool": c.Name, "arguments": a.shown.JSON, "why": why}
	if server := a.entry.Server(); server != "" {
		content["server"] = server
	}
	return event.CardRaised{
		Card: r.cardID(), Name: approvalCard, Title: "May " + c.Name + " run?", State: r.f.State, Call: c.ID, Declared: a.entry.Digest(),
		Content: event.EncodeValue(content),
		Answers: []event.CardChoice{
			{Name: allowOnce, Label: "Allow once", Key: "y"},
			{Name: allowThread, Label: "Allow in this thread"},
			{Name: answerRefuse, Label: "Refuse", Key: "n"},
		},
	}
}

// continueApproved decides about a call after a person has answered its approval card.
func (r *rules) continueApproved(c event.ModelCall, answer event.CardAnswered, found *lookup) decision {
	if answer.Answer == answerRefuse {
		f := fault.New(fault.ApprovalRefused, "the person refused %s", c.Name)
		if answer.Note != "" {
			f.Message += ": " + answer.Note
		}
		return decision{bodies: []event.Body{r.newToolRefused(c, f)}}
	}
	s := r.scope()
	a, refused := r.admitOnce(c, s, found)
	if refused != nil {
		return decision{bodies: []event.Body{refused}}
	}
	if found == nil && r.mustLookUp(a) {
		return decision{lookup: &lookup{admitted: a}}
	}
	start, bad := r.startCall(c, a, r.identify(a, found), answer.User, s)
	if bad != nil {
		return decision{bodies: []event.Body{bad}}
	}
	return decision{bodies: start}
}

// newToolRefused returns the result of a call that may not run.
func (r *rules) newToolRefused(c event.ModelCall, f *fault.Fault) event.ToolRefused {
	return event.ToolRefused{Call: c.ID, Tool: c.Name, Args: c.Args, State: r.f.State, Code: f.Code, Message: f.Message, Hint: f.Code.Entry().Hint}
}

// denyCall refuses a tool that the state does not offer now. The result carries the guard
// that failed and the values that it saw.
func (r *rules) denyCall(c event.ModelCall, denied []event.Denial, s *machine.Scope) event.ToolRefused {
	state, _ := s.State["name"].(string)
	b := r.newToolRefused(c, fault.New(fault.ToolNotAllowed, "the state %q does not offer %s", state, c.Name))
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

// audiences returns the parts of a tool's result that the person and the model see. s is
// called only if a guard must be evaluated.
func (r *rules) audiences(name string, s func() *machine.Scope) (person, model event.Show) {
	sh := r.m.Show[name]
	if sh == nil {
		return event.Show{All: true}, event.Show{All: true}
	}
	person, model = event.Show{All: sh.PersonAll, Fields: sh.Person}, event.Show{All: sh.ModelAll, Fields: sh.Model}
	if sh.PersonWhen != nil && !r.m.Holds(sh.PersonWhen, s()) {
		person = event.Show{}
	}
	return person, model
}
