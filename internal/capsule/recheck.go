package capsule

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// Verdicts of a statement that was run again on today's data.
const (
	Same      = "same"
	Different = "different"
	Volatile  = "volatile" // the result depends on chance or the clock and may differ
	Skipped   = "skipped"  // the tool makes something else than a copy of what it read, so it was not run again
	Failed    = "failed"
)

// A Recheck compares the recorded result of a call with the one of today.
type Recheck struct {
	Call     string `json:"call"`
	Tool     string `json:"tool"`
	Verdict  string `json:"verdict"`
	Where    string `json:"where,omitempty"` // the first cell that differs
	Recorded string `json:"recorded,omitempty"`
	Today    string `json:"today,omitempty"`
	Note     string `json:"note,omitempty"`
}

// timings are fields of results that are not compared: they differ from run to run.
var timings = []string{"exec_time_ms", "execution_time_ms", "ms", "elapsed_ms"}

// RecheckCalls makes the calls of a run again on today's data and compares the results.
func RecheckCalls(ctx context.Context, s store.Store, tools *tool.Set, run string) ([]Recheck, error) {
	row, err := s.Run(ctx, run)
	if err != nil {
		return nil, fault.Wrap(err, fault.RunNotFound, "there is no run %q", run)
	}
	started := map[string]event.ToolStarted{}
	out := []Recheck{}
	for ev, err := range engine.Resolved(ctx, s, row.Thread, row.First-1) {
		if err != nil {
			return nil, err
		}
		if row.Last > 0 && ev.Seq > row.Last {
			break
		}
		switch b := ev.Body.(type) {
		case event.ToolStarted:
			started[b.Call] = b
		case event.ToolReturned:
			if st, ok := started[b.Call]; ok {
				out = append(out, recheckCall(ctx, tools, row, st, b))
			}
		}
	}
	return out, nil
}

// recheckCall makes one call again, unless its tool makes something new, and compares the
// results.
func recheckCall(ctx context.Context, tools *tool.Set, row store.Run, st event.ToolStarted, old event.ToolReturned) Recheck {
	r := Recheck{Call: st.Call, Tool: st.Tool}
	entry, err := tools.Get(st.Tool)
	if err != nil {
		r.Verdict, r.Note = Failed, err.Error()
		return r
	}
	spec := entry.Spec()
	if spec.Effect == tool.Writes && !spec.Keeps {
		r.Verdict, r.Note = Skipped, "it makes something; it was not run again"
		return r
	}
	res, err := entry.Call(tool.With(ctx, tool.Call{Owner: row.Owner, Thread: row.Thread, Run: row.ID, ID: st.Call, Dataset: row.Dataset, Question: row.Question, KeepNothing: true}), st.Args.JSON)
	if err != nil {
		r.Verdict, r.Note = Failed, fault.From(err).Message
		return r
	}
	var was, is any
	_ = json.Unmarshal(old.Result.JSON, &was) // both were valid JSON when they were made
	_ = json.Unmarshal(res.JSON, &is)
	if spec.Keeps {
		withoutCopy(was)
		withoutCopy(is)
	}
	where, a, b := firstDifference("", was, is)
	switch rec, _ := is.(map[string]any); {
	case where == "":
		r.Verdict = Same
	case rec["volatile"] == true || spec.Keeps && res.Volatile:
		r.Verdict = Volatile
	default:
		r.Verdict, r.Where, r.Recorded, r.Today = Different, where, a, b
	}
	return r
}

// withoutCopy leaves out of a result where a copy of it was kept.
func withoutCopy(result any) {
	if all, ok := result.(map[string]any); ok {
		delete(all, "result_id")
		delete(all, "artifact")
	}
}

// firstDifference returns the first place where two results differ and both values there.
// The place is "" if they are equal.
func firstDifference(at string, a, b any) (where, was, is string) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		keys := make([]string, 0, len(x)+len(y))
		for k := range x {
			keys = append(keys, k)
		}
		for k := range y {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range slices.Compact(keys) {
			if slices.Contains(timings, k) {
				continue
			}
			if w, p, q := firstDifference(joinPath(at, k), x[k], y[k]); w != "" {
				return w, p, q
			}
		}
		return "", "", ""
	case []any:
		y, ok := b.([]any)
		if !ok {
			break
		}
		for i := range max(len(x), len(y)) {
			var p, q any
			if i < len(x) {
				p = x[i]
			}
			if i < len(y) {
				q = y[i]
			}
			if w, p, q := firstDifference(fmt.Sprintf("%s[%d]", at, i), p, q); w != "" {
				return w, p, q
			}
		}
		return "", "", ""
	}
	was, is = jsonText(a), jsonText(b)
	if was == is {
		return "", "", ""
	}
	if at == "" {
		at = "result"
	}
	return at, was, is
}

func joinPath(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func jsonText(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}
