package llm

import (
	"context"

	"interlock/internal/nlq"
)

// aboutStep answers a message that asks nothing of the rows: hello, which tables are there, what can I
// ask. The schema is read first where the machine offers that, so that its figures have an origin.
// Without a dataset it speaks of all of them. No reply says that it is a question after all.
func (o offline) aboutStep(ctx context.Context, req Request, question, dataset string) (*Reply, error) {
	ids := []string{dataset}
	if dataset == "" {
		var err error
		if ids, err = o.planner.Datasets(ctx); err != nil {
			return nil, err
		}
	}
	if len(ids) == 1 {
		x, err := o.planner.Index(ctx, ids[0])
		if err != nil {
			return nil, err
		}
		said, ok := x.AnswerAboutData(question)
		switch {
		case !ok:
			return nil, nil
		case offersTool(req, schemaCall) && !hasResultOf(req.Messages, schemaCall) && nlq.AnswersWithSchema(question):
			r := callStep(schemaCall, map[string]any{"dataset_id": ids[0]})
			return &r, nil
		}
		return &Reply{Text: said}, nil
	}
	var all []*nlq.Index
	for _, id := range ids {
		if x, err := o.planner.Index(ctx, id); err == nil { // an unreadable dataset is told of elsewhere
			all = append(all, x)
		}
	}
	if len(all) == 0 {
		return &Reply{Text: noDataset}, nil
	}
	if said := nlq.AnswerAboutDatasets(question, all); said != "" {
		return &Reply{Text: said}, nil
	}
	return nil, nil
}
