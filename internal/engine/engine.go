// Package engine runs threads. A turn is one loop:
//
//	for { step := decide(fold); commit(step); emit(perform(step)) }
//
// decide does no I/O: it looks at the phase of the turn (phase.go) and returns what comes
// next. perform makes the model call or tool call that decide asked for. commit appends
// the events to the log in one batch and publishes the new state of the thread to readers.
//
// The engine knows no machine, state or tool by name, no SQL, no HTTP and no
// Python. A model is treated as an adversary: whatever it says, only what the
// definition allows happens.
//
// Goroutines: each running turn has one, which owns its thread and ends with the turn, at
// Stop or at Close; a waiting or idle thread has none. While turns run, one goroutine
// renews their leases. While there are followers, one watches the store for events of
// other processes. While turns are stalled because the store cannot write, one retries
// them. Followers run in their caller's goroutine.
package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// Machines finds definitions.
type Machines interface {
	Get(name string) (*machine.Machine, error)
}

// Models finds the model of a name; "" is the default one.
type Models interface {
	Model(name string) (llm.Model, error)
}

// Config configures an engine.
type Config struct {
	Store    store.Store // required
	Machines Machines    // required
	Models   Models      // required
	Tools    *tool.Set   // required

	// ToolSeconds bounds a tool call whose Spec names no bound. Default 60.
	ToolSeconds int
	// ResultBytes bounds what one result may put into a prompt. Default 64 KiB.
	ResultBytes int
	// MaxRunning bounds the turns that run at once; more are refused with
	// too_many. Default 256.
	MaxRunning int
	// MaxInterruptions is how often a turn may lose its process: with that many it
	// fails and is not resumed again. Default 3.
	MaxInterruptions int
	// SnapshotEvery is how many events may follow a snapshot of the fold. Default 200.
	SnapshotEvery int
	// RestingBytes bounds the memory of threads in which nothing runs. Those beyond it
	// are read from the log when they are needed. Default 256 MiB.
	RestingBytes int
	// Lease is how long a lease lasts without renewal. After that another process may
	// take the thread over. Default 10 s.
	Lease time.Duration
	// Holder names this process in leases. Default: store.NewHolder.
	Holder string
	// SkipFigures leaves out the origins of figures although a machine asks for them, for
	// the replay of runs that were recorded without.
	SkipFigures bool
	// RecordedFigures are the origins of figures that a replay stores again if they were
	// traced by other rules than those of this program.
	RecordedFigures *event.FiguresTraced
	// RecordedUnsupported gives the figures without an origin that the recorded reply to a
	// model call had, for replays: other rules may find others.
	RecordedUnsupported func(call string) []string
	// Now and NewID are for tests.
	Now   func() time.Time
	NewID func(prefix string) string
	// Count increments a metric, which is named with its labels.
	Count func(metric string, labels ...string)
	Log   *slog.Logger
}

// An Engine runs the threads of one store. It is safe for concurrent use.
type Engine struct {
	cfg  Config // fixed at creation
	hub  *hub
	defs *definitions
	// blobs are the large values that followers are being shown.
	blobs Shared[json.RawMessage]
	// resolved are resting threads with their large values loaded from the store.
	resolved Shared[*published]

	// ctx is the parent of the contexts of all turns, which outlive the requests that
	// started them. Close cancels it.
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	running  map[string]*turn        // by thread
	stalled  map[string]*stalledTurn // turns that could not be stored, by thread
	retrying bool                    // a goroutine tries the stalled turns again
	cache    *foldCache
	renewing bool // a goroutine renews the leases of the running turns
	watching bool // a goroutine looks for what other processes store
	closed   bool
}

// New returns an engine. It runs nothing until Open, Send or Resume is called.
func New(cfg Config) (*Engine, error) {
	switch {
	case cfg.Store == nil:
		return nil, errors.New("engine: Config.Store is required")
	case cfg.Machines == nil:
		return nil, errors.New("engine: Config.Machines is required")
	case cfg.Models == nil:
		return nil, errors.New("engine: Config.Models is required")
	case cfg.Tools == nil:
		return nil, errors.New("engine: Config.Tools is required")
	}
	setDefault(&cfg.ToolSeconds, 60)
	setDefault(&cfg.ResultBytes, 64<<10)
	setDefault(&cfg.MaxRunning, 256)
	setDefault(&cfg.MaxInterruptions, 3)
	setDefault(&cfg.SnapshotEvery, 200)
	setDefault(&cfg.RestingBytes, 256<<20)
	if cfg.Lease == 0 {
		cfg.Lease = 10 * time.Second
	}
	if cfg.Holder == "" {
		cfg.Holder = store.NewHolder()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = newID
	}
	if cfg.Count == nil {
		cfg.Count = func(string, ...string) {}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	life, end := context.WithCancel(context.Background())
	return &Engine{
		cfg: cfg, hub: newHub(), defs: newDefinitions(cfg.Store), ctx: life, cancel: end,
		running: map[string]*turn{}, stalled: map[string]*stalledTurn{}, cache: newFoldCache(cfg.RestingBytes),
	}, nil
}

func setDefault(v *int, def int) {
	if *v == 0 {
		*v = def
	}
}

// newID returns an unguessable id: r_ for runs, t_ for threads.
func newID(prefix string) string {
	var b [12]byte
	_, _ = rand.Read(b[:])
	return prefix + "_" + hex.EncodeToString(b[:])
}

// An Opening describes a new thread.
type Opening struct {
	Machine  string
	Owner    string
	Title    string
	Dataset  string
	Settings map[string]any // checked against those that the machine declares
}

// An Input is what a person sends to a thread: exactly one of Text, Card, Command and
// Direct. Text may come with a Dataset for the turn, and with changed settings; beside
// Direct it says in words what the call is for.
type Input struct {
	User        string
	Text        string
	Dataset     string
	Attachments []string
	Rerun       bool
	Settings    map[string]any
	Name        string // by which store.Index finds it again; one that the owner has used is refused
	OpenCard    string // the card that Text answers: if it is not open any more, the input is refused
	Card        *CardAnswer
	Command     *Command
	Direct      *Direct
}

// A Direct is one tool call that a person makes, without a model. The state must offer
// the tool, as for a model's call.
type Direct struct {
	Tool string
	Args json.RawMessage
}

// A CardAnswer answers an open card.
type CardAnswer struct {
	Card   string         `json:"card_id"`
	Answer string         `json:"answer"`
	Fields map[string]any `json:"fields,omitempty"`
	Note   string         `json:"note,omitempty"`
}

// A Command is one of the machine's commands.
type Command struct {
	Name   string         `json:"name"`
	Fields map[string]any `json:"fields,omitempty"`
}

// Close stops every turn at its next step boundary and waits for them. The next process
// resumes the turns that it interrupts.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel()
	e.wg.Wait()
	return nil
}

var errClosed = fault.New(fault.ShuttingDown, "the server is shutting down")
