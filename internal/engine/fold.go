package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"interlock/internal/event"
	"interlock/internal/store"
)

// Bounds of what a fold keeps; the log keeps everything.
const (
	keepMessages   = 400
	keepIdentities = 500
	keepArtifacts  = 1000
	keepTurns      = 12 // whose calls and results may go to the model again
)

// A fold is the state of a thread: the sum of the events in its log. Only apply changes
// it, so a live thread equals one that is read back from the log. Values that it shares
// with published copies are never changed in place.
type fold struct {
	Thread, Owner, Machine, Version, Title, Dataset string

	Seq          int64
	Created, Now time.Time // Now is the time of the last event
	Forked       time.Time
	Settings     map[string]any
	State, Last  string
	Facts        map[string]event.Value
	Messages     []Message
	Past         []pastTurn
	Artifacts    []event.ArtifactMade
	Known        []knownResult // results by identity, oldest first
	Results      []heldResult  // that figures may come from, oldest first
	Given        []string      // what the person filled in during this turn, for the same reason
	Tainted      bool
	Allowed      []string // what a person allowed for the thread: see approvalKey
	Status       string
	Turn         *turnFold
	SnapshotAt   int64
	Format       int            // of the snapshot
	Slim         bool           `json:"-"` // large values are left out: see withoutLargeValues
	facts        map[string]any // decoded Facts
	byIdentity   map[string]int // index into Known
	effective    map[string]any // see effectiveSettings; nil until it is called
}

// snapshotFormat changes when the fold does, so that older snapshots are not used.
const snapshotFormat = 6

// A Message is a person's text or a final answer.
type Message struct {
	Role      string    `json:"role"`
	Content   string    `json:"content"`
	DatasetID string    `json:"dataset_id,omitempty"`
	RunID     string    `json:"run_id"`
	CreatedAt time.Time `json:"created_at"`
}

// A pastTurn is an ended turn whose calls and results may be sent to the model again.
type pastTurn struct {
	Run   string
	Lines []line
}

// A knownResult is the result of a call, which answers an equal call as well. A large
// result is kept as a reference.
type knownResult struct {
	Identity, Call string
	Result         event.Value
	Run            string
	Ran            *event.Ran `json:",omitempty"`
}

func newFold(thread string) *fold {
	return &fold{Thread: thread, Status: store.Idle, Facts: map[string]event.Value{}, facts: map[string]any{}, byIdentity: map[string]int{}}
}

// apply adds one event. It cannot fail, because the event has already happened.
func (f *fold) apply(e event.Event) {
	idle := e.Time.Sub(f.Now)
	if e.Seq > 0 {
		f.Seq = e.Seq
		if k := e.Body.Kind(); k != event.KindArtifactsRemoved && k != event.KindThreadRenamed { // else the thread is as old as it was
			f.Now = e.Time
		}
	}
	switch b := e.Body.(type) {
	case event.ThreadOpened:
		f.Owner, f.Machine, f.Version, f.Title, f.Dataset = b.Owner, b.Machine, b.Version, b.Title, b.Dataset
		f.Settings = b.Settings
		f.Created = e.Time
		if b.Parent != nil {
			f.Forked = b.Parent.Time
		}
	case event.TurnStarted:
		f.startTurn(e, b)
		return
	case event.FactsChanged:
		f.changeFacts(b)
	case event.StateEntered:
		f.Last, f.State = f.State, b.To
	case event.ArtifactMade:
		f.addArtifact(b)
	case event.CardRaised:
		f.Status = store.Waiting
	case event.CardAnswered:
		f.applyAnswer(e, b)
	case event.ToolReturned:
		f.Tainted = f.Tainted || b.Taints
		f.rememberResult(b)
		f.holdResult(b)
	case event.CommandGiven:
		f.holdGiven("", b.Fields)
	case event.ArtifactsRemoved:
		f.removeArtifacts(b)
	case event.ThreadMigrated:
		f.Version, f.Settings, f.effective = b.To, b.Settings, nil
	case event.ThreadRenamed:
		f.Title = b.Title
	}
	if f.Turn != nil {
		f.Turn.apply(e, idle)
	}
	if b, ok := e.Body.(event.TurnEnded); ok {
		f.endTurn(e, b)
	}
}

// used is when the thread was last used: its last event, or the fork that copied it.
func (f *fold) used() time.Time {
	if f.Forked.After(f.Now) {
		return f.Forked
	}
	return f.Now
}

func (f *fold) addArtifact(b event.ArtifactMade) {
	i := slices.IndexFunc(f.Artifacts, func(a event.ArtifactMade) bool { return a.ID == b.ID })
	if i >= 0 && f.Artifacts[i].Version >= b.Version {
		return
	}
	if i >= 0 { // a new version is the newest of all; published copies keep theirs
		f.Artifacts = slices.Concat(f.Artifacts[:i], f.Artifacts[i+1:])
	}
	f.Artifacts = append(f.Artifacts, b)
	if over := len(f.Artifacts) - keepArtifacts; over > 0 {
		f.Artifacts = slices.Clone(f.Artifacts[over:])
	}
}

// removeArtifacts forgets artifacts, and every result that would answer an equal call: it
// may name one of them.
func (f *fold) removeArtifacts(b event.ArtifactsRemoved) {
	f.Artifacts = slices.DeleteFunc(slices.Clone(f.Artifacts), func(a event.ArtifactMade) bool { return slices.Contains(b.Artifacts, a.ID) })
	f.Known = nil
	f.indexKnown()
}

