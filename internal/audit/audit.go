// Package audit is the form of the audit log: who did what, in entries of which each seals
// the one before it, so that a change to any of them is found. Package store keeps them.
package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// An Entry says who did what. It holds no question, answer, statement or row: those belong to
// threads, which can be removed, and entries cannot.
type Entry struct {
	Seq     int64     `json:"seq" doc:"From 1, without gaps"`
	Time    time.Time `json:"time"`
	User    string    `json:"user"`
	Via     string    `json:"via,omitempty" doc:"http, command or mcp; absent: the program itself"`
	Request string    `json:"request,omitempty" doc:"The id of the HTTP request"`
	Action  string    `json:"action"`
	Object  string    `json:"object,omitempty" doc:"What it was done to"`
	Thread  string    `json:"thread,omitempty"`
	Run     string    `json:"run,omitempty"`
	Detail  string    `json:"detail,omitempty"`
}

// maxField bounds each text of an entry in bytes.
const maxField = 300

// A Record is an entry as it is stored: the bytes that were sealed, and the seal.
type Record struct {
	Seq  int64
	Body string // the entry as JSON
	Hash string // of the hash before it and Body, in hex
}

// Seal makes the record of an entry after one with this number and hash; 0 and "" begin a log.
func Seal(e Entry, last int64, hash string) (Record, error) {
	e.Seq, e.Time = last+1, e.Time.UTC().Truncate(time.Microsecond)
	for _, text := range []*string{&e.User, &e.Via, &e.Request, &e.Action, &e.Object, &e.Thread, &e.Run, &e.Detail} {
		*text = bound(*text)
	}
	body, err := json.Marshal(e)
	if err != nil {
		return Record{}, err
	}
	return Record{e.Seq, string(body), sealOf(hash, string(body))}, nil
}

func sealOf(before, body string) string {
	sum := sha256.Sum256([]byte(before + "\n" + body))
	return hex.EncodeToString(sum[:])
}

// bound cuts a text at a character.
func bound(text string) string {
	text = strings.ToValidUTF8(text, "�")
	if len(text) <= maxField {
		return text
	}
	cut := maxField
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// Entry decodes the record.
func (r Record) Entry() (e Entry, err error) {
	err = json.Unmarshal([]byte(r.Body), &e)
	return e, err
}

// An Actor is on whose behalf the program acts.
type Actor struct{ User, Via, Request string }

type actorKey struct{}

// WithActor returns a context of what is done for an actor.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// Complete fills in who acts, where the entry does not say it, and when.
func (e Entry) Complete(ctx context.Context, now time.Time) Entry {
	a, _ := ctx.Value(actorKey{}).(Actor)
	if e.User == "" {
		e.User = a.User
	}
	if e.Time.IsZero() {
		e.Time = now
	}
	e.Via, e.Request = a.Via, a.Request
	return e
}
