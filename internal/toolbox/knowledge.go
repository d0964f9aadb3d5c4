package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"interlock/internal/dialect"
	"interlock/internal/nlq"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// Bounds of what the planner learns about values.
const (
	maxValues      = 10_000    // distinct texts of one column that are known
	maxValueTables = 5_000_000 // rows of a table whose values are read
	maxColumns     = 300       // text columns of a dataset whose values are read
	keepKnowledge  = 64        // versions of datasets that are remembered
)

// Knowledge is what planners and models are told about datasets: their schema, the
// values in them and their dictionary, worked out once a version. It is safe for
// concurrent use.
type Knowledge struct {
	data Data

	mu     sync.Mutex
	byData map[string]*datasetKnowledge
	order  []string
}

// datasetKnowledge is what is known about one version of a dataset.
type datasetKnowledge struct {
	schema schema.Dataset
	values []nlq.ColumnValues
	dict   schema.Dictionary
	index  *nlq.Index

	mu       sync.Mutex
	ranges   map[columnName]columnRange // nil until somebody asks
	starters []string                   // likewise
}

// NewKnowledge makes one that knows nothing yet.
func NewKnowledge(d Data) *Knowledge {
	return &Knowledge{data: d, byData: map[string]*datasetKnowledge{}}
}

// Index gives what is known about a dataset as it is now.
func (k *Knowledge) Index(ctx context.Context, dataset string) (*nlq.Index, error) {
	return k.IndexWith(ctx, dataset, "")
}

// IndexWith is Index with another file as the data dictionary; "" is the usual one.
func (k *Knowledge) IndexWith(ctx context.Context, dataset, dictionary string) (*nlq.Index, error) {
	known, err := k.load(ctx, dataset, dictionary)
	if err != nil {
		return nil, err
	}
	return known.index, nil
}

// load reads what there is to know about a dataset, or gives what was read before.
func (k *Knowledge) load(ctx context.Context, dataset, dictionary string) (*datasetKnowledge, error) {
	key := dataset + "\x00" + k.data.Version(ctx, dataset) + "\x00" + dictionary
	k.mu.Lock()
	known := k.byData[key]
	k.mu.Unlock()
	if known != nil {
		return known, nil
	}
	s, err := k.data.Schema(ctx, dataset)
	if err != nil {
		return nil, err
	}
	values, err := k.values(ctx, dataset, s)
	if err != nil {
		return nil, err
	}
	dict, err := k.data.Dictionary(ctx, dataset, dictionary)
	if err != nil {
		return nil, err
	}
	known = &datasetKnowledge{schema: s, values: values, dict: dict, index: nlq.NewIndex(s, values, dict)}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.byData[key] = known
	k.order = append(k.order, key)
	if len(k.order) > keepKnowledge {
		delete(k.byData, k.order[0])
		k.order = slices.Clone(k.order[1:])
	}
	return known, nil
}

// Datasets lists the ids of all datasets.
func (k *Knowledge) Datasets(ctx context.Context) ([]string, error) {
	list, err := k.data.Datasets(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(list))
	for i, d := range list {
		ids[i] = d.ID
	}
	return ids, nil
}

// values reads the distinct texts of each text column.
func (k *Knowledge) values(ctx context.Context, dataset string, s schema.Dataset) ([]nlq.ColumnValues, error) {
	var out []nlq.ColumnValues
	spoken, _ := dialect.Find(s.Dialect) // none is the embedded engine's
	for _, t := range s.Tables {
		if t.Rows > maxValueTables || t.Rows < 0 {
			continue
		}
		for _, c := range t.Columns {
			if kind := queryplan.KindOf(c.Type); kind != queryplan.Text || len(out) >= maxColumns {
				continue
			}
			col := spoken.Ident(c.Name)
			r, err := k.data.Query(ctx, Query{
				Dataset: dataset, MaxRows: maxValues + 1, User: "planner",
				SQL: fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE %s IS NOT NULL LIMIT %d", col, spoken.Ident(t.Name), col, maxValues+1),
			})
			if err != nil {
				return nil, fmt.Errorf("reading the values of %s.%s: %w", t.Name, c.Name, err)
			}
			var rows [][]any
			if err := json.Unmarshal(r.Rows, &rows); err != nil {
				return nil, err
			}
			v := nlq.ColumnValues{Table: t.Name, Column: c.Name, Complete: len(rows) <= maxValues}
			for _, row := range rows {
				if text, ok := row[0].(string); ok && len(v.Values) < maxValues {
					v.Values = append(v.Values, text)
				}
			}
			slices.Sort(v.Values)
			out = append(out, v)
		}
	}
	return out, nil
}
