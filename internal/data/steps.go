package data

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
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
	if known := r.loadPermuted(ctx, p, raw, x.Rows); known != nil {
		raw = known
	}
	made, err := r.Artifacts.Put(ctx, p, bytes.NewReader(raw))
	return fmt.Sprintf("%s@%d", made.ID, made.Version), made, err
}

// loadPermuted returns the newest content of the same statement if it has the same rows in
// another order, nil otherwise: without an ORDER BY, or among equal rows, an engine gives
// them as they come, and that makes no new version.
func (r StepResults) loadPermuted(ctx context.Context, p artifact.Put, raw []byte, rows json.RawMessage) []byte {
	f, m, err := r.Artifacts.Newest(ctx, p)
	if err != nil {
		return nil
	}
	defer f.Close()
	if m.Bytes != int64(len(raw)) {
		return nil
	}
	known, err := io.ReadAll(f)
	var kept stepRows
	if err != nil || json.Unmarshal(known, &kept) != nil {
		return nil
	}
	again, err := json.Marshal(stepRows{kept.Columns, rows})
	if err != nil || !bytes.Equal(again, raw) || !isPermutation(kept.Rows, rows) {
		return nil
	}
	return known
}

// isPermutation reports whether two lists of rows hold the same rows.
func isPermutation(a, b json.RawMessage) bool {
	var x, y []json.RawMessage
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	slices.SortFunc(x, slices.Compare[json.RawMessage])
	slices.SortFunc(y, slices.Compare[json.RawMessage])
	return slices.EqualFunc(x, y, slices.Equal[json.RawMessage])
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
