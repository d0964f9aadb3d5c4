package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"interlock/internal/event"
	"interlock/internal/figure"
	"interlock/internal/machine"
)

// Bounds of what a thread keeps for the origins of figures. The newest are kept.
const (
	keepResults = figure.MaxResults
	keepGiven   = 50
)

// A heldResult is the result of a call that the figures of an answer may come from. A large
// one is kept as a reference.
type heldResult struct {
	Call   string
	Args   event.Value `json:",omitzero"` // that the model chose
	Result event.Value
	Ran    *event.Ran `json:",omitempty"` // the statement that gave it
	Step   bool       `json:",omitempty"` // a step of the machine made the call
}

// holdResult keeps the result of a call for the origins of figures. A duplicate makes the
// earlier result the newest.
func (f *fold) holdResult(b event.ToolReturned) {
	h := heldResult{Call: b.Call, Args: b.Args.WithoutBytes(), Result: b.Result.WithoutBytes(), Ran: b.Ran}
	if b.Duplicate != "" {
		h.Call = b.Duplicate
	}
	if s := runningCall(f.Turn.Phase); s != nil && s.Call == b.Call {
		h.Args, h.Step = s.Shown.WithoutBytes(), s.By == byStep || s.By == byDiscover
		if h.Step { // of what a machine binds only what ran matters
			h.Args = event.Value{JSON: figure.ProgramArgs(s.Args.JSON)}
		}
	}
	held := slices.DeleteFunc(slices.Clone(f.Results), func(o heldResult) bool { return o.Call == h.Call })
	f.Results = append(held, h)[max(0, len(held)+1-keepResults):]
}

// holdGiven keeps what the person filled in during the turn, besides messages.
func (f *fold) holdGiven(note string, fields map[string]any) {
	given := slices.Clone(f.Given)
	if note != "" {
		given = append(given, note)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		given = append(given, name+" "+plainText(fields[name]))
	}
	f.Given = given[max(0, len(given)-keepGiven):]
}

// withFigures adds the origins of the figures in the answer to the events that end a turn.
func (t *turn) withFigures(bodies []event.Body) []event.Body {
	if t.e.cfg.SkipFigures || !t.r.m.Policies.Origins || len(bodies) == 0 {
		return bodies
	}
	last := len(bodies) - 1
	end, ok := bodies[last].(event.TurnEnded)
	if !ok || !t.r.givesAnswer(end) || !figure.Holds(end.Text) {
		return bodies
	}
	if recorded := t.e.cfg.RecordedFigures; recorded != nil && recorded.Rules != figure.Rules {
		return slices.Insert(bodies, last, event.Body(*recorded))
	}
	traced, _ := t.r.traceFigures(end.Text, t.fetchAnyway)
	if len(traced.Figures) == 0 {
		return bodies
	}
	return slices.Insert(bodies, last, event.Body(traced))
}

// maxUnsupported bounds the figures without an origin that are told of one reply.
const maxUnsupported = 10

// unsupportedFigures returns the figures of a reply that have no origin and stand in nothing
// that the model was told, each once; none where not all evidence could be read.
func (t *turn) unsupportedFigures(call, text string) []string {
	if recorded := t.e.cfg.RecordedUnsupported; recorded != nil {
		return recorded(call)
	}
	if !t.r.m.Policies.Origins || !t.r.m.Reacts(t.f.State, machine.Signal{Name: machine.OnFinal}) || !figure.Holds(text) {
		return nil
	}
	e := t.r.evidence(text, t.fetchAnyway)
	figures, cut := figure.Trace(text, e)
	if cut {
		return nil
	}
	var out []string
	for _, f := range figure.Unexplained(figures, e) {
		if !slices.Contains(out, f.Text) && len(out) < maxUnsupported {
			out = append(out, f.Text)
		}
	}
	return out
}

// givesAnswer reports whether the text of an ended turn is an answer, and no explanation of
// the engine. Of a turn that was stopped or failed only what the model said is one.
func (r *rules) givesAnswer(b event.TurnEnded) bool {
	if b.Text == "" || b.Status != event.Stopped && (b.Code == "" || b.Status == event.Limited) {
		return b.Text != ""
	}
	said := cmp.Or(r.f.Turn.Final, r.f.Turn.Said)
	return said != "" && strings.Contains(b.Text, said)
}

// fetchAnyway loads a value although the turn may have been cancelled: what a log says must
// not depend on when a process was asked to end.
func (t *turn) fetchAnyway(v event.Value) (event.Value, error) {
	return t.fetchWith(context.WithoutCancel(t.ctx), v)
}

// traceFigures finds where the figures of an answer, or of a report, come from, and how the
// results are named. It depends on the log alone, so that a replay finds the same: its bounds
// are counts and not times.
func (r *rules) traceFigures(answer string, fetch func(event.Value) (event.Value, error)) (b event.FiguresTraced, names map[string]string) {
	e := r.evidence(answer, fetch)
	figures, cut := figure.Trace(answer, e)
	b = event.FiguresTraced{Run: r.f.Turn.Run, Figures: figures, Cut: cut, Rules: figure.Rules}
	for _, f := range figures {
		switch {
		case f.Unsupported():
			b.Unsupported++
		case f.Support == figure.Contradicted:
			b.Contradicted++
		case f.Support == figure.Weak:
			b.Weak++
		}
	}
	return b, e.Names
}

// evidence gathers what the figures of an answer may come from: the results of the thread,
// the newest first, what the person said in this turn, and what the machine was told to do.
// What was said and answered in earlier turns is no evidence: only the results of them are.
func (r *rules) evidence(answer string, fetch func(event.Value) (event.Value, error)) figure.Evidence {
	var e figure.Evidence
	left := figure.MaxBytes
	for _, h := range slices.Backward(r.f.Results) {
		result, err := fetch(h.Result)
		if left -= len(result.JSON); left < 0 || err != nil {
			e.Cut = true
			break
		}
		from := figure.Result{ID: h.Call, Output: result.JSON}
		if h.Ran != nil {
			from.SQL, from.Lineage = h.Ran.SQL, h.Ran.Lineage
			for _, f := range h.Ran.Frames {
				from.Frames = append(from.Frames, f.Name)
			}
		}
		if given, err := fetch(h.Args); err == nil {
			from.Args = given.JSON
		}
		if h.Step { // a step that words the answer does not support it
			from.Answer = answer
		}
		e.AddResult(from)
	}
	for _, m := range slices.Backward(r.f.Messages) {
		if m.Role == "user" && m.RunID == r.f.Turn.Run && len(e.Questions) < keepGiven {
			e.Questions = append(e.Questions, m.Content)
		}
	}
	e.Questions = append(e.Questions, r.f.Given...)
	settings := effectiveSettings(r.m, r.f)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		switch n := settings[name].(type) {
		case int, int64, float64:
			e.AddSetting(name, n)
		}
	}
	return e
}
