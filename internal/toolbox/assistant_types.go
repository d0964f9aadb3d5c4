package toolbox

import (
	"encoding/json"

	"interlock/internal/event"
	"interlock/internal/tool"
)

func taints(s *tool.Spec) { s.Taints = true }

// volatile marks a tool that reads sources where they are, without a version.
func volatile(s *tool.Spec) { s.Volatile = true }

func mainArgument(name string) func(*tool.Spec) { return func(s *tool.Spec) { s.Main = name } }

// Arguments and results of the assistant tools.
type (
	SQLSelectIn struct {
		SourceID string       `json:"source_id"`
		SQL      string       `json:"sql"`
		Purpose  string       `json:"purpose,omitempty"`
		Answer   bool         `json:"answer,omitempty" jsonschema:"true on the one call whose table answers the question"`
		Tables   []FoundTable `json:"tables"`
		MaxRows  int          `json:"max_rows"`
	}
	SQLSelectOut struct {
		Columns  []string        `json:"columns"`
		Rows     json.RawMessage `json:"rows"`
		RowCount int             `json:"row_count"`
		Limited  bool            `json:"limited"`

		varies bool
		ran    *event.Ran
	}
	RequestCapabilityIn struct {
		Name string `json:"name"`
		Why  string `json:"why"`
	}
	RequestCapabilityOut struct {
		Name string `json:"name"`
		Note string `json:"note"`
	}
)
