package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/fault"
)

// Severity of a finding. A definition with errors does not load.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// A Finding is one fault of a definition: what, where, how one gets there and how
// to repair it.
type Finding struct {
	Code     string   `json:"code"`
	Number   int      `json:"number"`
	Severity Severity `json:"severity"`
	Pos      Pos      `json:"pos"`
	Message  string   `json:"message"`
	Path     []string `json:"path,omitempty"` // states and edges from the start to the place
	Repair   string   `json:"repair,omitempty"`
}

// String is the finding in one to three lines, the first beginning with its place.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s [%d %s]", f.Pos, f.Severity, f.Message, f.Number, f.Code)
	if len(f.Path) > 0 {
		fmt.Fprintf(&b, "\n    path: %s", strings.Join(f.Path, "; "))
	}
	if f.Repair != "" {
		fmt.Fprintf(&b, "\n    repair: %s", f.Repair)
	}
	return b.String()
}

// Findings is every fault of a definition at once. It is the error of Load.
type Findings []Finding

func (fs Findings) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Errors returns the findings that keep a definition from loading.
func (fs Findings) Errors() Findings {
	var errs Findings
	for _, f := range fs {
		if f.Severity == Error {
			errs = append(errs, f)
		}
	}
	return errs
}

// A Flaw is a kind of finding.
type Flaw struct {
	Number   int      `json:"number"`
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Meaning  string   `json:"meaning"`
}

