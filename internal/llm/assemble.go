package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/fault"
)

// Limits on one reply; what a model may send is not ours to trust.
const (
	maxText  = 8 << 20
	maxCalls = 128
	maxArgs  = 8 << 20 // of all calls together
)

// A piece is a fragment of a tool call as a provider streamed it. Every field may
// be missing or wrong: servers differ in what they repeat, number and identify.
type piece struct {
	index int // noIndex if the provider gave none
	id    string
	name  string
	args  string
	// final marks a piece of a message that repeats the whole reply: its arguments
	// are not a continuation.
	final bool
}

const noIndex = -1

// namespace stands before the names of tools in the instructions of some models, which repeat
// it. No provider takes a name with a dot, so that no tool has it.
const namespace = "functions."

// An assembly makes one valid reply of raw pieces, in the order in which calls
// began. It is the only place that knows how streams go wrong. The zero value is
// ready for use.
type assembly struct {
	text  strings.Builder
	calls []*draft
	last  *draft // the call that the latest piece belonged to
	size  int
	err   error
}

// A draft is a call under construction.
type draft struct {
	index     int
	ids       []string // all that it was called; the first one stays
	name      string
	args      strings.Builder
	braces    braceTracker // of args
	latest    string       // the latest fragment of args
	whole     string       // arguments as a final message gave them
	confirmed bool         // a final message has named it
}

// appendText adds text.
func (a *assembly) appendText(text string) {
	if a.text.Len()+len(text) > maxText {
		a.fail("more than %d MB of text", maxText>>20)
		return
	}
	a.text.WriteString(text)
}

// appendWholeText takes the text of a message that repeats the whole reply and
// returns the part of it that is new.
func (a *assembly) appendWholeText(text string) (rest string) {
	rest, ok := strings.CutPrefix(text, a.text.String())
	if !ok {
		return ""
	}
	a.appendText(rest)
	return rest
}

// addPiece adds a fragment of a call.
func (a *assembly) addPiece(p piece) {
	if a.size += len(p.args) + len(p.id) + len(p.name); a.size > maxArgs {
		a.fail("more than %d MB of tool calls", maxArgs>>20)
		return
	}
	d := a.findDraft(p)
	if d == nil {
		if len(a.calls) == maxCalls {
			a.fail("more than %d tool calls", maxCalls)
			return
		}
		d = &draft{index: p.index}
		a.calls = append(a.calls, d)
	}
	a.last = d
	if d.index == noIndex {
		d.index = p.index
	}
	if p.id != "" && !slices.Contains(d.ids, p.id) {
		d.ids = append(d.ids, p.id)
	}
	d.name += strings.TrimPrefix(p.name, d.name) // repeated, or in pieces
	switch {
	case p.final:
		d.confirmed = true
		d.whole = p.args
	case p.args != "":
		d.args.WriteString(p.args)
		d.braces.track(p.args)
		d.latest = p.args
	}
}

// findDraft returns the call that a piece continues, or nil if the piece begins
// one.
func (a *assembly) findDraft(p piece) *draft {
	if p.final {
		return a.findRepeated(p)
	}
	if p.index != noIndex {
		// The latest call of that number: some servers number all calls alike.
		for _, d := range slices.Backward(a.calls) {
			if d.index == p.index {
				if d.beginsAnother(p) {
					return nil
				}
				return d
			}
		}
	}
	if p.id != "" {
		for _, d := range slices.Backward(a.calls) {
			if !slices.Contains(d.ids, p.id) {
				continue
			}
			// Two numbers that share an id are two calls.
			if d.index != noIndex && p.index != noIndex && p.name != "" || d.beginsAnother(p) {
				return nil
			}
			return d
		}
	}
	if p.index != noIndex {
		// A number that comes late belongs to the first call that still lacks one.
		for _, d := range a.calls {
			if d.index == noIndex && !d.isComplete() && !d.beginsAnother(p) {
				return d
			}
		}
		return nil
	}
	// Neither number nor known id: the call in progress, unless the piece begins another.
	if a.last == nil || a.last.beginsAnother(p) || p.name != "" && p.id != "" && len(a.last.ids) > 0 {
		return nil
	}
	return a.last
}

// findRepeated returns the call that a message repeats: by id, else by name and
// arguments, else the first of that name which no message has confirmed yet.
func (a *assembly) findRepeated(p piece) *draft {
	open := func(d *draft) bool { return !d.confirmed && (d.name == p.name || d.name == "") }
	for _, same := range []func(*draft) bool{
		func(d *draft) bool { return p.id != "" && slices.Contains(d.ids, p.id) },
		func(d *draft) bool { return d.name == p.name && sameJSON(d.args.String(), p.args) },
		func(d *draft) bool { return true },
	} {
		for _, d := range a.calls {
			if open(d) && same(d) {
				return d
			}
		}
	}
	return nil
}

