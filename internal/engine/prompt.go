package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock/internal/event"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
)

// callModel returns the event of a model call. Prompt, tools and history become blobs; the
// rest of the request is the turn's log. sp is the step of the call, nil in an agent state.
func (r *rules) callModel(sp *machine.Step, at *event.StepAt) event.ModelCalled {
	t := r.f.Turn
	s := r.readScope()
	b := event.ModelCalled{Call: t.Run + "_m" + itoa(t.Models+1), State: r.f.State, Number: t.Models + 1}
	if st := r.m.State(r.f.State); st != nil {
		b.Model, b.Reasoning = st.Model, r.reasoning(st, s)
	}
	if sp != nil {
		b.Step = at
		b.System = r.addBlob([]byte(r.stepPrompt(sp, s)))
		b.Output = r.addBlob(encodeTypeSchema(sp.Model.Output))
		b.History = r.addBlob(r.stepInput(sp, s))
		return b
	}
	offers, denied := r.offers(s)
	switch b.Number {
	case lastToolCall(r.currentLimits().iterations):
		b.Note = "Tools can be used this one time more in this turn. Make the calls that the answer needs; then you will be asked to answer."
	case lastAnswer(r.currentLimits().iterations):
		offers = nil
		b.Note = "The calls of this turn are used up. Answer now from what you have found, and say what is missing."
	}
	for _, o := range offers {
		b.Offered = append(b.Offered, o.entry.Spec().Name)
	}
	b.Denied = denied
	if b.Note == "" {
		b.Note = r.stateNote(s)
	}
	b.System = r.addBlob([]byte(r.systemPrompt(s)))
	if len(offers) > 0 {
		if last := &r.lastRequest; !sameOffers(offers, last.offers) {
			last.offers, last.tools = offers, toolSpecs(offers)
			last.toolsHash = r.addBlob(mustJSON(last.tools))
		}
		b.Tools = r.lastRequest.toolsHash
	}
	if t.history == "" {
		past := r.pastMessages(s)
		t.history = r.addBlob(mustJSON(past))
		r.lastRequest.history, r.lastRequest.historyHash = past, t.history
	}
	b.History = t.history
	return b
}

// stateNote returns what the state tells a model that is asked again after a text of its
// own; "" if its last word was no such text.
func (r *rules) stateNote(s *machine.Scope) string {
	lines, st := r.f.Turn.Lines, r.m.State(r.f.State)
	if st == nil || st.Note == nil || len(lines) == 0 {
		return ""
	}
	if last := lines[len(lines)-1]; last.Role != "assistant" || len(last.Calls) > 0 {
		return ""
	}
	text, err := r.m.Render(st.Note, s)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(text)
}

// reasoning returns how much the model of a state is asked to think; nil if the state does
// not say.
func (r *rules) reasoning(st *machine.State, s *machine.Scope) *event.Reasoning {
	if st.Reasoning == nil {
		return nil
	}
	var out event.Reasoning
	if st.Reasoning.Effort != nil {
		v, _ := r.m.Eval(st.Reasoning.Effort, s)
		if word, _ := v.(string); slices.Contains(machine.Efforts, word) {
			out.Effort = word
		}
	}
	out.Budget = max(0, r.m.Int(st.Reasoning.Budget, s, 0))
	if out == (event.Reasoning{}) {
		return nil
	}
	return &out
}

// fewestWarned is the smallest limit of model calls at which the model is warned: with fewer
// calls the warning would take the tools away too soon.
const fewestWarned = 4

// lastToolCall returns the number of the last model call of a turn that offers tools, 0 if
// the limit is too small for a warning.
func lastToolCall(limit int) int { return max(0, lastAnswer(limit)-1) }

// lastAnswer returns the number of the model call that can only answer.
func lastAnswer(limit int) int {
	if limit < fewestWarned {
		return 0
	}
	return limit
}

// A modelInput is the decoded content of the blobs of the last model call.
type modelInput struct {
	offers                 []offer // those of tools
	tools                  []llm.Tool
	history                []llm.Message
	toolsHash, historyHash string
}

// addBlob adds a blob to the next batch and returns its hash.
func (r *rules) addBlob(raw []byte) string {
	h := event.Hash(raw)
	if r.madeBlobs == nil {
		r.madeBlobs = map[string][]byte{}
	}
	if _, ok := r.madeBlobs[h]; !ok {
		r.madeBlobs[h] = raw
		r.blobs = append(r.blobs, store.Blob{Hash: h, Bytes: raw})
	}
	return h
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("engine: %T is no JSON: %v", v, err))
	}
	return raw
}

