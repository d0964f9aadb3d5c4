package demo

import (
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed golden/*.json
var goldenFiles embed.FS

// A Golden is a question with a known answer: what `golden.json` holds a list of.
type Golden struct {
	Question string `json:"question"`
	SQL      string `json:"sql"` // one right way to ask the engine
	Check    Check  `json:"check"`
}

// A Check says what a right answer looks like. Row count and values are known for
// seed 1 and scale 1 only, and left out for other data.
type Check struct {
	Status   string   `json:"status"`
	Columns  []string `json:"columns"`
	RowCount *int     `json:"row_count,omitempty"`
	Values   [][]any  `json:"values,omitempty"` // the rows, in the order that the SQL gives them
}

func (d dataset) golden(o Options) ([]Golden, error) {
	raw, err := goldenFiles.ReadFile("golden/" + d.id + ".json")
	if err != nil {
		return nil, fmt.Errorf("finding the golden queries of %s: %w", d.id, err)
	}
	var all []Golden
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("reading the golden queries of %s: %w", d.id, err)
	}
	if o.Seed == 1 && o.Scale == 1 {
		return all, nil
	}
	for i := range all {
		all[i].Check.RowCount, all[i].Check.Values = nil, nil
	}
	return all, nil
}