// applyAnswer applies what an answer to a card changes in the thread.
func (f *fold) applyAnswer(e event.Event, b event.CardAnswered) {
	f.Status = store.Running
	f.changeSettings(b.Settings)
	f.holdGiven(b.Note, b.Fields)
	if c := openCard(f.Turn.Phase); c != nil && c.Name == approvalCard && b.Answer == allowThread && c.Call != "" {
		f.Allowed = append(f.Allowed, approvalKey(f.Turn.toolOf(c.Call), c.Declared))
	}
	if b.Text != "" {
		f.addMessage(Message{Role: "user", Content: b.Text, DatasetID: f.Dataset, RunID: f.Turn.Run, CreatedAt: e.Time})
	}
}

func (f *fold) startTurn(e event.Event, b event.TurnStarted) {
	f.Status = store.Running
	if b.Dataset != "" {
		f.Dataset = b.Dataset
	}
	f.changeSettings(b.Settings)
	if f.Title == "" {
		f.Title = shorten(b.Text, 80)
	}
	f.Turn, f.Given = newTurnFold(e, b, f.Dataset), nil
	if b.Text != "" {
		f.addMessage(Message{Role: "user", Content: b.Text, DatasetID: f.Dataset, RunID: b.Run, CreatedAt: e.Time})
	}
}

func (f *fold) changeSettings(set map[string]any) {
	if len(set) == 0 {
		return
	}
	f.Settings = maps.Clone(f.Settings)
	if f.Settings == nil {
		f.Settings = map[string]any{}
	}
	maps.Copy(f.Settings, set)
	f.effective = nil
}

func (f *fold) endTurn(e event.Event, b event.TurnEnded) {
	t := f.Turn
	f.Status = store.Idle
	if b.Status == event.Failed && b.Code != "" { // the turn itself, and not what the machine made of it
		f.Status = store.Failed
	}
	if b.Text != "" {
		f.addMessage(Message{Role: "assistant", Content: b.Text, DatasetID: t.Dataset, RunID: t.Run, CreatedAt: e.Time})
	}
	if slices.ContainsFunc(t.Lines, func(l line) bool { return l.Tool != "" || len(l.Calls) > 0 }) {
		f.Past = append(f.Past, pastTurn{t.Run, t.Lines})
		if len(f.Past) > keepTurns {
			f.Past = slices.Clone(f.Past[1:])
		}
	}
	t.forgetWork()
}

func (f *fold) addMessage(m Message) {
	f.Messages = append(f.Messages, m)
	if over := len(f.Messages) - keepMessages; over > 0 {
		f.Messages = slices.Clone(f.Messages[over:])
	}
}

func (f *fold) changeFacts(b event.FactsChanged) {
	f.Facts, f.facts = maps.Clone(f.Facts), maps.Clone(f.facts)
	for _, name := range b.Dropped {
		delete(f.Facts, name)
		delete(f.facts, name)
	}
	for name, v := range b.Set {
		f.Facts[name] = v
		f.facts[name] = v.Decode()
	}
}

// rememberResult keeps the result of the running call for equal calls. A volatile result
// removes the one that is kept.
func (f *fold) rememberResult(b event.ToolReturned) {
	s := runningCall(f.Turn.Phase)
	if s == nil || s.Identity == "" || b.Duplicate != "" {
		return
	}
	if b.Volatile {
		f.Known = slices.DeleteFunc(slices.Clone(f.Known), func(k knownResult) bool { return k.Identity == s.Identity })
		f.indexKnown()
		return
	}
	f.Known = append(f.Known, knownResult{s.Identity, b.Call, b.Result.WithoutBytes(), f.Turn.Run, b.Ran})
	if over := len(f.Known) - keepIdentities; over > 100 {
		f.Known = slices.Clone(f.Known[over:])
		f.indexKnown()
		return
	}
	f.byIdentity[s.Identity] = len(f.Known) - 1
}

// indexKnown rebuilds the index of Known.
func (f *fold) indexKnown() {
	f.byIdentity = make(map[string]int, len(f.Known))
	for i, k := range f.Known {
		f.byIdentity[k.Identity] = i
	}
}

func (f *fold) findKnown(identity string) (knownResult, bool) {
	i, ok := f.byIdentity[identity]
	if !ok {
		return knownResult{}, false
	}
	return f.Known[i], true
}

// active reports whether a turn has not ended: it runs, or waits for the person.
func (f *fold) active() bool { return f.Turn.active() }

// snapshot encodes the fold. It must be called between turns, when the phase is ended.
func (f *fold) snapshot() []byte {
	f.Format = snapshotFormat
	raw, err := event.Marshal(f)
	if err != nil {
		return nil
	}
	return raw
}

// restoreSnapshot decodes a snapshot. resolve loads the large values.
func restoreSnapshot(raw []byte, resolve func(event.Value) (event.Value, error)) (*fold, error) {
	f := newFold("")
	if err := json.Unmarshal(raw, f); err != nil {
		return nil, err
	}
	if f.Format != snapshotFormat {
		return nil, fmt.Errorf("the snapshot has the format %d, not %d", f.Format, snapshotFormat)
	}
	if t := f.Turn; t != nil {
		t.Phase, t.started = ended{}, t.Started.Format(time.RFC3339Nano)
	}
	for name, v := range f.Facts {
		v, err := resolve(v)
		if err != nil {
			return nil, err
		}
		f.Facts[name] = v
		f.facts[name] = v.Decode()
	}
	for _, p := range f.Past {
		for i := range p.Lines {
			if err := p.Lines[i].resolveArgs(resolve); err != nil {
				return nil, err
			}
		}
	}
	f.indexKnown()
	return f, nil
}

// callID returns the id of the n-th call of a run. The ids that a model sends are not
// used: they are not unique, and a model could choose them.
func callID(run string, n int) string { return run + "_" + strconv.Itoa(n) }

func shorten(text string, n int) string {
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	return string(r[:n-1]) + "…"
}
