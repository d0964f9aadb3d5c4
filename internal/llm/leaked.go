package llm

import (
	"regexp"
	"strings"
)

// leakedMark is how models begin a call in their own notation: Qwen and Hermes, Mistral,
// Llama, DeepSeek, Kimi and gpt-oss. A server that is set up for the model reads the call out
// of the text; another one passes it on as the answer.
var leakedMark = regexp.MustCompile(`(?m)^\s*(?:<tool_call>|\[TOOL_CALLS\]|<\|python_tag\|>|<｜tool▁calls▁begin｜>|<\|tool_calls_section_begin\|>|<function=|<\|channel\|>commentary to=)`)

// endsInLeakedCall reports whether a text ends in a call that the server left in it. Such a
// text is no answer. It does not become a call either: data that a model quotes could hold one.
func endsInLeakedCall(text string) bool {
	marks := leakedMark.FindAllStringIndex(text, -1)
	if len(marks) == 0 {
		return false
	}
	rest := strings.TrimSpace(text[marks[len(marks)-1][0]:])
	return strings.HasSuffix(rest, "}") || strings.HasSuffix(rest, "]") || strings.HasSuffix(rest, ">")
}
