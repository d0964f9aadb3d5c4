package engine

import (
	"maps"
	"strings"

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

// scope is what guards see of the thread, until its next event. Its facts and visits are
// the caller's own.
func (r *rules) scope() *machine.Scope {
	m, f := r.m, r.f
	s := &machine.Scope{
		Facts:    maps.Clone(f.facts),
		Settings: settings(m, f),
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

// readScope is a scope for reading only, made once for each place in the log.
func (r *rules) readScope() *machine.Scope {
	if r.view == nil || r.viewAt != r.f.Seq {
		r.view, r.viewAt = r.scope(), r.f.Seq
	}
	return r.view
}

// settings are the machine's defaults with what the thread changed.
func settings(m *machine.Machine, f *fold) map[string]any {
	if f.effective == nil {
		f.effective = make(map[string]any, len(m.Settings))
		for _, st := range m.Settings {
			f.effective[st.Name] = st.Default
		}
		maps.Copy(f.effective, f.Settings)
	}
	return f.effective
}

// turnEnv is `turn.` in guards. It is made anew only when its time has gone on.
func (r *rules) turnEnv() map[string]any {
	f, t := r.f, r.f.Turn
	elapsed := t.elapsed(f.Now).Milliseconds()
	if r.env != nil && r.envRun == t.Run && r.envAt == elapsed {
		return r.env
	}
	attached := make([]any, len(t.Attachments))
	for i, a := range t.Attachments {
		attached[i] = a
	}
	r.envRun, r.envAt, r.env = t.Run, elapsed, map[string]any{
		"model": t.Model, "text": t.Text, "user": t.User, "thread": f.Thread, "run": t.Run, "attachments": attached, "rerun": t.Rerun,
		"started": t.started, "elapsed_ms": float64(elapsed),
	}
	if t.Dataset != "" {
		r.env["dataset"] = t.Dataset
	}
	return r.env
}

// bodies turns what a machine says into events.
func bodies(r machine.Reaction) []event.Body {
	var out []event.Body
	for _, a := range r.Acts {
		if a.Move != nil {
			out = append(out, event.StateEntered{From: a.Move.From, To: a.Move.To, Cause: a.Move.Cause, When: a.Move.When, Saw: a.Move.Saw, Rest: a.Move.Rest})
			continue
		}
		if b, changed := factsChanged(a.Change, a.Cause); changed {
			out = append(out, b)
		}
	}
	return out
}

func factsChanged(c machine.Change, cause string) (event.Body, bool) {
	if c.Empty() && len(c.Problems) == 0 {
		return nil, false
	}
	b := event.FactsChanged{Dropped: c.Dropped, Cause: cause, Problems: c.Problems}
	if len(c.Set) > 0 {
		b.Set = make(map[string]event.Value, len(c.Set))
		for name, v := range c.Set {
			b.Set[name] = event.From(v)
		}
	}
	return b, true
}

// rerunAsked says whether the person asked for things to be run again: by a flag
// or by one of the machine's words. A model cannot.
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

// containsWord finds a word or phrase that stands alone in a text.
func containsWord(text, word string) bool {
	for from := 0; word != ""; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if (start == 0 || !letter(text[start-1])) && (end == len(text) || !letter(text[end])) {
			return true
		}
		from = end
	}
	return false
}

func letter(b byte) bool { return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b >= 0x80 }
