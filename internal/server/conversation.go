package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/store"
)

// A conversation is what a chat program holds of a thread. It sends all messages each time
// and no id, so the thread is found by what the person said in it. What the program says that
// was answered counts for nothing: the log knows.
type conversation struct {
	model string
	said  []string // by the person, the oldest first
	heard string   // the answer before the last saying, as the program has it
}

const (
	// resendFor is how long after it rested a turn answers an equal list of messages. Later
	// the person asks the same again, perhaps of other data.
	resendFor = 2 * time.Minute
	// maxSkipped bounds how many messages that were never taken are passed over.
	maxSkipped = 50
	// maxAlike bounds the conversations with equal words that are told apart by their answers.
	maxAlike = 5
)

// names gives under what each saying is found: a hash of the model and all that was said up
// to it. Each attempt adds its number.
func (c conversation) names() []string {
	sum := sha256.Sum256([]byte(c.model))
	out := make([]string, len(c.said))
	for i, text := range c.said {
		sum = sha256.Sum256(append(sum[:], text...))
		out[i] = hex.EncodeToString(sum[:16]) + "."
	}
	return out
}

// nextName is the name of the attempt after the last one.
func nextName(name string, last []store.Saying) string {
	n := 0
	if len(last) > 0 {
		n, _ = strconv.Atoi(strings.TrimPrefix(last[0].Name, name))
		n++
	}
	return fmt.Sprintf("%s%06d", name, n)
}

// converse says the last message of a conversation where the messages before it ended. A list
// that was just sent is not said again: it gets the answer of its turn.
func (s *Server) converse(ctx context.Context, c conversation) (*completion, error) {
	const tries = 3 // a rival may say the same at this moment
	for try := 1; ; try++ {
		said, err := s.converseOnce(ctx, c)
		if try == tries || !fault.Is(err, fault.Conflict) {
			return said, err
		}
	}
}

func (s *Server) converseOnce(ctx context.Context, c conversation) (*completion, error) {
	machine, dataset, err := s.parseModel(ctx, c.model)
	if err != nil {
		return nil, err
	}
	names, last := c.names(), len(c.said)-1
	before, err := s.cfg.Index.Sayings(ctx, noteOf(ctx).user.Name, names[last], 1)
	if err != nil {
		return nil, err
	}
	if len(before) > 0 {
		m, err := s.momentOf(ctx, before[0])
		if err != nil {
			return nil, err
		}
		if m.answersAgain(time.Now()) {
			noteThread(ctx, m.run.Thread, m.run.ID)
			return s.newCompletion(m.run, m.after, c.model), nil
		}
	}
	in := Saying{Message: c.said[last], Machine: machine, Dataset: dataset, name: nextName(names[last], before)}
	from, known, err := s.findMoment(ctx, names[:last], c.heard)
	if err != nil {
		return nil, err
	}
	if known > 0 {
		if err := s.continueAt(ctx, from, &in); err != nil {
			return nil, err
		}
	}
	at, err := s.startTurn(ctx, in, s.cfg.Machine)
	if err != nil {
		return nil, err
	}
	run, err := s.cfg.Index.Run(ctx, at.run)
	if err != nil {
		return nil, err
	}
	said := s.newCompletion(run, at.after, c.model)
	said.skipped = last - known
	return said, nil
}

// A moment is what came of a saying: the run that it began or went on with, up to its rest.
type moment struct {
	run    store.Run
	after  int64        // the last event before the saying
	reply  engine.Reply // so far
	rested int64        // the event with which the run came to rest; 0 while it runs
	at     time.Time    // when
}

// momentOf reads the log from the saying to the rest, as far as it is stored.
func (s *Server) momentOf(ctx context.Context, said store.Saying) (moment, error) {
	m := moment{after: said.Seq - 1}
	t, err := s.ownThread(ctx, said.Thread)
	if err != nil {
		return m, err
	}
	if m.run, err = s.cfg.Index.Run(ctx, said.Run); err != nil {
		return m, err
	}
	c := s.newCompletion(m.run, m.after, "")
	for ev, err := range s.cfg.Engine.Follow(ctx, t.ID, m.run.First-1) {
		if err != nil {
			return m, err
		}
		_, rests, err := c.take(ev)
		if err != nil {
			return m, err
		}
		if rests {
			m.rested, m.at = ev.Seq, ev.Time
		}
		if rests || ev.Seq >= t.Seq {
			break
		}
	}
	m.reply = c.frames.reply
	return m, nil
}

// answersAgain says whether an equal list of messages gets this answer: a turn that runs or
// has just rested is the one that was asked for, unless it came to nothing.
func (m moment) answersAgain(now time.Time) bool {
	if m.rested == 0 {
		return true
	}
	switch event.Outcome(m.reply.Outcome) {
	case event.Failed, event.Stopped, event.Limited:
		return false
	}
	return now.Sub(m.at) < resendFor
}

// findMoment finds where the messages before the last one ended, and how many of them are
// known. Those after it were never taken: they were refused, or said to another model.
func (s *Server) findMoment(ctx context.Context, names []string, heard string) (found moment, known int, err error) {
	before := len(names)
	for n := before; n > max(0, before-maxSkipped); n-- {
		alike, err := s.cfg.Index.Sayings(ctx, noteOf(ctx).user.Name, names[n-1], maxAlike)
		if err != nil {
			return found, 0, err
		}
		for i, said := range alike {
			m, err := s.momentOf(ctx, said)
			if err != nil {
				return found, 0, err
			}
			if i == 0 {
				found = m
			}
			if len(alike) == 1 || n < before || sameText(s.completionText(m.reply), heard) {
				return m, n, nil
			}
		}
		if len(alike) > 0 {
			return found, n, nil
		}
	}
	return found, 0, nil
}

// sameText compares what was answered with what a program kept of it.
func sameText(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }

// continueAt puts a saying where another one ended: as an answer to its open card, in its
// thread, or in a fork of the thread if that went on meanwhile.
func (s *Server) continueAt(ctx context.Context, m moment, in *Saying) error {
	thread := m.run.Thread
	if m.rested == 0 { // whoever speaks while the turn runs has stopped listening to it
		if err := s.cfg.Engine.Stop(ctx, thread); err != nil {
			return err
		}
		if err := s.cfg.Engine.Wait(ctx, thread); err != nil {
			return err
		}
		in.Thread = thread
		return nil
	}
	v, err := s.cfg.Engine.View(ctx, thread)
	if err != nil {
		return err
	}
	card := m.reply.Card
	if card == nil && v.Thread.Run == m.run.ID {
		in.Thread = thread
		return nil
	}
	if card != nil {
		answer, chosen := engine.ParseChoice(*card, in.Message)
		switch isOpen := v.Card != nil && v.Card.Card == card.Card; {
		case isOpen && chosen:
			in.Message, in.Card = "", &CardResponse{Card: answer.Card, Answer: answer.Answer, Note: answer.Note}
			fallthrough
		case isOpen:
			in.Thread = thread
			return nil
		case chosen || card.Message != "":
			return fault.New(fault.CardClosed, "the question %q was answered before", truncate(card.Title, 80)).
				Suggest("Go on from the last answer, or ask again in a new conversation.")
		}
	}
	in.Thread, err = s.cfg.Engine.Fork(ctx, thread, m.rested, noteOf(ctx).user.Name)
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.Conflict, "the thread %s was removed", thread)
	}
	return err
}
