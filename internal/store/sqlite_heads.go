package store

import "time"

// heads remembers the rows of threads as this writer stored them last, so that a
// step in the middle of a turn, which changes nothing in its row but the end, writes
// one page instead of two. The view of the same name fills in the end.
type heads map[string]Thread

const maxHeads = 1024

// isCurrent says whether the thread's row need not be written, because its last event
// says the rest. Another process cannot have changed it: it would have taken the
// number of the batch's first event, which makes the batch a conflict.
func (h heads) isCurrent(b Batch) bool {
	known, ok := h[b.Thread]
	if !ok || known.Seq != b.After || b.Head.Status != Running {
		return false
	}
	if n := len(b.Events); n == 0 || !b.Events[n-1].Time.Equal(b.Head.Updated) {
		return false
	}
	known.Seq = 0
	return known == mutableColumns(b.Head)
}

// record remembers the row of a batch that was stored.
func (h heads) record(b Batch) {
	if len(h) >= maxHeads {
		clear(h)
	}
	row := mutableColumns(b.Head)
	row.Seq = b.After + int64(len(b.Events))
	h[b.Thread] = row
}

// mutableColumns returns t without the columns that Append never rewrites and without
// its end, which is read from the events.
func mutableColumns(t Thread) Thread {
	t.ID, t.Owner, t.Machine = "", "", "" // never rewritten
	t.Seq, t.Created, t.Updated = 0, time.Time{}, time.Time{}
	return t
}
