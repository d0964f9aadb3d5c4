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

// A Replay is the outcome of replaying a run.
type Replay struct {
	Run    string      `json:"run_id"`
	Events int         `json:"events"`
	Same   bool        `json:"same"`
	Diff   *Difference `json:"difference,omitempty"`
}

// A Difference is the first event of a replay that differs from the recording.
type Difference struct {
	Seq      int64           `json:"seq"`
	Recorded json.RawMessage `json:"recorded,omitempty"`
	Replayed json.RawMessage `json:"replayed,omitempty"`
}

// ReplayRun runs the machine of a run again, with the recorded replies, results and times
// in place of the model, the tools and the clock, and compares the new log with the
// recorded one byte for byte. What came from outside happens again at the same event:
// answers, a stop, the death of a process, the message that closed the card. A run that
// waits is replayed up to its card.
func ReplayRun(ctx context.Context, s store.Store, tools *tool.Set, run string) (*Replay, error) {
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
	d := &replayer{run: run, thread: row.Thread, tools: tools}
	if err := d.loadRun(ctx, s, row); err != nil {
		return nil, err
	}
	if err := d.replayInputs(ctx); err != nil {
		return nil, err
	}
	return compareLogs(run, d.want, d.storedEvents()), nil
}

// A replayer replays one run.
type replayer struct {
	run, thread string
	tools       *tool.Set
	past, want  []event.Event // the events before the run, and those of the run
	next        []event.Event // the events of the next run
	rec         *recording
	mem         *replayStore
	eng         *engine.Engine
}

// loadRun loads the events before the run, those of the run, and those of the next run.
func (d *replayer) loadRun(ctx context.Context, s store.Store, row store.Run) error {
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
	d.rec = newRecording(d.want)
	d.rec.stop = d.stopTurn
	d.mem = newReplayStore(s, d.past, d.want)
	return nil
}

// replayInputs repeats what came from outside, each at its event, until the recording ends
// or the replay differs from it.
func (d *replayer) replayInputs(ctx context.Context) error {
	if err := d.startEngine(); err != nil {
		return err
	}
	defer func() { d.eng.Close() }()
	said := recordedInputs(d.want)
	for n := 0; n < len(d.want); {
		var err error
		switch d.want[n].Body.(type) {
		case event.TurnStarted, event.CardAnswered:
			_, err = d.eng.Send(ctx, d.thread, said[0])
			said = said[1:]
		case event.TurnInterrupted:
			if err = d.eng.Close(); err == nil {
				err = d.startEngine()
			}
			if err == nil {
				_, err = d.eng.ResumeThread(ctx, d.thread)
			}
		case event.CardClosed:
			err = d.closeCard(ctx)
		default:
			return nil // the replay has stopped here and the recording has not
		}
		if err != nil {
			return fmt.Errorf("replaying event %d (%s): %w", d.want[n].Seq, d.want[n].Body.Kind(), err)
		}
		if err := d.eng.Wait(ctx, d.thread); err != nil && !errors.Is(err, errProcessDied) {
			return err
		}
		if d.mem.storedCount() <= n {
			return nil
		}
		n = d.mem.storedCount()
	}
	return nil
}

// startEngine starts an engine that continues where the recorded process began or died.
func (d *replayer) startEngine() (err error) {
	d.mem.revive()
	d.rec.rewind(d.mem.storedCount())
	d.eng, err = engine.New(engine.Config{
		Store: d.mem, Machines: noMachines{}, Models: d.rec, Tools: d.tools.Map(d.rec.wrapTool), SnapshotEvery: 1 << 30, MaxInterruptions: d.rec.interruptions,
		Now: d.rec.nextTime, NewID: func(string) string { return d.run }, ToolSeconds: 1 << 20,
		SkipFigures:     d.rec.figures == nil, // a run of a version that did not trace them replays as it was
		RecordedFigures: d.rec.figures, RecordedUnsupported: d.rec.unsupported,
	})
	return err
}

// closeCard ends the waiting run as it was ended: by a stop, or by the person's next
// message.
func (d *replayer) closeCard(ctx context.Context) error {
	following := recordedInputs(d.next)
	if !d.closedByNext() || len(following) == 0 {
		return d.eng.Stop(ctx, d.thread)
	}
	_, err := d.eng.Send(ctx, d.thread, following[0])
	return err
}

// closedByNext reports whether the run ended because the person began another one.
func (d *replayer) closedByNext() bool {
	end, ended := d.want[len(d.want)-1].Body.(event.TurnEnded)
	return ended && end.Code == fault.CardClosed
}

// stopTurn stops the turn as the person did. The turn's own goroutine calls it, so it must
// not wait for the turn to end.
func (d *replayer) stopTurn() {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = d.eng.Stop(now, d.thread) // the comparison of the logs shows whether it worked
}

// storedEvents returns the events that the replay stored, without those of the next run.
func (d *replayer) storedEvents() []event.Event {
	got := d.mem.eventsFrom(len(d.past))
	if d.closedByNext() && len(got) > len(d.want) {
		got = got[:len(d.want)]
	}
	return got
}

// recordedInputs returns what the person sent in a run: the input that began it and the
// answers to its cards.
func recordedInputs(events []event.Event) []engine.Input {
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

// compareLogs finds the first event that differs.
func compareLogs(run string, want, got []event.Event) *Replay {
	r := &Replay{Run: run, Events: len(want), Same: true}
	for i := range max(len(want), len(got)) {
		var a, b json.RawMessage
		var seq int64
		if i < len(want) {
			a, seq = encodeEvent(want[i]), want[i].Seq
		}
		if i < len(got) {
			b = encodeEvent(got[i])
		}
		if !bytes.Equal(a, b) {
			r.Same, r.Diff = false, &Difference{Seq: seq, Recorded: a, Replayed: b}
			return r
		}
	}
	return r
}

func encodeEvent(ev event.Event) json.RawMessage {
	raw, err := json.Marshal(ev)
	if err != nil {
		return nil
	}
	return raw
}