// beginsAnother reports whether the piece must begin another call although it seems
// to continue this one: it names another tool, or brings whole arguments after
// whole arguments.
func (d *draft) beginsAnother(p piece) bool {
	if p.name == "" || d.name == "" {
		return false
	}
	if p.name != d.name {
		return !d.continuesName(p)
	}
	if !d.isComplete() {
		return false
	}
	known := p.id != "" && slices.Contains(d.ids, p.id)
	return !known && (p.id != "" || p.args != "")
}

// continuesName reports whether the piece brings more of the name of this call: it has its
// number and no id, and there are no arguments yet.
func (d *draft) continuesName(p piece) bool {
	return p.id == "" && len(d.ids) > 0 && p.index != noIndex && p.index == d.index && d.args.Len() == 0
}

func (d *draft) isComplete() bool { return d.braces.closed && isObject(d.args.String()) }

// A braceTracker follows arguments as they arrive and notices when they may be a
// whole object, so that long ones are not parsed again at every piece.
type braceTracker struct {
	depth           int
	quoted, escaped bool
	closed          bool // an object has ended, and nothing came after it
	broken          bool // something came after it
}

// track counts the braces of a fragment.
func (b *braceTracker) track(s string) {
	for i := range len(s) {
		c := s[i]
		switch {
		case b.broken:
			return
		case b.escaped:
			b.escaped = false
		case b.quoted:
			b.escaped = c == '\\'
			b.quoted = c != '"'
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case b.closed:
			b.closed, b.broken = false, true
		case c == '"':
			b.quoted = true
		case c == '{':
			b.depth++
		case c == '}':
			b.depth--
			b.closed = b.depth == 0
		}
	}
}

// finalArguments returns the arguments: the joined fragments if they are JSON, else
// the final message's or the latest fragment if that is JSON.
func (d *draft) finalArguments() string {
	joined := strings.TrimSpace(d.args.String())
	for _, s := range []string{joined, strings.TrimSpace(d.whole), strings.TrimSpace(d.latest)} {
		if isObject(s) {
			return s
		}
	}
	if joined == "" {
		joined = strings.TrimSpace(d.whole)
	}
	if joined == "" || joined == "null" {
		return "{}"
	}
	return joined
}

// buildCalls returns the calls. Ids that are missing are derived from seed, which
// must differ from reply to reply. A reply of which nothing can be used is an
// error.
func (a *assembly) buildCalls(seed string) ([]Call, error) {
	if a.err != nil {
		return nil, a.err
	}
	a.joinNamesToArguments()
	var calls []Call
	nameless := 0
	used := map[string]bool{}
	for i, d := range a.calls {
		if d.name == "" {
			nameless++
			continue
		}
		id := fmt.Sprintf("call_%s_%d", seed, i+1)
		if len(d.ids) > 0 {
			id = d.ids[0]
		}
		for base, n := id, 2; used[id]; n++ {
			id = fmt.Sprintf("%s_%d", base, n)
		}
		used[id] = true
		calls = append(calls, Call{ID: id, Name: strings.TrimPrefix(strings.TrimSpace(d.name), namespace), Args: d.finalArguments()})
	}
	if nameless > 0 && len(calls) == 0 {
		return nil, &attemptError{code: fault.ModelBadOutput, text: "the model called a tool without naming it"}
	}
	return calls, nil
}

// joinNamesToArguments joins arguments that arrived without a name to names that
// arrived without arguments, in order. Fragments without either are dropped.
func (a *assembly) joinNamesToArguments() {
	var named []*draft
	for _, d := range a.calls {
		if d.name != "" && d.args.Len() == 0 && d.whole == "" {
			named = append(named, d)
		}
	}
	a.calls = slices.DeleteFunc(a.calls, func(d *draft) bool {
		if d.name != "" {
			return false
		}
		if d.args.Len() == 0 && d.whole == "" {
			return true
		}
		if len(named) == 0 {
			return false
		}
		named[0].args.WriteString(d.args.String())
		named[0].latest, named[0].whole = d.latest, d.whole
		named = named[1:]
		return true
	})
}

func (a *assembly) fail(format string, args ...any) {
	if a.err == nil {
		a.err = &attemptError{code: fault.ModelBadOutput, text: "the model sent " + fmt.Sprintf(format, args...)}
	}
}

func isObject(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "{") && json.Valid([]byte(s))
}

func sameJSON(a, b string) bool {
	return strings.Join(strings.Fields(a), "") == strings.Join(strings.Fields(b), "")
}
