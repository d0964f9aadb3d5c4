package toolbox

import (
	"context"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/tool"
)

// Choices remember what people chose at questions back.
type Choices interface {
	// RememberFor writes a choice into the semantic model of a dataset for a user, if they may.
	RememberFor(ctx context.Context, dataset, user string, c schema.Choice) error
}

// A MadeChoice is what the person's answer to a question back chose, for them to have remembered.
type MadeChoice struct {
	DatasetID string `json:"dataset_id"`
	Term      string `json:"term"`
	Reading   string `json:"reading"`
	Sentence  string `json:"sentence"`
}

// madeChoice is a choice as it is offered to be remembered; nil is none.
func madeChoice(dataset string, c *schema.Choice) *MadeChoice {
	if c == nil || c.Term == "" || c.Reading == "" {
		return nil
	}
	return &MadeChoice{dataset, c.Term, c.Reading, c.Sentence()}
}

type (
	// RememberReadingIn is what remember_reading takes. Said is what the person wrote behind the words
	// that call the tool: "this", or the reading.
	RememberReadingIn struct {
		DatasetID string `json:"dataset_id"`
		Term      string `json:"term"`
		Reading   string `json:"reading"`
		Said      string `json:"said,omitempty"`
	}
	// RememberReadingOut says what was written.
	RememberReadingOut struct {
		Said string `json:"said"`
	}
)

// rememberReading is called by a person's message alone: machines have it as a shortcut or a step
// behind one, and offer it to no model.
func (b box) rememberReading() tool.Tool {
	return tool.New(spec("remember_reading", tool.Writes), func(ctx context.Context, in RememberReadingIn) (RememberReadingOut, error) {
		if b.Choices == nil {
			return RememberReadingOut{}, fault.New(fault.FeatureDisabled, "nothing keeps choices here")
		}
		if said := strings.Trim(strings.ToLower(in.Said), " .!"); said != "" && said != "this" && said != "that" && said != "it" && !sharesWord(said, in.Reading) {
			return RememberReadingOut{}, fault.New(fault.BadRequest, "%.80q is not what was chosen last, which is %s", in.Said, in.Reading).
				Suggest("Say \"always mean this\", or choose again first.")
		}
		c := schema.Choice{Term: in.Term, Reading: in.Reading}
		if err := b.Choices.RememberFor(ctx, in.DatasetID, tool.In(ctx).Owner, c); err != nil {
			return RememberReadingOut{}, err
		}
		return RememberReadingOut{Said: "Remembered. " + c.Sentence() + " It is a line of the semantic model of " + in.DatasetID + "; `interlock meaning choices " + in.DatasetID + "` lists such lines and `meaning forget` removes them."}, nil
	})
}

// sharesWord reports whether all words of said, but for small ones, are words of the reading.
func sharesWord(said, reading string) bool {
	reading = " " + strings.ToLower(reading) + " "
	found := false
	for _, w := range strings.Fields(said) {
		if strings.Contains(reading, " "+w+" ") {
			found = true
		} else if w != "the" && w != "of" {
			return false
		}
	}
	return found
}
