package llm

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"interlock/internal/fault"
)

// A Record is one model call of a log and how it ended.
type Record struct {
	Tag   Tag
	Reply Reply
	Fault *fault.Fault // instead of a reply
}

// Recorded answers from a recording, so that a run can be replayed without its
// model. A call is found by Tag.Call, or where it has none by run and number.
type Recorded struct {
	name    string
	records []Record
	byCall  map[string]int
	byPlace map[place]int

	mu   sync.Mutex
	used []bool
}

type place struct {
	run    string
	number int
}

// Replay makes a model of a recording. The name is the one of the model that was
// recorded.
func Replay(name string, records []Record) *Recorded {
	r := &Recorded{
		name:    name,
		records: slices.Clone(records),
		byCall:  make(map[string]int, len(records)),
		byPlace: make(map[place]int, len(records)),
		used:    make([]bool, len(records)),
	}
	for i, rec := range records {
		if rec.Tag.Call != "" {
			r.byCall[rec.Tag.Call] = i
		}
		r.byPlace[place{rec.Tag.Run, rec.Tag.Number}] = i
	}
	return r
}

// Name is the name of the recorded model.
func (r *Recorded) Name() string { return r.name }

// Unused gives the tags of calls that were recorded but not asked for: a replay
// that ends with some of them has left the recording.
func (r *Recorded) Unused() []Tag {
	r.mu.Lock()
	defer r.mu.Unlock()
	var tags []Tag
	for i, used := range r.used {
		if !used {
			tags = append(tags, r.records[i].Tag)
		}
	}
	return tags
}

// Reply gives the recorded reply, its text in one piece.
func (r *Recorded) Reply(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		if ctx.Err() != nil {
			yield(Delta{}, cancelled(ctx, r.name))
			return
		}
		rec, err := r.find(req.Tag)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		if rec.Reply.Text != "" && !yield(Delta{Text: rec.Reply.Text}, nil) {
			return
		}
		if rec.Fault != nil {
			yield(Delta{}, rec.Fault)
			return
		}
		reply := rec.Reply
		reply.Calls = slices.Clone(reply.Calls)
		yield(Delta{Reply: &reply}, nil)
	}
}

func (r *Recorded) find(tag Tag) (*Record, error) {
	i, ok := r.byCall[tag.Call]
	if !ok && (tag.Call == "" || len(r.byCall) == 0) {
		i, ok = r.byPlace[place{tag.Run, tag.Number}]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok {
		return nil, r.left(tag)
	}
	r.used[i] = true
	return &r.records[i], nil
}

// left tells where the replay went another way than the recording.
func (r *Recorded) left(tag Tag) error {
	where := fmt.Sprintf("model call %d of run %q (call %q, state %q) was not recorded", tag.Number, tag.Run, tag.Call, tag.State)
	next := "; every recorded call has been replayed"
	for i, used := range r.used {
		if t := r.records[i].Tag; !used {
			next = fmt.Sprintf("; the recording goes on with model call %d of run %q (call %q, state %q)", t.Number, t.Run, t.Call, t.State)
			break
		}
	}
	return fault.New(fault.ModelFailed, "the replay left the recording: %s%s", where, next).
		Suggest("Something that the run depends on has changed since: the machine, a tool or the data.")
}
