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
		out[i] = l.object(row)
	}
	return out, nil
}

// object gives one row as an object.
func (l Loaded) object(row []json.RawMessage) json.RawMessage {
	var text bytes.Buffer
	for j, cell := range row {
		name, _ := json.Marshal(l.Columns[j].Name) // a text
		text.WriteByte("{,"[min(j, 1)])
		text.Write(name)
		text.WriteByte(':')
		text.Write(cell)
	}
	text.WriteByte('}')
	return text.Bytes()
}
