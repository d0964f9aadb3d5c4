package toolbox

import (
	"context"
	"encoding/json"

	"interlock/internal/tool"
)

// ListDatasetsOut is what list_datasets gives.
type ListDatasetsOut struct {
	Datasets []DatasetShown `json:"datasets"`
}

// maxPrompts is how many questions to begin with a model reads of each dataset.
const maxPrompts = 3

func (b box) listDatasets() tool.Tool {
	type in struct{}
	list := tool.New(spec("list_datasets", tool.Reads, taints), func(ctx context.Context, _ in) (ListDatasetsOut, error) {
		all, err := b.Data.Datasets(ctx)
		if err != nil {
			return ListDatasetsOut{}, err
		}
		out := ListDatasetsOut{make([]DatasetShown, len(all))}
		for i, d := range all {
			out.Datasets[i] = DatasetShown{ID: d.ID, Name: d.Name, Description: d.Description, Prompts: append([]string{}, d.Prompts[:min(maxPrompts, len(d.Prompts))]...)}
		}
		return out, nil
	})
	return tool.Versioned(list, func(ctx context.Context, _ json.RawMessage) string { return b.Data.Version(ctx, "") })
}