var flaws = []Flaw{
	{1, "unknown-key", Error, "a key that the format does not have"},
	{2, "unknown-state", Error, "an unknown state in `to`, `from`, `state`, `calls`, `start`, `skip` or `visits()`"},
	{3, "unknown-fact", Error, "an unknown fact in an expression, a predicate or `drop`"},
	{4, "unknown-setting", Error, "an unknown setting"},
	{5, "unknown-event", Error, "an unknown event in `on`"},
	{6, "unknown-type", Error, "an unknown type"},
	{7, "unknown-tool", Error, "a tool that neither the machine offers nor the program has"},
	{8, "unknown-card", Error, "an unknown card"},
	{9, "bad-answer-command", Error, "an answer with an unknown command, or one not allowed where the card is raised"},
	{10, "unknown-field", Error, "an unknown field of `turn`, `state`, `event` or a record"},
	{11, "guard-syntax", Error, "an expression with a syntax error"},
	{12, "enum-typo", Error, "a comparison with a value that the enum does not have"},
	{13, "enum-value", Error, "a value written or defaulted that the enum does not have"},
	{14, "append-no-list", Error, "`append` or `keep` on what is no list, `increment` of what is no number"},
	{15, "bad-write", Error, "an unknown or computed fact is written"},
	{16, "unreachable-state", Error, "a state that cannot be reached"},
	{17, "no-way-out", Error, "a state without a way out"},
	{18, "terminal-way-out", Error, "a `terminal` state with a way out"},
	{19, "dead-transition", Error, "a transition behind an unguarded one of the same event"},
	{20, "stuck", Error, "a step, ask or pass whose last transition is guarded"},
	{21, "failure-nowhere", Error, "a step whose failure leads nowhere"},
	{22, "unbounded-cycle", Error, "a cycle without a bound"},
	{23, "start-no-last", Error, "a start list without an unguarded last choice"},
	{24, "start-dead-choice", Error, "a start choice behind an unguarded one"},
	{25, "requires-guard", Error, "a required fact that the guard of the way in does not prove"},
	{26, "requires-dropped", Error, "a required fact that the way in drops"},
	{27, "requires-min", Error, "a required length that the `min` of the setting does not reach"},
	{28, "requires-other-way", Error, "a required fact that another way in lacks"},
	{29, "requires-out", Error, "a required fact that no `out` of the step before gives"},
	{30, "requires-failure", Error, "a required fact that is missing when the step before failed"},
	{31, "requires-early-exit", Error, "a required fact that an early exit skips"},
	{32, "requires-inside", Error, "a required fact that can be lost while in the state"},
	{33, "person-effect", Error, "a fact `by: person` written by an effect"},
	{34, "person-edge", Error, "a fact `by: person` written by a transition, a step or the start"},
	{35, "tool-nowhere", Warning, "a tool bound, shown or meant but offered nowhere"},
	{36, "edge-tool", Error, "a transition that waits for a tool its state does not offer"},
	{37, "call-no-edge", Error, "an offered tool whose `calls` state cannot be reached from here"},
	{38, "many-to", Error, "a list in `to` without `call` or `planned`"},
	{39, "ask-no-card", Error, "an ask without a card"},
	{40, "card-unraised", Warning, "a card that nothing raises"},
	{41, "card-no-answer", Error, "a card that nobody can answer"},
	{42, "message-no-answer", Error, "`message` names no answer of the card"},
	{43, "setting-range", Error, "a setting's default outside `min` and `max`"},
	{44, "setting-enum", Error, "a setting's default outside its enum"},
	{45, "setting-no-default", Error, "a setting without a default"},
	{46, "inject-unknown", Error, "`inject` of an unknown fact"},
	{47, "more-not-offered", Error, "`more` names a tool that the state does not offer"},
	{48, "output-type", Error, "a model step whose output is no record type"},
	{49, "text-call-tool", Error, "a text call in a state that does not offer its tool"},
	{50, "fact-unused", Warning, "a fact that is never used"},
	{51, "agent-only", Error, "a key that this kind of state does not have: tools, prompt or inject outside an agent"},
	{52, "prompt-file", Error, "a prompt file that is missing or named nowhere"},
	{53, "skip-not-proved", Error, "a skip to a state whose needs are not proved"},
	{54, "never-true", Error, "a guard that is never true, whatever the settings"},
	{55, "bound-not-proved", Error, "a bound argument that the tool demands and that is not proved set"},
	{56, "yaml-syntax", Error, "the file is no YAML"},
	{57, "wrong-form", Error, "a value that does not have the form its key asks for"},
	{58, "missing-key", Error, "a key that must be there is missing"},
	{59, "type-mismatch", Error, "values of different types compared, written or given"},
	{60, "computed-cycle", Error, "facts computed from each other in a circle"},
	{61, "too-large", Error, "a definition beyond the limits of size"},
	{62, "name-taken", Error, "a name that is taken, reserved or not a name"},
	{63, "tool-argument", Error, "an argument that the tool does not have, or a demanded one that a step does not give"},
	{64, "unknown-part", Error, "an unknown part in `uses`"},
	{65, "part-unused", Warning, "a part that no state uses"},
}

var flawByCode = func() map[string]Flaw {
	m := make(map[string]Flaw, len(flaws))
	for _, f := range flaws {
		m[f.Code] = f
	}
	return m
}()

// A finding is how the loader and the checks name a fault; number and severity
// follow from its code.
type finding struct {
	code, message, repair string
	pos                   Pos
	path                  []string
	warn                  bool // less than the code's severity
}

func (f finding) public() Finding {
	k := flawByCode[f.code]
	out := Finding{Code: f.code, Number: k.Number, Severity: k.Severity, Pos: f.pos, Message: f.message, Path: f.path, Repair: f.repair}
	if f.warn {
		out.Severity = Warning
	}
	return out
}

// sortFindings orders findings by place and removes repetitions, which aliases cause.
func sortFindings(fs []Finding) Findings {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Col, b.Pos.Col), cmp.Compare(a.Number, b.Number), strings.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(fs, func(a, b Finding) bool {
		return a.Pos == b.Pos && a.Code == b.Code && a.Message == b.Message
	})
}

// suggestName gives "; did you mean x?" where a known name is close to a wrong one.
func suggestName(name string, known []string) string {
	near := fault.Similar(name, known)
	if near == "" {
		return ""
	}
	return "; did you mean " + near + "?"
}
