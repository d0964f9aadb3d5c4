package toolbox

import (
	"context"
	"fmt"
	"strings"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// Files stores what a thread hands over as artifacts.
type Files interface {
	// Save stores a content. An equal one of the thread is given back, marked as reused;
	// another one of the same key is its next version.
	Save(ctx context.Context, f File, content []byte) (event.ArtifactMade, error)
	// SaveRows stores the rows of a kept result as a file of its format. notes say what
	// the format could not carry as it is.
	SaveRows(ctx context.Context, f File, result string) (made event.ArtifactMade, notes []string, err error)
	// Read gives the content of an artifact of the call's owner.
	Read(ctx context.Context, id string) ([]byte, error)
}

// A File says what is stored.
type File struct {
	Name     string // for people
	Format   string // csv, svg ...
	Producer string // chart, report, file
	// About names the thing that the file is about: contents of one thing are versions
	// of each other.
	About []string
}

// MadeOut is the result of a tool that makes files.
type MadeOut struct {
	Name     string `json:"name" jsonschema:"under which reports know it"`
	Artifact string `json:"artifact"`
	Note     string `json:"note"`

	made []event.ArtifactMade
}

// Made lists what was stored.
func (o MadeOut) Made() []event.ArtifactMade { return o.made }

// errNoFiles says that a tool has no place for files.
func errNoFiles(tool string) error {
	return fault.New(fault.Unavailable, "%s cannot keep files here", tool).Suggest("Answer in words.")
}

// resultNamed finds a kept result of the thread by its name, of one name the newest, or
// by its id.
func resultNamed(frames []Frame, named string) (Frame, error) {
	named = strings.TrimSpace(named)
	name := frameName(named)
	for i := len(frames) - 1; i >= 0; i-- {
		f := frames[i]
		if f.Name == named || f.Name == name && name != "" || f.ResultID == named || named != "" && strings.HasPrefix(f.ResultID, named+"@") {
			return f, nil
		}
	}
	if named == "" && len(frames) > 0 {
		return frames[len(frames)-1], nil
	}
	var names []string
	for i := len(frames) - 1; i >= 0 && len(names) < 20; i-- {
		names = append(names, frames[i].Name)
	}
	f := fault.New(fault.NotFound, "the thread has no result %.80q", named).With(names)
	if len(names) == 0 {
		return Frame{}, f.Suggest("Fetch the rows first.")
	}
	return Frame{}, f.Suggest("Its results are: %s.", strings.Join(names, ", "))
}

// madeNote is the sentence about a file, with what became of it: made, a new version, or
// nothing new.
func madeNote(made event.ArtifactMade, written, exists string) string {
	switch {
	case made.Reused:
		return exists + "; nothing new was made (" + string(fault.DuplicateArtifact) + ")."
	case made.Version > 1:
		return fmt.Sprintf("%s, as version %d.", written, made.Version)
	}
	return written + "."
}

// joinSentences joins the sentences that are there.
func joinSentences(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, " ")
}
