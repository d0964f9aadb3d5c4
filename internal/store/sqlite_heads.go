package store

import "time"

// heads remembers the rows of threads as this writer stored them last, so that a
// step in the middle of a turn, which changes nothing in its row but the end, writes
// one page instead of two. The view of the same name fills in the end.
type heads map[string]Thread

const maxHeads = 1024

// stands says whether the thread's row need not be written, because its last event
// says the rest. Another process cannot have changed it: it would have taken the
// number of the batch's first event, which makes the batch a conflict.
func (h heads) stands(b Batch) bool {
	known, ok := h[b.Thread]
	if !ok || known.Seq != b.After || b.Head.Status != Running {
		return false
	}
	if n := len(b.Events); n == 0 || !b.Events[n-1].Time.Equal(b.Head.Updated) {
		return false
	}
	known.Seq = 0
	return known == essence(b.Head)
}

// note remembers the row of a batch that was stored.
func (h heads) note(b Batch) {
	if len(h) >= maxHeads {
		clear(h)
	}
	row := essence(b.Head)
	row.Seq = b.After + int64(len(b.Events))
	h[b.Thread] = row
}

// essence is the part of a row that is not its end.
func essence(t Thread) Thread {
	t.ID, t.Owner, t.Machine = "", "", "" // never rewritten
	t.Seq, t.Created, t.Updated = 0, time.Time{}, time.Time{}
	return t
}
