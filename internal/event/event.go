// Package event defines what can happen in a thread. A thread is an append-only log of
// events; everything else (state, facts, messages, capsules) is computed from it. The set
// of event bodies is closed: body.go lists them all.
package event

// docs/events.md and web/types/events.ts are generated from the bodies.
//go:generate go test . -run Documented -update

import (
	"encoding/json"
	"fmt"
	"time"
)

// An Event is one thing that happened in a thread. Seq counts from 1 without gaps. A
// transient event, such as a token, has Seq 0 and is never stored.
type Event struct {
	Thread string
	Seq    int64
	Time   time.Time
	Body   Body
}

// A Body says what happened. It is one of the types in body.go.
type Body interface{ Kind() Kind }

// A Kind is the name of a type of body in JSON, SQL and SSE.
type Kind string

// Transient reports whether the event is sent to followers but never stored.
func (e Event) Transient() bool { return e.Seq == 0 }

// An envelope is the JSON form of an event.
type envelope struct {
	Thread string          `json:"thread,omitempty"`
	Seq    int64           `json:"seq,omitempty"` // absent of a transient event
	Time   time.Time       `json:"time"`
	Kind   Kind            `json:"kind"`
	Body   json.RawMessage `json:"body"`
}

// MarshalJSON encodes the event with the kind of its body.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.Body == nil {
		return nil, fmt.Errorf("event %s/%d has no body", e.Thread, e.Seq)
	}
	b, err := json.Marshal(e.Body)
	if err != nil {
		return nil, fmt.Errorf("encoding event %s: %w", e.Body.Kind(), err)
	}
	return json.Marshal(envelope{e.Thread, e.Seq, e.Time, e.Body.Kind(), b})
}

// UnmarshalJSON decodes what MarshalJSON wrote.
func (e *Event) UnmarshalJSON(data []byte) error {
	var v envelope
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	body, err := Decode(v.Kind, v.Body)
	if err != nil {
		return err
	}
	*e = Event{v.Thread, v.Seq, v.Time, body}
	return nil
}
