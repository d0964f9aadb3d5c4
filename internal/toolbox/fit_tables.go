package toolbox

import (
	"context"
	"fmt"
	"slices"

	"interlock/internal/schema"
	"interlock/internal/tool"
)

// defaultPromptTables is how many tables of a dataset a model reads at most.
const defaultPromptTables = 60

// fitTables leaves in d the tables that a text is about, the most relevant first, where it has more than a
// prompt holds. about is what the model looks for; "" is the question of the turn. The note says what was
// left out; it is empty if nothing was.
func (b box) fitTables(ctx context.Context, d *schema.Dataset, about string) (note string, err error) {
	limit := b.PromptTables
	if limit == 0 {
		limit = defaultPromptTables
	}
	total := len(d.Tables)
	if total <= limit || b.Tables == nil {
		return "", nil
	}
	call := tool.In(ctx)
	if about == "" {
		about = call.Question
	}
	if about == "" {
		d.Tables = d.Tables[:limit]
		return fmt.Sprintf("The dataset has %d tables; these are the first %d.", total, limit), nil
	}
	found, err := b.Tables.SearchTables(ctx, TableQuery{Owner: call.Owner, Dataset: d.ID, Text: about, Limit: limit})
	if err != nil {
		return "", err
	}
	var kept []schema.Table
	for _, f := range found {
		if t, ok := d.Table(f.FullyQualifiedName); ok {
			kept = append(kept, *t)
		}
	}
	d.Tables = kept
	d.Relations = slices.DeleteFunc(slices.Clone(d.Relations), func(r schema.Relation) bool {
		_, from := d.Table(r.Table)
		_, to := d.Table(r.RefTable)
		return !from || !to
	})
	return fmt.Sprintf("The dataset has %d tables; these are the %d that fit best, the best first. Others are found by other words.", total, len(kept)), nil
}
