package toolbox

import (
	"context"
	"encoding/json"

	"interlock/internal/tool"
)

// ListDatasetsOut is what list_datasets gives.
type ListDatasetsOut struct {
	Datasets []Dataset `json:"datasets"`
}

func (b box) listDatasets() tool.Tool {
	type in struct{}
	list := tool.New(spec("list_datasets", tool.Reads, taints), func(ctx context.Context, _ in) (ListDatasetsOut, error) {
		all, err := b.Data.Datasets(ctx)
		if err != nil {
			return ListDatasetsOut{}, err
		}
		for i := range all {
			all[i].Prompts = append([]string{}, all[i].Prompts[:min(3, len(all[i].Prompts))]...)
		}
		return ListDatasetsOut{all}, nil
	})
	return tool.Versioned(list, func(ctx context.Context, _ json.RawMessage) string { return b.Data.Version(ctx, "") })
}
