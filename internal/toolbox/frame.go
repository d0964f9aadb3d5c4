package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"interlock/internal/event"
	"interlock/internal/schema"
	"interlock/internal/tool"
)

// Results keeps the rows of steps, so that later steps have them without running
// anything again. An id stands for those rows for ever.
type Results interface {
	Keep(ctx context.Context, r Result) (id string, made event.ArtifactMade, err error)
	Load(ctx context.Context, id string) (Result, error)
}

// A Result is rows to keep.
type Result struct {
	Name     string          `json:"name"`
	Producer string          `json:"producer"` // sql or python
	Dataset  string          `json:"dataset"`  // that the statement or the code reads
	Source   string          `json:"source"`   // the form of the statement, or the code
	Columns  []schema.Column `json:"columns"`
	Rows     json.RawMessage `json:"rows"`
}

// A Frame is a kept result that later steps know by name.
type Frame = event.Frame

// notNames cannot name a frame: words of Python, and what a job is given.
var notNames = func() map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(`and as assert async await break class continue def del elif else except finally for from
		global if import in is lambda match nonlocal not or pass raise return try while with yield pd np plt tables result_df`) {
		out[word] = true
	}
	return out
}()

// maxName is the length of a frame's name in characters.
const maxName = 60

// frameName makes a name that code can use of what a model wrote; "" where nothing
// of it is left.
func frameName(text string) string {
	var out []rune
	for _, r := range norm.NFKC.String(strings.ToLower(norm.NFKC.String(text))) {
		switch {
		case len(out) == maxName:
		case unicode.IsLetter(r), unicode.Is(unicode.Nd, r) && len(out) > 0:
			out = append(out, r)
		case len(out) > 0 && out[len(out)-1] != '_':
			out = append(out, '_')
		}
	}
	name := strings.TrimRight(string(out), "_")
	if notNames[name] {
		name += "_"
	}
	return name
}

// nameInThread is the name of a result of a dataset. If the thread has a result of another
// dataset under it, the dataset is a part of the name: one must not hide the other.
func nameInThread(name, dataset string, frames []Frame) string {
	for _, f := range frames {
		if strings.EqualFold(f.Name, name) && f.Dataset != "" && f.Dataset != dataset {
			return frameName(dataset + "_" + name)
		}
	}
	return name
}

// computedName is the name of a result of Python: the one that was asked for, else a number.
// It does not hide rows that were fetched.
func computedName(asked string, frames []Frame) string {
	name := frameName(asked)
	if name == "" {
		return stepName(frames)
	}
	for _, f := range frames {
		if strings.EqualFold(f.Name, name) && f.Dataset != "" {
			return frameName("computed " + name)
		}
	}
	return name
}

// stepName numbers the results of Python: one more than the highest there is.
func stepName(frames []Frame) string {
	last := 0
	for _, f := range frames {
		if n, err := strconv.Atoi(strings.TrimPrefix(f.Name, "step_")); err == nil && strings.HasPrefix(f.Name, "step_") {
			last = max(last, n)
		}
	}
	return fmt.Sprintf("step_%d", last+1)
}

// keptResult is a result that later steps have by its name.
type keptResult struct {
	id    string
	first json.RawMessage // its first rows
	note  string          // says that there are more; "" if there are not
	made  event.ArtifactMade
}

// list is the artifact, where there is one.
func (k keptResult) list() []event.ArtifactMade {
	if k.made.ID == "" {
		return nil
	}
	return []event.ArtifactMade{k.made}
}

// keepResult keeps all rows of a result and gives the first ones.
func (b box) keepResult(ctx context.Context, r Result, most int) (kept keptResult, err error) {
	if !tool.In(ctx).KeepNothing {
		if kept.id, kept.made, err = b.Results.Keep(ctx, r); err != nil {
			return kept, err
		}
	}
	var rows []json.RawMessage
	if err := json.Unmarshal(r.Rows, &rows); err != nil {
		return kept, fmt.Errorf("reading the rows of %s: %w", r.Name, err)
	}
	if kept.first = r.Rows; len(rows) > most {
		kept.first, err = json.Marshal(rows[:most])
		kept.note = fmt.Sprintf("%s holds all %d rows, the first %d are shown.", r.Name, len(rows), most)
	}
	return kept, err
}
