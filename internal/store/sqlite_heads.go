package store

import "time"

// heads caches the rows of threads as this writer stored them last. A step in the middle of
// a turn changes only seq and updated of its row. Such a row is not written: the view of
// the same name reads these two columns from the thread's last event.
type heads map[string]Thread

const maxHeads = 1024

// isCurrent reports whether the thread's row need not be written, because only seq and
// updated have changed. Another process cannot have changed the row meanwhile: it would
// have stored an event with the batch's first number, and the batch would be a conflict.
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

// record caches the row of a batch that was stored.
func (h heads) record(b Batch) {
	if len(h) >= maxHeads {
		clear(h)
	}
	row := mutableColumns(b.Head)
	row.Seq = b.After + int64(len(b.Events))
	h[b.Thread] = row
}

// mutableColumns returns t without the columns that Append never changes and without those
// that are read from the last event.
func mutableColumns(t Thread) Thread {
	t.ID, t.Owner, t.Machine = "", "", ""
	t.Seq, t.Created, t.Updated = 0, time.Time{}, time.Time{}
	return t
}
