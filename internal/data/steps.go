package data

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"interlock/internal/artifact"
	"interlock/internal/event"
	"interlock/internal/schema"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

// StepResults keeps the rows of steps as artifacts, so that they live, are shared with
// forks and are swept like everything else that a thread made. It implements
// toolbox.Results.
type StepResults struct{ Artifacts *artifact.Store }

// stepRows is the content of such an artifact. Only what the rows are is in it, so
// that equal rows are one artifact.
type stepRows struct {
	Columns []schema.Column `json:"columns"`
	Rows    json.RawMessage `json:"rows"`
}

// Keep implements toolbox.Results. Rows of one statement over a dataset whose data changed
// are versions of one artifact; over another dataset they are another artifact. An id names
// the version of the artifact, too: it stands for these rows for ever.
func (r StepResults) Keep(ctx context.Context, x toolbox.Result) (string, event.ArtifactMade, error) {
	raw, err := json.Marshal(stepRows{x.Columns, x.Rows})
	if err != nil {
		return "", event.ArtifactMade{}, fmt.Errorf("keeping a result: %w", err)
	}
	p := putOfCall(ctx)
	p.Name, p.Type, p.Producer = x.Name+".json", "json", x.Producer
	p.LogicalKey = event.Hash([]byte(strings.Join([]string{"rows", x.Producer, x.Dataset, x.Source}, "\x00")))[:16]
	made, err := r.Artifacts.Put(ctx, p, bytes.NewReader(raw))
	return fmt.Sprintf("%s@%d", made.ID, made.Version), made, err
}

// Load implements toolbox.Results.
func (r StepResults) Load(ctx context.Context, id string) (toolbox.Result, error) {
	f, _, err := r.Artifacts.Open(ctx, tool.In(ctx).Owner, id)
	if err != nil {
		return toolbox.Result{}, err
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		return toolbox.Result{}, fmt.Errorf("reading result %s: %w", id, err)
	}
	var kept stepRows
	if err := json.Unmarshal(raw, &kept); err != nil {
		return toolbox.Result{}, fmt.Errorf("reading result %s: %w", id, err)
	}
	return toolbox.Result{Columns: kept.Columns, Rows: kept.Rows}, nil
}
