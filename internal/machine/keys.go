package machine

import "slices"

// keysOf lists the keys of every mapping of the format. The published schema lists
// the same.
var keysOf = map[string][]string{
	"machine": {
		"name", "title", "settings", "types", "facts", "discover", "start", "prompt", "parts", "states", "tools", "go", "calls",
		"effects", "cards", "commands", "show", "shortcuts", "text_calls", "reply", "outcome", "history", "policies", "errors", "limits",
	},
	"setting": {"type", "enum", "default", "min", "max", "step", "label"},
	"fact":    {"type", "enum", "for", "by", "default", "is", "max"},
	"prompts": {"base", "grounding"},
	"state": {
		"kind", "terminal", "requires", "uses", "tools", "prompt", "inject", "run", "in", "out", "card", "go", "errors", "limits",
		"complete", "data", "model", "reasoning", "note",
	},
	"part":        {"when", "prompt", "tools", "inject"},
	"offer":       {"name", "from", "when", "approve"},
	"section":     {"file", "when"},
	"inject":      {"fact", "value", "title", "rows", "chars", "of", "more", "when"},
	"alternative": {"when", "tool", "model", "steps", "in", "out"},
	"step":        {"when", "tool", "model", "in", "out", "stop"},
	"model step":  {"prompt", "output"},
	"discover":    {"tool", "when", "in", "out"},
	"choice":      {"when", "to", "set"},
	"transition":  {"on", "tool", "card", "command", "when", "to", "set", "append", "increment", "drop", "keep", "rest"},
	"shared transition": {
		"from", "on", "tool", "card", "command", "when", "to", "set", "append", "increment", "drop", "keep",
		"rest",
	},
	"effect":     {"on", "tool", "card", "command", "state", "when", "set", "append", "increment", "drop", "keep"},
	"errors":     {"failures", "then"},
	"then":       {"skip"},
	"limits":     {"iterations", "seconds", "tokens", "dollars"},
	"reasoning":  {"effort", "budget"},
	"binding":    {"in", "args", "card"},
	"narrow":     {"enum", "default"},
	"card":       keyNames(cardKeys),
	"answer":     keyNames(answerKeys),
	"command":    {"label", "from", "when", "fields", "to", "set", "append", "increment", "drop", "keep"},
	"show":       {"person", "model", "person_when"},
	"shortcut":   {"prefix", "tool", "say", "in", "when"},
	"text call":  {"fence", "tool", "argument", "states"},
	"history":    {"messages", "tool_turns", "result_chars", "beside"},
	"policies":   {"duplicates", "inventory", "repair", "origins"},
	"duplicates": {"across_turns", "rerun_words"},
	"inventory":  {"max"},
	"repair":     {"empty_retries"},
}

// outcomes are what `outcome` may give: how a run ended that came to its end by itself.
var outcomes = []string{"answered", "asked", "declined", "refused", "failed"}

// IsOutcome reports whether a word is one that `outcome` may give.
func IsOutcome(word string) bool { return slices.Contains(outcomes, word) }

// events lists what can happen, with the fields that each has beside `name`.
var events = map[string][]string{
	"turn":         {"text"},
	"entered":      {"state", "from", "cause"},
	"planned":      {"text", "tool"},
	"call":         {"tool", "args"},
	"started":      {"tool", "args"},
	"returned":     {"tool", "args", "result", "duplicate", "ms"},
	"failed":       {"tool", "args", "code", "message", "suggestion", "details", "curable", "tries_left", "state"},
	"refused":      {"tool", "args", "code", "message"},
	"final":        {"text", "outcome", "quoted", "unsupported"},
	"model_failed": {"code", "message"},
	"asked":        {"card", "content"},
	"answered":     {"card", "content", "answer", "fields", "note"},
	"command":      {"command", "fields"},
	"done":         {"state", "result"},
}

// turnFields and stateFields are what `turn` and `state` have.
var (
	turnFields = map[string]*Type{
		"text": {Kind: String}, "user": {Kind: String}, "thread": {Kind: String}, "dataset": {Kind: String},
		"attachments": {Kind: List, Of: &Type{Kind: JSON}}, "rerun": {Kind: Bool}, "started": {Kind: Time}, "elapsed_ms": {Kind: Int},
		"run": {Kind: String}, "model": {Kind: String}, "today": {Kind: String}, "direct": {Kind: Bool}, "context": {Kind: Int},
	}
	stateFields = map[string]*Type{"name": {Kind: String}, "last": {Kind: String}, "waiting": {Kind: Bool}}
)

// reserved are names that an expression reads as something else.
var reserved = map[string]bool{
	"settings": true, "event": true, "turn": true, "state": true, "true": true, "false": true, "nil": true, "not": true, "in": true,
	"and": true, "or": true, "matches": true, "contains": true, "startsWith": true, "endsWith": true, "let": true, "if": true, "else": true,
}
