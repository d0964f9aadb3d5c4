package llm

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// Why a reply ended.
const (
	stopEnd    = "end"
	stopCalls  = "calls"
	stopLength = "length"
	// StopRefusal is the end of a reply that says why there is no answer, StopQuestion of
	// one that asks the person. Only the offline model is sure of the latter.
	StopRefusal  = "refusal"
	StopQuestion = "question"
)

// A parse is the state of reading one response: what has been assembled, and
// what the provider said about it.
type parse struct {
	assembly
	emit       emitter
	thoughts   strings.Builder
	tags       thinkTags
	id         string // of the response
	model      string
	stop       string // "" until the provider said why it ended
	done       bool   // the stream ended as it should
	usage      event.Usage
	paid       int64 // what the provider says it cost, in millionths of a dollar
	unreadable int   // events that could not be read
	offered    bool  // tools
}

// addText adds text to the reply and emits it.
func (p *parse) addText(s string) error {
	if s == "" {
		return nil
	}
	p.appendText(s)
	return p.emitText(s)
}

// emitText hands text to the caller. It fails when the caller has left or the reply
// is beyond repair.
func (p *parse) emitText(s string) error {
	if p.err != nil {
		return p.err
	}
	if s != "" && !p.emit(Delta{Text: s}) {
		return errLeft
	}
	return nil
}

// addThought adds a piece of what the model thinks.
func (p *parse) addThought(s string) error {
	if s == "" {
		return nil
	}
	if p.thoughts.Len()+len(s) <= maxThought {
		p.thoughts.WriteString(s)
	}
	if !p.emit(Delta{Thought: s}) {
		return errLeft
	}
	return nil
}

// onlyThoughts hides text from the caller: half a document helps nobody, and unseen the
// request can be tried again.
func onlyThoughts(emit emitter) emitter {
	return func(d Delta) bool { return d.Thought == "" || emit(d) }
}

// buildReply closes the parse: every call valid, the stop reason one of ours, the
// usage priced. readErr is how the stream broke, if it did; it does not matter
// once the provider has said that the reply is finished.
func (p *parse) buildReply(e *endpoint, kind string, readErr error) (*Reply, error) {
	if err := p.addText(p.tags.rest()); err != nil {
		return nil, err
	}
	if p.stop == "" && !p.done {
		switch {
		case readErr != nil:
			return nil, readErr
		case p.assembly.text.Len() == 0 && len(p.calls) == 0 && p.unreadable > 0:
			return nil, &attemptError{code: fault.ModelBadOutput, text: "nothing of the answer could be read as a stream of JSON"}
		case p.id == "" && p.unreadable == 0 && !strings.Contains(kind, "event-stream"):
			return nil, &attemptError{code: fault.ModelBadOutput, text: "the server answered with " + cmp.Or(truncate(kind, 60), "nothing") + ", not with a reply of a model"}
		}
		return nil, &attemptError{code: fault.ModelFailed, retryable: true, text: "the stream ended before the reply was complete"}
	}
	seed := p.id
	if !plainID.MatchString(seed) {
		seed = rand.Text()[:12]
	}
	calls, err := p.buildCalls(seed)
	if err != nil {
		return nil, err
	}
	r := &Reply{Model: e.provider + "/" + cmp.Or(p.model, e.model), Thoughts: p.thoughts.String(), Text: p.assembly.text.String(), Calls: calls, Stop: cmp.Or(p.stop, stopEnd), Usage: p.pricedUsage(e)}
	switch {
	case len(calls) > 0 && r.Stop != stopLength:
		r.Stop = stopCalls
	case len(calls) == 0 && r.Stop == stopCalls:
		r.Stop = stopEnd
	}
	if p.offered && len(calls) == 0 && endsInLeakedCall(r.Text) {
		return nil, &attemptError{code: fault.ModelBadOutput, text: "the server passed a tool call on as text; start it with the tool parser of its model, or let `interlock model probe` find another way"}
	}
	if r.Text == "" && len(calls) == 0 {
		switch r.Stop {
		case StopRefusal:
			return nil, &attemptError{code: fault.ModelRefused, text: "the model declined to answer"}
		case stopLength:
			return nil, &attemptError{code: fault.ModelBadOutput, text: "the tokens ran out before the model said anything"}
		}
		return nil, &attemptError{code: fault.ModelBadOutput, retryable: true, text: "the model's answer is empty"}
	}
	return r, nil
}

// pricedUsage is what the provider counted so far, with what it costs.
func (p *parse) pricedUsage(e *endpoint) event.Usage {
	u := p.usage
	if u.MicroUSD = p.paid; p.paid == 0 {
		price, known := PriceOf(e.model, e.prices)
		if !known {
			price, _ = PriceOf(p.model, e.prices) // what a router chose
		}
		u.MicroUSD = price.Cost(u)
	}
	return u
}

// isFatal reports whether an error of the stream ends the attempt even if the
// provider had finished its reply.
func (p *parse) isFatal(err error) bool {
	if err == nil {
		return false
	}
	if _, ok := errors.AsType[*attemptError](err); ok {
		return true
	}
	return errors.Is(err, errLeft)
}

// toolSchema returns the schema of a tool's arguments as an object, which
// providers demand even of a tool without any.
func toolSchema(t Tool) (map[string]any, error) {
	schema := map[string]any{}
	if len(t.Schema) > 0 {
		if err := json.Unmarshal(t.Schema, &schema); err != nil {
			return nil, fault.Wrap(err, fault.ModelFailed, "the schema of the tool %s is no JSON object", t.Name)
		}
	}
	if schema["type"] == nil {
		schema["type"] = "object"
	}
	if schema["properties"] == nil {
		schema["properties"] = map[string]any{}
	}
	delete(schema, "$schema")
	return schema, nil
}