// systemPrompt joins the base rules, the grounding section, the state's sections, its
// injections and the list of artifacts, in this order.
func (r *rules) systemPrompt(s *machine.Scope) string {
	var parts []string
	add := func(t *machine.Template) {
		if t == nil {
			return
		}
		if text, err := r.m.Render(t, s); err == nil && strings.TrimSpace(text) != "" {
			parts = append(parts, strings.TrimSpace(text))
		}
	}
	add(r.m.Base)
	add(r.m.Ground)
	st := r.m.State(r.f.State)
	for _, sec := range st.Prompt {
		if r.m.Holds(sec.When, s) {
			add(sec.Text)
		}
	}
	for _, in := range st.Inject {
		if text := r.renderInjection(in, s); text != "" {
			parts = append(parts, text)
		}
	}
	if r.m.Policies.Inventory {
		if text := artifactList(r.f.Artifacts, r.m.Int(r.m.Policies.InventoryMax, s, 30)); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// renderInjection writes a fact or value under its title, cut to the size that the machine
// allows, with a note of what was cut.
func (r *rules) renderInjection(in *machine.Inject, s *machine.Scope) string {
	if !r.m.Holds(in.When, s) {
		return ""
	}
	var v any
	if in.Value != nil {
		v, _ = r.m.Eval(in.Value, s)
	} else {
		v = r.m.Value(in.Fact, s)
	}
	if v == nil {
		return ""
	}
	items, isList := v.([]any)
	if isList && len(items) == 0 {
		return ""
	}
	rows, chars := r.m.Int(in.Rows, s, len(items)), r.m.Int(in.Chars, s, 1<<20)
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n", in.Title)
	shown := 0
	switch {
	case isList:
		size := 0
		for _, item := range items[:min(rows, len(items))] {
			text := plainText(item)
			if size += len(text) + 1; size > chars {
				break
			}
			b.WriteString(text)
			b.WriteByte('\n')
			shown++
		}
	default:
		text := plainText(v)
		if runes := []rune(text); len(runes) > chars {
			text = string(runes[:chars]) + fmt.Sprintf("\n(cut: %d of %d characters shown)", chars, len(runes))
		}
		b.WriteString(text)
	}
	total := len(items)
	if n := r.m.Int(in.Of, s, 0); n > total {
		total = n
	}
	if isList && shown < total {
		fmt.Fprintf(&b, "%s of %s shown", groupDigits(shown), groupDigits(total))
		if in.More != "" {
			fmt.Fprintf(&b, "; %s shows the rest", in.More)
		}
	}
	return strings.TrimSpace(b.String())
}

// plainText returns a text as it is, and any other value as JSON.
func plainText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return plainJSONText(v)
}

// groupDigits formats 4312 as 4,312.
func groupDigits(n int) string {
	text := itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// artifactList lists the newest artifacts of the thread for the prompt, and counts the
// older ones.
func artifactList(made []event.ArtifactMade, most int) string {
	if len(made) == 0 || most <= 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Artifacts that exist\nReuse them by name, as tools take it; do not make one of these again.\n")
	for i := range min(most, len(made)) {
		a := made[len(made)-1-i]
		fmt.Fprintf(&b, "- artifact_id=%s name=%q type=%s created_at=%s source_call_id=%s producer=%s", a.ID, a.Name, a.Type,
			a.CreatedAt.UTC().Format(time.RFC3339), a.Call, a.Producer)
		if a.LogicalKey != "" {
			fmt.Fprintf(&b, " logical_key=%s", a.LogicalKey)
		}
		if a.Version > 1 {
			fmt.Fprintf(&b, " version=%d", a.Version)
		}
		b.WriteByte('\n')
	}
	if older := len(made) - most; older > 0 {
		fmt.Fprintf(&b, "and %s older\n", groupDigits(older))
	}
	return strings.TrimSpace(b.String())
}

func (r *rules) stepPrompt(sp *machine.Step, s *machine.Scope) string {
	text, err := r.m.Render(sp.Model.Prompt, s)
	if err != nil {
		return ""
	}
	return text
}

// stepInput returns the message of a model step: its inputs by name, in the order of the
// definition, so that what stays the same can stand before what changes.
func (r *rules) stepInput(sp *machine.Step, s *machine.Scope) []byte {
	var b strings.Builder
	for _, a := range sp.In {
		if v, err := r.m.Eval(a.Expr, s); err == nil && v != nil {
			fmt.Fprintf(&b, ",\n%s: %s", plainJSONText(a.Name), plainJSONText(v))
		}
	}
	return mustJSON([]llm.Message{{Role: llm.User, Text: "{" + strings.TrimPrefix(b.String(), ",") + "\n}"}})
}

// encodeTypeSchema returns the JSON Schema of a declared type.
func encodeTypeSchema(t *machine.Type) []byte { return mustJSON(schemaOf(t)) }

func schemaOf(t *machine.Type) map[string]any {
	if t == nil {
		return map[string]any{}
	}
	switch t.Kind {
	case machine.Int:
		return map[string]any{"type": "integer"}
	case machine.Float:
		return map[string]any{"type": "number"}
	case machine.Bool:
		return map[string]any{"type": "boolean"}
	case machine.String:
		return map[string]any{"type": "string"}
	case machine.Time:
		return map[string]any{"type": "string", "format": "date-time"}
	case machine.Enum:
		return map[string]any{"type": "string", "enum": t.Values}
	case machine.List:
		return map[string]any{"type": "array", "items": schemaOf(t.Of)}
	case machine.Record:
		props := orderedObject{names: t.Order, values: make(map[string]any, len(t.Fields))}
		for name, ft := range t.Fields {
			props.values[name] = schemaOf(ft)
		}
		return map[string]any{"type": "object", "properties": props, "required": t.Order, "additionalProperties": false}
	}
	return map[string]any{}
}

// An orderedObject is a JSON object whose members keep their order. A model that is held to
// a schema writes its fields in that order: what it decides last must be declared last.
type orderedObject struct {
	names  []string
	values map[string]any
}

// MarshalJSON writes the members in the order of their names.
func (o orderedObject) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(mustJSON(name))
		b.WriteByte(':')
		b.Write(mustJSON(o.values[name]))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
