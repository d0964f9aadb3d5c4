package data

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/meaning"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
	"interlock/internal/toolbox"
)

// proposedBytes bounds what a model reads of a dataset to draft its meaning.
const proposedBytes = 24_000

// AskModel asks a model one question; the reply must follow the JSON Schema. It gives the text of
// the reply and the name of the model.
type AskModel func(ctx context.Context, system, prompt string, output []byte) (text, model string, err error)

// A ProposedMeaning is a draft to which a model added.
type ProposedMeaning struct {
	Text  []byte
	Model string
	Taken int // labels, synonyms and metrics
	Left  int // parts that do not fit, named at the top of the draft
}

// SuggestWith is Suggest with labels, synonyms and metrics that a model drafts in one call. Each is
// checked against the tables and marked with the model and its evidence; metrics are computed.
func (m Meanings) SuggestWith(ctx context.Context, id string, ask AskModel) (ProposedMeaning, error) {
	d, s, err := m.draft(ctx, id)
	if err != nil {
		return ProposedMeaning{}, err
	}
	all := plainDatasets{datasets{Catalog: m.Catalog}}
	about, err := toolbox.NewKnowledge(all).Describe(ctx, id, "", "", proposedBytes)
	if err != nil {
		return ProposedMeaning{}, err
	}
	reply, model, err := ask(ctx, meaning.ProposalPrompt(), about.About+"\n\n"+draftedMetrics(d), meaning.ProposalSchema)
	if err != nil {
		return ProposedMeaning{}, err
	}
	p, err := meaning.ReadProposal(reply)
	if err != nil {
		return ProposedMeaning{}, err
	}
	proposed := d.Propose(p, model, s)
	all.computeProposed(ctx, &proposed, s)
	out := ProposedMeaning{Model: model, Taken: proposed.Taken, Left: len(proposed.Left)}
	d = proposed.Draft
	d.Head = append(d.Head, fmt.Sprintf("Parts below a line `drafted by %s` are what that model proposed: they fit the tables, and nobody knows yet whether they are right.", model))
	d.Head = append(d.Head, proposed.Left...)
	out.Text = d.Write(s)
	return out, nil
}

// draftedMetrics tells a model what it need not draft.
func draftedMetrics(d meaning.Draft) string {
	if len(d.Metrics) == 0 {
		return "No metrics are drafted yet."
	}
	lines := []string{"Metrics that are drafted already:"}
	for _, x := range d.Metrics {
		lines = append(lines, "- "+x.Name+": "+x.Expression)
	}
	return strings.Join(lines, "\n")
}

// computeProposed computes the metrics that a model drafted and adds what they give to their
// evidence; one that cannot be computed is left out.
func (d plainDatasets) computeProposed(ctx context.Context, p *meaning.Proposed, s schema.Dataset) {
	kept := p.Draft.Metrics[:0:0]
	for _, x := range p.Draft.Metrics {
		if x.Model == "" {
			kept = append(kept, x)
			continue
		}
		value, err := d.computeMetric(ctx, x.Metric, s)
		if err != nil {
			p.Left = append(p.Left, fmt.Sprintf("Drafted by %s and left out: the metric %q: it cannot be computed: %s", x.Model, x.Name, fault.From(err).Message))
			p.Taken--
			continue
		}
		x.Because += "; over all rows it gives " + value
		kept = append(kept, x)
	}
	p.Draft.Metrics = kept
}

func (d plainDatasets) computeMetric(ctx context.Context, x schema.Metric, s schema.Dataset) (string, error) {
	if s.Dialect != "" { // nobody looks at all rows of a database that stays where it is
		return "what was not computed: the rows stay in their database", nil
	}
	e, err := queryplan.ParseMetric(x.Expression)
	if err != nil {
		return "", err
	}
	tables := []string{x.Table}
	e = queryplan.MapColumns(e, func(c queryplan.Expr) queryplan.Expr {
		if t, _, ok := strings.Cut(c.Column, "."); ok && !slices.Contains(tables, t) {
			tables = append(tables, t)
		}
		return c
	})
	plan := queryplan.Plan{Table: x.Table, Select: []queryplan.Expr{e}}
	for _, t := range tables[1:] {
		plan.Joins = append(plan.Joins, queryplan.Join{Table: t})
	}
	sql, err := plan.SQL(s)
	if err != nil {
		return "", err
	}
	row, err := d.row(ctx, s.ID, sql)
	switch {
	case err != nil:
		return "", err
	case row == nil:
		return "nothing", nil
	}
	return strconv.FormatFloat(row[0], 'f', -1, 64), nil
}
