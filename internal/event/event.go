// Package event is what can happen in a thread. A thread is an append-only log
// of events; everything else (state, facts, messages, capsules, pages) is a fold
// of it. The set of bodies is closed: body.go lists them all.
package event

// The documents that are made of the bodies: docs/events.md and web/types/events.ts.
//go:generate go test . -run Documented -update

import (
	"encoding/json"
	"fmt"
	"time"
)

// An Event is one fact about the past of a thread.
// Seq counts from 1 without gaps; Seq 0 marks a transient event (a token on its
// way), which is shown but never stored.
type Event struct {
	Thread string
	Seq    int64
	Time   time.Time
	Body   Body
}

// Body is what happened: one of the types in body.go.
type Body interface{ Kind() Kind }

// Kind names a type of body in JSON, SQL and SSE.
type Kind string

// Transient says whether the event is shown but never stored.
func (e Event) Transient() bool { return e.Seq == 0 }

// An envelope is an event on the wire: the kind beside the body.
type envelope struct {
	Thread string          `json:"thread,omitempty"`
	Seq    int64           `json:"seq,omitempty"` // absent of a transient event
	Time   time.Time       `json:"time"`
	Kind   Kind            `json:"kind"`
	Body   json.RawMessage `json:"body"`
}

// MarshalJSON writes the event with its kind beside the body.
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

// UnmarshalJSON reads what MarshalJSON wrote.
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
