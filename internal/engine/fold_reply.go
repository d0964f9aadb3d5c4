package engine

import (
	"interlock/internal/event"
	"interlock/internal/fault"
)

// keepShown bounds the results of a turn that its fold lists; beyond it the log is read.
const keepShown = 1000

// A replyFold is what the reply of a turn is made from. Large values are kept as
// references.
type replyFold struct {
	Shown     []shownRef           `json:",omitempty"`
	Cut       bool                 `json:",omitempty"` // results or artifacts beyond keepShown were left out
	Artifacts []event.ArtifactMade `json:",omitempty"`
	Code      fault.Code           `json:",omitempty"`
	Text      string               `json:",omitempty"`
	Said      []string             `json:",omitempty"` // as Reply has it
	Fields    event.Value          `json:",omitzero"`  // what the machine's `reply:` says
	Figures   *event.FiguresTraced `json:",omitempty"`
}

// A shownRef is a result that the person sees, whole or in part.
type shownRef struct {
	Call, Tool string
	Result     event.Value
	Show       event.Show
}

func (r *replyFold) apply(b event.Body) {
	switch b := b.(type) {
	case event.ToolReturned:
		if !b.Person.All && len(b.Person.Fields) == 0 {
			return
		}
		if len(r.Shown)+len(r.Artifacts) >= keepShown {
			r.Cut = true
			return
		}
		r.Shown = append(r.Shown, shownRef{b.Call, b.Tool, b.Result.WithoutBytes(), b.Person})
	case event.ArtifactMade:
		if len(r.Shown)+len(r.Artifacts) >= keepShown {
			r.Cut = true
			return
		}
		r.Artifacts = append(r.Artifacts, b)
	case event.ModelReplied:
		r.Said = appendSaid(r.Said, b)
	case event.CardAnswered:
		r.Said = nil
	case event.ModelFailed:
		r.Code = b.Code
	case event.FiguresTraced:
		r.Figures = &b
	case event.TurnEnded:
		r.Code, r.Text, r.Said, r.Fields = b.Code, b.Text, nil, b.Reply.WithoutBytes()
	}
}
