package llm

import (
	"context"
	"iter"
	"log/slog"
	"strings"

	"interlock/internal/event"
	"interlock/internal/fault"
)

// Chain answers with the first of the models that can: the next is tried when
// one fails before it said anything. A model that declines is not asked around.
// Which one answered stands in Reply.Model. A nil logger discards.
func Chain(log *slog.Logger, models ...Model) Model {
	if len(models) == 0 {
		panic("llm: a chain of no models")
	}
	if len(models) == 1 {
		return models[0]
	}
	return &chain{models, logger(log)}
}

type chain struct {
	models []Model
	log    *slog.Logger
}

// Name is the name of the model that is asked first.
func (c *chain) Name() string { return c.models[0].Name() }

func (c *chain) Reply(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		var failures []string
		var spent event.Usage // by models that failed
		for i, m := range c.models {
			said, err := forwardStream(m.Reply(ctx, req), addUsage(yield, spent))
			if err == nil {
				return
			}
			spent = spent.Add(UsageOf(err))
			failures = append(failures, fault.From(err).Message)
			last := i == len(c.models)-1
			switch {
			case said || ctx.Err() != nil || fault.Is(err, fault.ModelRefused):
				yield(Delta{}, WithUsage(err, spent))
				return
			case last:
				yield(Delta{}, WithUsage(allFailed(err, failures), spent))
				return
			}
			c.log.WarnContext(ctx, "A model failed; the next one is asked.", "model", m.Name(), "next", c.models[i+1].Name(), "err", err)
		}
	}
}

// allFailed keeps the code and the advice of the last failure and tells of all.
func allFailed(last error, failures []string) error {
	f := fault.From(last)
	return fault.Wrap(last, f.Code, "all %d models failed: %s", len(failures), strings.Join(failures, "; ")).
		Suggest("%s", f.Suggestion)
}
