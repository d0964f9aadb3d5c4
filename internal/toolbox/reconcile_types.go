package toolbox

import (
	"encoding/json"

	"interlock/internal/schema"
)

// Arguments and results of the reconcile tools.
type (
	SourceRow struct {
		Alias    string   `json:"alias"`
		Kind     string   `json:"kind"`
		Columns  []string `json:"columns"`
		RowCount int      `json:"row_count"`
	}
	SideSchema struct {
		Alias    string            `json:"alias"`
		Columns  []json.RawMessage `json:"columns"`
		RowCount int               `json:"row_count"`
	}
	Scope struct {
		Conditions []schema.Condition `json:"conditions"`
		TotalRows  int                `json:"total_rows"`
		Key        string             `json:"key"` // the column that names the rows; "" = their numbers
	}
	Pair struct {
		LeftKey  string          `json:"left_key"`
		RightKey string          `json:"right_key"`
		Left     json.RawMessage `json:"left"`
		Right    json.RawMessage `json:"right"`
		Reason   string          `json:"reason"`
	}
	Rule struct {
		ID          string          `json:"id"`
		Sentence    string          `json:"sentence"`
		Comparators json.RawMessage `json:"comparators"`
		Covered     int             `json:"covered"`
		Precision   float64         `json:"precision"`
		Share       float64         `json:"share"`
	}
	Findings struct {
		OK       bool              `json:"ok"`
		Problems []json.RawMessage `json:"problems"`
	}
	Outcome struct {
		RunID          string          `json:"run_id"`
		Matched        int             `json:"matched"`
		Ambiguous      int             `json:"ambiguous"`
		UnmatchedLeft  int             `json:"unmatched_left"`
		UnmatchedRight int             `json:"unmatched_right"`
		AmountMatched  float64         `json:"amount_matched"`
		AmountOpen     float64         `json:"amount_open"`
		ByRule         json.RawMessage `json:"by_rule"`
	}
	ListSourcesIn  struct{}
	ListSourcesOut struct {
		Sources []SourceRow `json:"sources"`
	}
	SourcePreviewIn struct {
		Alias  string          `json:"alias"`
		Side   string          `json:"side,omitempty" jsonschema:"left or right"`
		Scoped bool            `json:"scoped,omitempty"`
		Offset int             `json:"offset,omitempty"`
		Limit  int             `json:"limit,omitempty"`
		Scopes json.RawMessage `json:"scopes,omitempty"`
	}
	SourcePreviewOut struct {
		Alias     string            `json:"alias"`
		Schema    SideSchema        `json:"schema"`
		Rows      []json.RawMessage `json:"rows"`
		TotalRows int               `json:"total_rows"`
	}
	LoadScopedIn struct {
		Alias      string             `json:"alias"`
		Conditions []schema.Condition `json:"conditions"`
		Limit      int                `json:"limit,omitempty"`
		Left       *LoadedSide        `json:"left,omitempty"`
		Right      *LoadedSide        `json:"right,omitempty"`
		Confirmed  []Pair             `json:"confirmed,omitempty"`
		Rejected   []Pair             `json:"rejected,omitempty"`
	}
	LoadScopedOut struct {
		Alias       string            `json:"alias"`
		Scope       Scope             `json:"scope"`
		Columns     []string          `json:"columns"`
		Rows        []json.RawMessage `json:"rows"`
		TotalRows   int               `json:"total_rows"`
		PreviewRows int               `json:"preview_rows"`
		Outside     []string          `json:"outside"`
		Note        string            `json:"note"`
	}
)
