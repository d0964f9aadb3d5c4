package server

import (
	"strconv"
	"strings"
)

// A mark is a place in the stream of a thread: all of the events up to seq have
// been told, or, where parts is not 0, that many messages of event seq and all of
// the events before it. As text it is the id of a message: "thread:seq" or
// "thread:seq.parts"; the thread may be left out where it is known.
type mark struct {
	thread string
	seq    int64
	parts  int
}

func (m mark) String() string {
	s := m.thread + ":" + strconv.FormatInt(m.seq, 10)
	if m.parts > 0 {
		s += "." + strconv.Itoa(m.parts)
	}
	return s
}

func parseMark(text string) (mark, error) {
	var m mark
	rest := text
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		m.thread, rest = text[:i], text[i+1:]
	}
	seq, parts, split := strings.Cut(rest, ".")
	var err error
	if m.seq, err = strconv.ParseInt(seq, 10, 64); err == nil && split {
		m.parts, err = strconv.Atoi(parts)
	}
	if err != nil || m.seq < 0 || m.parts < 0 || split && (m.parts == 0 || m.seq == 0) {
		return mark{}, badRequest("Last-Event-ID %q is no id of this stream", clip(text, 60))
	}
	return m, nil
}

// skip says how many of the messages of event seq have been told already.
func (m mark) skip(seq int64, messages int) int {
	switch {
	case seq == 0 || seq > m.seq:
		return 0
	case seq == m.seq && m.parts > 0:
		return min(m.parts, messages)
	}
	return messages
}
