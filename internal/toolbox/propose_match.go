package toolbox

import (
	"cmp"
	"context"
	"slices"

	"interlock/internal/fault"
	"interlock/internal/recon"
	"interlock/internal/tool"
)

// ProposeMatchIn is what propose_match takes; the machine binds all but the first three.
type ProposeMatchIn struct {
	LeftKey    string `json:"left_key,omitempty" jsonschema:"the key of a left row; leave both keys out to have the pair chosen"`
	RightKey   string `json:"right_key,omitempty" jsonschema:"the key of a right row"`
	Reason     string `json:"reason,omitempty" jsonschema:"what speaks for the pair and what against it, in one sentence"`
	Left       string `json:"left"`
	Right      string `json:"right"`
	ScopeLeft  *Scope `json:"scope_left,omitempty"`
	ScopeRight *Scope `json:"scope_right,omitempty"`
	Confirmed  []Pair `json:"confirmed,omitempty"`
	Rejected   []Pair `json:"rejected,omitempty"`
	Unsure     []Pair `json:"unsure,omitempty"` // about which the person could not say
}

// ProposeMatchOut is the content of the card that asks the person.
type ProposeMatchOut struct {
	Pair   Pair     `json:"pair"`
	Agree  []string `json:"agree"`
	Nearly []string `json:"nearly"`
	Reason string   `json:"reason"`
}

func (b box) proposeMatch() tool.Tool {
	return tool.New(spec("propose_match", tool.Reads, taints, volatile, longCall), func(ctx context.Context, in ProposeMatchIn) (ProposeMatchOut, error) {
		if (in.LeftKey == "") != (in.RightKey == "") {
			return ProposeMatchOut{}, fault.New(fault.InvalidArguments, "a pair has two keys, and only one was given").
				Suggest("Give left_key and right_key, or neither to have the pair chosen that teaches most.")
		}
		if err := in.checkUndecided(); err != nil {
			return ProposeMatchOut{}, err
		}
		s, err := b.keptSession(ctx, ScopedSource{in.Left, in.ScopeLeft}, ScopedSource{in.Right, in.ScopeRight}, labels(in.Confirmed, in.Rejected))
		if err != nil {
			return ProposeMatchOut{}, err
		}
		s.unsure = labels(in.Unsure, nil).Confirmed
		out, err := s.proposalCard(ctx, in)
		if err == nil && s.thread != "" {
			s.trainAhead()
		}
		b.finish(s, err)
		return out, err
	})
}

// proposalCard is the card of the pair that was named, or of the one that teaches most.
func (s *session) proposalCard(ctx context.Context, in ProposeMatchIn) (out ProposeMatchOut, err error) {
	var pair Pair
	if in.LeftKey != "" { // before it is explained, because then the mistake is the caller's
		if pair, err = s.pairRows(ctx, recon.Pair{Left: in.LeftKey, Right: in.RightKey}, in.Reason); err != nil {
			return out, err
		}
	}
	p, err := s.propose(ctx, in)
	if err != nil {
		return out, err
	}
	if in.LeftKey == "" {
		if pair, err = s.pairRows(ctx, p.Pair, cmp.Or(in.Reason, p.Reason)); err != nil {
			return out, err
		}
	}
	return ProposeMatchOut{Pair: pair, Agree: p.Agree, Nearly: p.Nearly, Reason: cmp.Or(in.Reason, p.Reason)}, nil
}

// propose explains the pair that was named, or chooses the one that teaches most. The
// first is a clear one: as long as nothing is confirmed, the rows that share the most.
func (s *session) propose(ctx context.Context, in ProposeMatchIn) (*recon.Proposal, error) {
	if in.LeftKey == "" && len(in.Confirmed) == 0 {
		clear, err := s.Partners(ctx, s.input, len(in.Rejected)+len(in.Unsure)+1)
		if err != nil {
			return nil, err
		}
		for _, p := range clear {
			if !s.asked(p) {
				explained, err := s.Explain(ctx, s.input, p)
				if explained != nil {
					explained.Reason = "These two rows share more rare values than any others."
				}
				return explained, err
			}
		}
	}
	if in.LeftKey == "" {
		return s.nextProposal(ctx)
	}
	return s.Explain(ctx, s.input, recon.Pair{Left: in.LeftKey, Right: in.RightKey})
}

// asked says that the person has seen a pair, decided or not.
func (s *session) asked(p recon.Pair) bool {
	return slices.Contains(slices.Concat(s.input.Labels.Confirmed, s.input.Labels.Rejected, s.unsure), p)
}

// checkUndecided refuses to ask about a pair twice.
func (in ProposeMatchIn) checkUndecided() error {
	if in.LeftKey == "" {
		return nil
	}
	same := func(p Pair) bool { return p.LeftKey == in.LeftKey && p.RightKey == in.RightKey }
	for decision, pairs := range map[string][]Pair{"confirmed": in.Confirmed, "rejected": in.Rejected, "been unsure about": in.Unsure} {
		if slices.ContainsFunc(pairs, same) {
			return fault.New(fault.InvalidArguments, "the person has %s the pair of %.80q and %.80q already", decision, in.LeftKey, in.RightKey).
				Suggest("Propose another pair, or leave both keys out to have the one chosen that teaches most.")
		}
	}
	return nil
}
