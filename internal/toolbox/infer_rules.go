package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/recon"
	"interlock/internal/tool"
)

// InferRulesIn is what infer_rules takes; the machine binds all but the first two.
type InferRulesIn struct {
	IgnoreLeft  []string `json:"ignore_left,omitempty" jsonschema:"columns of the left side that no rule may use"`
	IgnoreRight []string `json:"ignore_right,omitempty" jsonschema:"columns of the right side that no rule may use"`
	Left        string   `json:"left"`
	Right       string   `json:"right"`
	ScopeLeft   *Scope   `json:"scope_left,omitempty"`
	ScopeRight  *Scope   `json:"scope_right,omitempty"`
	Confirmed   []Pair   `json:"confirmed,omitempty"`
	Rejected    []Pair   `json:"rejected,omitempty"`
}

// InferRulesOut is what was learned: the rules for people and models to choose from, and
// the whole recipe that they are part of.
type InferRulesOut struct {
	Rules    []Rule          `json:"rules"`
	Problems []string        `json:"problems"` // pairs that contradict each other or the rest
	Learned  json.RawMessage `json:"learned"`
	Note     string          `json:"note"`
}

func (b box) inferRules() tool.Tool {
	return tool.New(spec("infer_rules", tool.Reads, taints, volatile, longCall), func(ctx context.Context, in InferRulesIn) (InferRulesOut, error) {
		open := b.keptSession
		if len(in.IgnoreLeft)+len(in.IgnoreRight) > 0 {
			open = b.openSession // its sides are others
		}
		s, err := open(ctx, ScopedSource{in.Left, in.ScopeLeft}, ScopedSource{in.Right, in.ScopeRight}, labels(in.Confirmed, in.Rejected))
		if err != nil {
			return InferRulesOut{}, err
		}
		out, err := s.learnRules(ctx, in)
		b.finish(s, err)
		return out, err
	})
}

// learnRules learns from the rows and the decided pairs.
func (s *session) learnRules(ctx context.Context, in InferRulesIn) (InferRulesOut, error) {
	for _, side := range []struct {
		side   *recon.Side
		into   string
		ignore []string
	}{{&s.input.Left, "considered_left", in.IgnoreLeft}, {&s.input.Right, "considered_right", in.IgnoreRight}} {
		if err := s.leaveOut(ctx, side.side, side.into, side.ignore); err != nil {
			return InferRulesOut{}, err
		}
	}
	lesson, err := s.Learn(ctx, s.input)
	if err != nil {
		return InferRulesOut{}, err
	}
	out := InferRulesOut{Rules: []Rule{}, Problems: []string{}, Learned: lesson.Recipe.Encode(), Note: lesson.Note}
	for _, r := range lesson.Recipe.Rules {
		when, err := json.Marshal(r.When)
		if err != nil {
			return out, fmt.Errorf("writing a rule: %w", err)
		}
		out.Rules = append(out.Rules, Rule{ID: r.ID, Sentence: r.Sentence, Comparators: when, Covered: r.Covered, Precision: r.Precision, Share: r.Share})
	}
	for _, p := range lesson.Problems {
		out.Problems = append(out.Problems, p.Problem)
	}
	return out, nil
}

// leaveOut takes columns away from a side, so that nothing is learned from them.
func (s *session) leaveOut(ctx context.Context, side *recon.Side, into string, ignore []string) error {
	if len(ignore) == 0 {
		return nil
	}
	r, err := s.space.Query(ctx, "SELECT * FROM "+ident(side.Table)+" LIMIT 0")
	if err != nil {
		return err
	}
	var all, kept []string
	for _, c := range r.Columns {
		all = append(all, c.Name)
		if !slices.Contains(ignore, c.Name) {
			kept = append(kept, ident(c.Name))
		}
	}
	for _, name := range ignore {
		switch {
		case !slices.Contains(all, name):
			return fault.New(fault.InvalidArguments, "there is no column %.80q to ignore", name).Suggest("The columns are %s.", strings.Join(all, ", "))
		case name == side.Key:
			return fault.New(fault.InvalidArguments, "the column %q names the rows and cannot be left out", name).Suggest("Leave other columns out.")
		}
	}
	if len(kept) == 0 {
		return fault.New(fault.InvalidArguments, "no column is left to learn from").Suggest("Ignore fewer columns.")
	}
	from := side.Table
	side.Table = into
	return s.space.Create(ctx, into, "SELECT "+strings.Join(kept, ", ")+" FROM "+ident(from))
}
