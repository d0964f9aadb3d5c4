package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/tool"
)

// Sources are single tables by their alias, wherever they are.
type Sources interface {
	List(ctx context.Context) ([]SourceRow, error)
	// Load gives some rows under conditions, which run where the source is.
	Load(ctx context.Context, l Loading) (Loaded, error)
}

// A Loading says which rows of a source are wanted.
type Loading struct {
	Alias         string
	Conditions    []schema.Condition
	Offset, Limit int
}

// Loaded is some rows of a source under conditions, and how many there are.
type Loaded struct {
	Alias     string
	Columns   []schema.Column
	Rows      json.RawMessage // an array of arrays
	TotalRows int64
}

// errNoSources is said where nothing of this kind is wired.
var errNoSources = fault.New(fault.Unavailable, "there are no sources to load from")

func (b box) listSources() tool.Tool {
	return tool.New(spec("list_sources", tool.Reads, taints, volatile), func(ctx context.Context, _ ListSourcesIn) (ListSourcesOut, error) {
		if b.Sources == nil {
			return ListSourcesOut{}, errNoSources
		}
		list, err := b.Sources.List(ctx)
		return ListSourcesOut{Sources: append([]SourceRow{}, list...)}, err
	})
}

func (b box) getSourcePreview() tool.Tool {
	return tool.New(spec("get_source_preview", tool.Reads, taints, volatile), func(ctx context.Context, in SourcePreviewIn) (SourcePreviewOut, error) {
		if b.Sources == nil {
			return SourcePreviewOut{}, errNoSources
		}
		l := Loading{Alias: in.Alias, Offset: in.Offset, Limit: in.Limit}
		if l.Limit == 0 {
			l.Limit = 20
		}
		if in.Scoped {
			l.Conditions = in.scope()
		}
		got, err := b.Sources.Load(ctx, l)
		if err != nil {
			return SourcePreviewOut{}, err
		}
		rows, err := got.objects()
		out := SourcePreviewOut{Alias: got.Alias, Schema: SideSchema{Alias: got.Alias, RowCount: int(got.TotalRows)}, Rows: rows, TotalRows: int(got.TotalRows)}
		for _, c := range got.Columns {
			raw, _ := json.Marshal(c) // two texts
			out.Schema.Columns = append(out.Schema.Columns, raw)
		}
		return out, err
	})
}

// scope finds the conditions under which the side of this alias was loaded.
func (in SourcePreviewIn) scope() []schema.Condition {
	var sides map[string]struct {
		Alias string `json:"alias"`
		Scope *Scope `json:"scope"`
	}
	if json.Unmarshal(in.Scopes, &sides) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(sides)) {
		if side := sides[name]; side.Alias == in.Alias && side.Scope != nil {
			return side.Scope.Conditions
		}
	}
	return nil
}

func (b box) loadScoped() tool.Tool {
	return tool.New(spec("load_scoped", tool.Reads, taints, volatile), func(ctx context.Context, in LoadScopedIn) (LoadScopedOut, error) {
		if b.Sources == nil {
			return LoadScopedOut{}, errNoSources
		}
		got, err := b.Sources.Load(ctx, Loading{Alias: in.Alias, Conditions: in.Conditions, Limit: in.Limit})
		if err != nil {
			return LoadScopedOut{}, err
		}
		out := LoadScopedOut{
			Alias: got.Alias, Scope: Scope{Conditions: append([]schema.Condition{}, in.Conditions...), TotalRows: int(got.TotalRows)},
			Columns: []string{}, TotalRows: int(got.TotalRows), Outside: []string{},
		}
		for _, c := range got.Columns {
			out.Columns = append(out.Columns, c.Name)
		}
		if out.Rows, err = got.objects(); err != nil {
			return out, err
		}
		out.PreviewRows = len(out.Rows)
		out.Note = fmt.Sprintf("The first %d of %d rows are shown.", out.PreviewRows, out.TotalRows)
		if out.PreviewRows == out.TotalRows {
			out.Note = fmt.Sprintf("All %d rows are shown.", out.TotalRows)
		}
		out.Outside, err = b.outside(ctx, in)
		return out, err
	})
}

// outside names the rows of pairs that the new scope does not have any more: those of
// which the source has none under the conditions.
func (b box) outside(ctx context.Context, in LoadScopedIn) ([]string, error) {
	var left struct {
		Alias string `json:"alias"`
	}
	_ = json.Unmarshal(in.Left, &left) // absent: no side is known, and no pair either
	outside := []string{}
	for _, p := range slices.Concat(in.Confirmed, in.Rejected) {
		key, row := p.RightKey, p.Right
		if left.Alias == in.Alias {
			key, row = p.LeftKey, p.Left
		}
		same, err := sameRow(row)
		if err != nil {
			return nil, err
		}
		if len(same) == 0 || slices.Contains(outside, key) {
			continue
		}
		got, err := b.Sources.Load(ctx, Loading{Alias: in.Alias, Conditions: slices.Concat(in.Conditions, same), Limit: 1})
		if err != nil {
			return nil, err
		}
		if got.TotalRows == 0 {
			outside = append(outside, key)
		}
	}
	return outside, nil
}

// sameRow are the conditions that a row fulfils: its cells that are texts or numbers.
func sameRow(row json.RawMessage) ([]schema.Condition, error) {
	var cells map[string]json.RawMessage
	if len(row) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(row, &cells); err != nil {
		return nil, fault.Wrap(err, fault.InvalidArguments, "a row of a pair is no object")
	}
	var out []schema.Condition
	for _, name := range slices.Sorted(maps.Keys(cells)) {
		if c := cells[name][0]; c == '"' || c == '-' || c >= '0' && c <= '9' {
			value, err := decodeExact(cells[name])
			if err != nil {
				return nil, fault.Wrap(err, fault.InvalidArguments, "a cell of a pair's row is no JSON")
			}
			out = append(out, schema.Condition{Column: name, Op: schema.Eq, Value: value})
		}
	}
	return out, nil
}

// decodeExact decodes JSON with numbers as they are written.
func decodeExact(raw json.RawMessage) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

// objects gives the rows as objects, their members in the order of the columns.
func (l Loaded) objects() ([]json.RawMessage, error) {
	var rows [][]json.RawMessage
	if err := json.Unmarshal(l.Rows, &rows); err != nil {
		return nil, fmt.Errorf("reading loaded rows: %w", err)
	}
	out := make([]json.RawMessage, len(rows))
	for i, row := range rows {
		var text bytes.Buffer
		for j, cell := range row {
			name, _ := json.Marshal(l.Columns[j].Name) // a text
			text.WriteByte("{,"[min(j, 1)])
			text.Write(name)
			text.WriteByte(':')
			text.Write(cell)
		}
		text.WriteByte('}')
		out[i] = text.Bytes()
	}
	return out, nil
}
