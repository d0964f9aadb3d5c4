package server

import (
	"strconv"
	"strings"
)

// An eventID is the id of a server-sent event, which a client gives back in
// Last-Event-ID: it has all events of the thread up to seq. An event of the log may
// become several frames of /chat/stream; where frames is not 0, the client has that
// many of event seq and all of the events before it. Its text is "thread:seq" or
// "thread:seq.frames"; the thread may be left out where it is known.
type eventID struct {
	thread string
	seq    int64
	frames int
}

func (id eventID) String() string {
	s := id.thread + ":" + strconv.FormatInt(id.seq, 10)
	if id.frames > 0 {
		s += "." + strconv.Itoa(id.frames)
	}
	return s
}

func parseEventID(text string) (eventID, error) {
	var id eventID
	rest := text
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		id.thread, rest = text[:i], text[i+1:]
	}
	seq, frames, split := strings.Cut(rest, ".")
	var err error
	if id.seq, err = strconv.ParseInt(seq, 10, 64); err == nil && split {
		id.frames, err = strconv.Atoi(frames)
	}
	if err != nil || id.seq < 0 || id.frames < 0 || split && (id.frames == 0 || id.seq == 0) {
		return eventID{}, badRequest("Last-Event-ID %q is no id of this stream", truncate(text, 60)).
			Suggest("Send the id of the last event that you got, or leave the header out.")
	}
	return id, nil
}

// alreadySent says how many of the frames of event seq the client has.
func (id eventID) alreadySent(seq int64, frames int) int {
	switch {
	case seq == 0 || seq > id.seq:
		return 0
	case seq == id.seq && id.frames > 0:
		return min(id.frames, frames)
	}
	return frames
}
