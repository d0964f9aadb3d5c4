package capsule

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
	"interlock/internal/tool"
)

// A Replay is the outcome of driving a run again.
type Replay struct {
	Run    string      `json:"run_id"`
	Events int         `json:"events"`
	Same   bool        `json:"same"`
	Diff   *Difference `json:"difference,omitempty"`
}

// A Difference is the first event at which a replay left the recording.
type Difference struct {
	Seq      int64           `json:"seq"`
	Recorded json.RawMessage `json:"recorded,omitempty"`
	Replayed json.RawMessage `json:"replayed,omitempty"`
}

// Drive runs the machine again from the recorded replies of the model and results
// of the tools, with no model and no tool, on the recorded clock, and compares the
// log that comes out byte for byte. What happened to the run from outside happens
// again at the same event: answers, a stop, the death of a process, the message that
// closed its card. A run that waits is driven up to its card.
func Drive(ctx context.Context, s store.Store, tools *tool.Set, run string) (*Replay, error) {
	row, err := s.Run(ctx, run)
	if errors.Is(err, store.ErrNotFound) {
		return nil, fault.Wrap(err, fault.RunNotFound, "there is no run %q", run)
	}
	if err != nil {
		return nil, err
	}
	if row.Last == 0 && row.Status != store.Waiting {
		return nil, fault.New(fault.BadRequest, "the run %s has not ended", run).Suggest("Wait for it, or stop it.")
	}
	d := &drive{run: run, thread: row.Thread, tools: tools}
	if err := d.load(ctx, s, row); err != nil {
		return nil, err
	}
	if err := d.play(ctx); err != nil {
		return nil, err
	}
	return compare(run, d.want, d.got()), nil
}

// A drive is a run being driven again.
type drive struct {
	run, thread string
	tools       *tool.Set
	past, want  []event.Event // of the thread before the run; of the run
	next        []event.Event // of the run after it
	rec         *recording
	mem         *memory
	eng         *engine.Engine
}

// load reads the run with what came before it and with the run that followed.
func (d *drive) load(ctx context.Context, s store.Store, row store.Run) error {
	for ev, err := range engine.Resolved(ctx, s, row.Thread, 0) {
		if err != nil {
			return err
		}
		if len(d.next) > 0 && ev.Body.Kind() == event.KindTurnStarted {
			break
		}
		switch {
		case ev.Seq < row.First:
			d.past = append(d.past, ev)
		case row.Last == 0 || ev.Seq <= row.Last:
			d.want = append(d.want, ev)
		default:
			d.next = append(d.next, ev)
		}
	}
	if len(d.want) == 0 {
		return fault.New(fault.StoreFailed, "the log has no events of the run %s", d.run)
	}
	d.rec = record(d.want)
	d.rec.stop = d.stop
	d.mem = newMemory(s, d.past, d.want)
	return nil
}

// play does what the world did to the run, each at its event, until the recording
// ends or the replay has left it.
func (d *drive) play(ctx context.Context) error {
	if err := d.start(); err != nil {
		return err
	}
	defer func() { d.eng.Close() }()
	said := inputs(d.want)
	for n := 0; n < len(d.want); {
		var err error
		switch d.want[n].Body.(type) {
		case event.TurnStarted, event.CardAnswered:
			_, err = d.eng.Send(ctx, d.thread, said[0])
			said = said[1:]
		case event.TurnInterrupted:
			if err = d.eng.Close(); err == nil {
				err = d.start()
			}
			if err == nil {
				_, err = d.eng.ResumeThread(ctx, d.thread)
			}
		case event.CardClosed:
			err = d.closeCard(ctx)
		default:
			return nil // the replay rests where the recording went on
		}
		if err != nil {
			return fmt.Errorf("replaying event %d (%s): %w", d.want[n].Seq, d.want[n].Body.Kind(), err)
		}
		if err := d.eng.Wait(ctx, d.thread); err != nil && !errors.Is(err, errDead) {
			return err
		}
		if d.mem.stored() <= n {
			return nil
		}
		n = d.mem.stored()
	}
	return nil
}

// start begins a process of the replay, where the last one died.
func (d *drive) start() (err error) {
	d.mem.revive()
	d.rec.rewind(d.mem.stored())
	d.eng, err = engine.New(engine.Config{
		Store: d.mem, Machines: noMachines{}, Models: d.rec, Tools: d.tools.Map(d.rec.wrap), SnapshotEvery: 1 << 30, MaxInterruptions: d.rec.interruptions,
		Now: d.rec.now, NewID: func(string) string { return d.run }, ToolSeconds: 1 << 20,
	})
	return err
}

// closeCard ends the run that waits as it ended: by a stop, or by what the person said
// next.
func (d *drive) closeCard(ctx context.Context) error {
	following := inputs(d.next)
	if !d.closedByNext() || len(following) == 0 {
		return d.eng.Stop(ctx, d.thread)
	}
	_, err := d.eng.Send(ctx, d.thread, following[0])
	return err
}

// closedByNext says whether the run ended because the person began another one.
func (d *drive) closedByNext() bool {
	end, ended := d.want[len(d.want)-1].Body.(event.TurnEnded)
	return ended && end.Code == fault.CardClosed
}

// stop ends the turn as the person did. It is called by the turn's own goroutine,
// which it must not wait for.
func (d *drive) stop() {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = d.eng.Stop(now, d.thread) // how it went, the log tells
}

// got is what the replay stored, less the beginning of the run that closed its card.
func (d *drive) got() []event.Event {
	got := d.mem.since(len(d.past))
	if d.closedByNext() && len(got) > len(d.want) {
		got = got[:len(d.want)]
	}
	return got
}

// inputs lists what the person said in a run: what began it and the answers to its
// cards.
func inputs(events []event.Event) []engine.Input {
	var out []engine.Input
	for _, ev := range events {
		switch b := ev.Body.(type) {
		case event.TurnStarted:
			out = append(out, engine.Input{User: b.User, Text: b.Text, Dataset: b.Dataset, Attachments: b.Attachments, Rerun: b.Rerun, Settings: b.Settings})
		case event.PersonCalled:
			if in := &out[len(out)-1]; in.Text == "" {
				in.Direct = &engine.Direct{Tool: b.Tool, Args: b.Args.JSON}
			}
		case event.CommandGiven:
			in := &out[len(out)-1]
			in.Text, in.Command = "", &engine.Command{Name: b.Command, Fields: b.Fields}
		case event.CardAnswered:
			if b.Text != "" {
				out = append(out, engine.Input{User: b.User, Text: b.Text, Settings: b.Settings})
				continue
			}
			out = append(out, engine.Input{User: b.User, Settings: b.Settings, Card: &engine.CardAnswer{Card: b.Card, Answer: b.Answer, Fields: b.Fields, Note: b.Note}})
		}
	}
	return out
}

// compare finds the first event that differs.
func compare(run string, want, got []event.Event) *Replay {
	r := &Replay{Run: run, Events: len(want), Same: true}
	for i := range max(len(want), len(got)) {
		var a, b json.RawMessage
		var seq int64
		if i < len(want) {
			a, seq = encoded(want[i]), want[i].Seq
		}
		if i < len(got) {
			b = encoded(got[i])
		}
		if !bytes.Equal(a, b) {
			r.Same, r.Diff = false, &Difference{Seq: seq, Recorded: a, Replayed: b}
			return r
		}
	}
	return r
}

func encoded(ev event.Event) json.RawMessage {
	raw, err := json.Marshal(ev)
	if err != nil {
		return nil
	}
	return raw
}
