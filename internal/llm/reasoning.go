package llm

import (
	"strings"

	"interlock/internal/event"
)

// effortOf returns the word for how much a model thinks: the one that was asked for, or
// the nearest to a budget; "" leaves it to the model.
func effortOf(r event.Reasoning) string {
	switch {
	case r.Effort != "" || r.Budget == 0:
		return r.Effort
	case r.Budget < 1024:
		return "minimal"
	case r.Budget <= 4096:
		return "low"
	case r.Budget <= 16384:
		return "medium"
	}
	return "high"
}

// leastBudget is the smallest budget that Anthropic takes.
const leastBudget = 1024

// addThinking asks Anthropic's model to think: with a budget where one is given and taken,
// else as much as an effort says. Thinking goes with no temperature.
func addThinking(p *anthropicRequest, r event.Reasoning, q anthropicQuirks) {
	switch {
	case r == (event.Reasoning{}) || r.Effort == "none" || r.Effort == "minimal":
		return
	case r.Budget > 0 && !q.noBudget:
		budget := max(r.Budget, leastBudget)
		p.MaxTokens += budget // the bound of the reply counts thoughts
		if q.maxTokens > 0 {
			p.MaxTokens = min(p.MaxTokens, q.maxTokens)
			budget = min(budget, p.MaxTokens-1)
		}
		p.Thinking = &anthropicThinking{Type: thinkingEnabled, BudgetTokens: budget}
	case !q.noAdaptive:
		p.Thinking = &anthropicThinking{Type: thinkingAdaptive, Display: "summarized"}
	default:
		return
	}
	p.Temperature = nil
	if effort := effortOf(r); !q.noEffort && p.thinks(thinkingAdaptive) && effort != "minimal" {
		p.output().Effort = effort
	}
}

// thinkTags takes thoughts that a local model puts before its answer, between <think> and
// </think>, out of the text. Such tags count only where the text begins.
type thinkTags struct {
	held  string // what may become a tag
	state thinkState
}

type thinkState int

const (
	beforeText thinkState = iota
	inThought
	inText
)

const thinkBegin, thinkEnd = "<think>", "</think>"

// split returns what of a piece of content is a thought and what is text.
func (t *thinkTags) split(piece string) (thought, text string) {
	if t.state == inText || piece == "" {
		return "", piece
	}
	s := t.held + piece
	t.held = ""
	if t.state == beforeText {
		begin := strings.TrimLeft(s, " \t\r\n")
		rest, tagged := strings.CutPrefix(begin, thinkBegin)
		switch {
		case tagged:
			t.state, s = inThought, rest
		case strings.HasPrefix(thinkBegin, begin):
			t.held = s
			return "", ""
		default:
			t.state = inText
			return "", s
		}
	}
	if thought, text, ended := strings.Cut(s, thinkEnd); ended {
		t.state = inText
		return thought, strings.TrimLeft(text, "\r\n")
	}
	for n := min(len(thinkEnd)-1, len(s)); n > 0; n-- {
		if strings.HasSuffix(s, thinkEnd[:n]) {
			t.held = s[len(s)-n:]
			return s[:len(s)-n], ""
		}
	}
	return s, ""
}

// rest returns text that was held back and is no tag.
func (t *thinkTags) rest() string {
	held := t.held
	t.held = ""
	if t.state == inThought {
		return ""
	}
	return held
}
