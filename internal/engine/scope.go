package engine

import (
	"maps"
	"strings"
	"time"

	"interlock/internal/event"
	"interlock/internal/machine"
)

// Who makes a call.
const (
	byModel    = "model"
	byStep     = "step"
	byDiscover = "discover"
	byShortcut = "shortcut"
	byDirect   = "direct"
)

// scope returns what guards see of the thread until its next event. The caller may change
// its facts and visits.
func (r *rules) scope() *machine.Scope {
	m, f := r.m, r.f
	s := &machine.Scope{
		Facts:    maps.Clone(f.facts),
		Settings: effectiveSettings(m, f),
		Trace:    r.trace,
		State:    map[string]any{"name": f.State, "last": f.Last, "waiting": f.Turn != nil && openCard(f.Turn.Phase) != nil},
	}
	for _, fact := range m.Facts {
		if _, set := s.Facts[fact.Name]; !set && fact.Default != nil && fact.Is == nil {
			s.Facts[fact.Name] = fact.Default
		}
	}
	if t := f.Turn; t != nil {
		s.Visits = maps.Clone(t.Visits)
		s.Turn = r.turnEnv()
	}
	return s
}

// readScope returns a scope that must not be changed. It is made once per event.
func (r *rules) readScope() *machine.Scope {
	if r.cachedScope == nil || r.cachedScopeSeq != r.f.Seq {
		r.cachedScope, r.cachedScopeSeq = r.scope(), r.f.Seq
	}
	return r.cachedScope
}

// effectiveSettings returns the machine's settings with the values that the thread has
// changed.
func effectiveSettings(m *machine.Machine, f *fold) map[string]any {
	if f.effective == nil {
		f.effective = make(map[string]any, len(m.Settings))
		for _, st := range m.Settings {
			f.effective[st.Name] = st.Default
		}
		maps.Copy(f.effective, f.Settings)
	}
	return f.effective
}

// turnEnv returns `turn` as guards see it. It is made again only when elapsed_ms changes.
func (r *rules) turnEnv() map[string]any {
	f, t := r.f, r.f.Turn
	elapsed := t.elapsed(f.Now).Milliseconds()
	direct := t.Direct != nil
	if r.cachedTurnEnv != nil && r.cachedEnvRun == t.Run && r.cachedEnvMS == elapsed && r.cachedTurnEnv["direct"] == direct {
		return r.cachedTurnEnv
	}
	attached := make([]any, len(t.Attachments))
	for i, a := range t.Attachments {
		attached[i] = a
	}
	r.cachedEnvRun, r.cachedEnvMS, r.cachedTurnEnv = t.Run, elapsed, map[string]any{
		"model": t.Model, "text": t.Text, "user": t.User, "thread": f.Thread, "run": t.Run, "attachments": attached, "rerun": t.Rerun,
		"started": t.started, "today": t.Started.UTC().Format(time.DateOnly), "elapsed_ms": float64(elapsed), "direct": direct,
	}
	if t.Context > 0 {
		r.cachedTurnEnv["context"] = float64(t.Context)
	}
	if t.Dataset != "" {
		r.cachedTurnEnv["dataset"] = t.Dataset
	}
	return r.cachedTurnEnv
}

// reactionEvents converts a reaction of the machine into events.
func reactionEvents(r machine.Reaction) []event.Body {
	var out []event.Body
	for _, a := range r.Acts {
		if a.Move != nil {
			out = append(out, event.StateEntered{From: a.Move.From, To: a.Move.To, Cause: a.Move.Cause, When: a.Move.When, Saw: a.Move.Saw, Rest: a.Move.Rest})
			continue
		}
		if b, changed := newFactsChanged(a.Change, a.Cause); changed {
			out = append(out, b)
		}
	}
	return out
}

// newFactsChanged returns the event of a change, and whether anything changed.
func newFactsChanged(c machine.Change, cause string) (event.Body, bool) {
	if c.Empty() && len(c.Problems) == 0 {
		return nil, false
	}
	b := event.FactsChanged{Dropped: c.Dropped, Cause: cause, Problems: c.Problems}
	if len(c.Set) > 0 {
		b.Set = make(map[string]event.Value, len(c.Set))
		for name, v := range c.Set {
			b.Set[name] = event.EncodeValue(v)
		}
	}
	return b, true
}

// rerunAsked reports whether the person asked for calls to be run again, by a flag or by
// one of the machine's words. A model cannot ask for it.
func rerunAsked(m *machine.Machine, in Input) bool {
	if in.Rerun {
		return true
	}
	text := strings.ToLower(in.Text)
	for _, w := range m.Policies.RerunWords {
		if containsWord(text, strings.ToLower(w)) {
			return true
		}
	}
	return false
}

// containsWord reports whether a text contains a word or phrase that is not part of a
// longer word.
func containsWord(text, word string) bool {
	for from := 0; word != ""; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if (start == 0 || !isWordByte(text[start-1])) && (end == len(text) || !isWordByte(text[end])) {
			return true
		}
		from = end
	}
	return false
}

func isWordByte(b byte) bool { return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b >= 0x80 }
