package llm

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

const (
	maxThoughts = 256     // replies that are remembered
	maxThought  = 1 << 20 // bytes of one
)

// thoughtCache remembers how replies that thought before they called tools came
// from Anthropic: signed thoughts must go back as they were with the results of
// the calls, or the model loses its thread. They are worth nothing to anybody
// else and nothing after the turn, so they stay out of the log; after a restart
// the conversation goes on without them.
type thoughtCache struct {
	mu    sync.Mutex
	byKey map[string][]thinkingBlock // by thoughtKeys
	order []string
}

// thoughtKeys names the replies with calls of one turn by what they said, and equal ones by
// their order: the ids of their calls are not those that the provider gave.
type thoughtKeys struct {
	tag  Tag
	seen map[string]int
}

func newThoughtKeys(tag Tag) *thoughtKeys { return &thoughtKeys{tag, map[string]int{}} }

// next returns the key of the next reply.
func (k *thoughtKeys) next(text string, calls []Call) string {
	parts := []string{k.tag.Thread, k.tag.Run, strings.TrimSpace(text)}
	for _, c := range calls {
		parts = append(parts, c.Name, sortedJSON(objectArgs(c.Args)))
	}
	key := fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", parts)))
	k.seen[key]++
	return fmt.Sprintf("%s %d", key, k.seen[key])
}

// sortedJSON returns JSON without differences of space and of the order of keys.
func sortedJSON(text string) string {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return text
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(raw)
}

// thinking collects the blocks of one reply in the order in which they came.
type thinking struct {
	blocks []thinkingBlock
	size   int
}

type thinkingBlock struct {
	index           int
	kind            string
	text, signature *strings.Builder
	data            string
}

func (t *thinking) begin(index int, b *anthropicBlock) {
	block := thinkingBlock{index, b.Type, &strings.Builder{}, &strings.Builder{}, b.Data}
	t.size += len(b.Data)
	t.blocks = append(t.blocks, block)
	t.add(index, b.Thinking+b.Text, b.Signature)
}

func (t *thinking) add(index int, text, signature string) {
	for _, b := range slices.Backward(t.blocks) {
		if b.index != index {
			continue
		}
		if t.size += len(text) + len(signature); t.size <= maxThought {
			b.text.WriteString(text)
			b.signature.WriteString(signature)
		}
		return
	}
}

// remember stores the blocks of a reply that thought and then called tools.
func (t *thoughtCache) remember(req Request, r *Reply, from *thinking) {
	deep := slices.ContainsFunc(from.blocks, func(b thinkingBlock) bool { return strings.HasSuffix(b.kind, "thinking") })
	if !deep || len(r.Calls) == 0 || from.size > maxThought {
		return
	}
	keys := newThoughtKeys(req.Tag)
	for _, m := range slices.Concat(req.History, req.Messages) {
		if len(m.Calls) > 0 {
			keys.next(m.Text, m.Calls)
		}
	}
	key := keys.next(r.Text, r.Calls)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey == nil {
		t.byKey = map[string][]thinkingBlock{}
	}
	if _, ok := t.byKey[key]; !ok {
		t.order = append(t.order, key)
	}
	t.byKey[key] = from.blocks
	if len(t.order) > maxThoughts {
		delete(t.byKey, t.order[0])
		t.order = slices.Delete(t.order, 0, 1)
	}
}

// recall returns the content of a message as it came, with the ids that its calls have now,
// or nil if it is not remembered or has been changed since.
func (t *thoughtCache) recall(key string, calls []Call) []anthropicSentBlock {
	t.mu.Lock()
	kept := t.byKey[key]
	t.mu.Unlock()
	var blocks []anthropicSentBlock
	for _, b := range kept {
		switch b.kind {
		case "thinking":
			blocks = append(blocks, anthropicSentBlock{Type: b.kind, Thinking: new(b.text.String()), Signature: b.signature.String()})
		case "redacted_thinking":
			blocks = append(blocks, anthropicSentBlock{Type: b.kind, Data: b.data})
		case "text":
			if b.text.Len() > 0 {
				blocks = append(blocks, textBlock(b.text.String()))
			}
		case "tool_use":
			if len(calls) == 0 {
				return nil
			}
			blocks = append(blocks, toolUseBlock(calls[0]))
			calls = calls[1:]
		}
	}
	if len(calls) > 0 {
		return nil
	}
	return blocks
}
