package toolbox

import (
	"context"
	"encoding/json"

	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/tool"
)

// declare makes a tool that has a declaration and no hands yet: machines that use it
// can be checked and played with scripted tools, and a call says plainly that this
// build cannot do it.
func declare[In, Out any](name, description string, effect tool.Effect, adjust ...func(*tool.Spec)) tool.Tool {
	spec := tool.Spec{Name: name, Description: description, Effect: effect}
	for _, f := range adjust {
		f(&spec)
	}
	return tool.New(spec, func(context.Context, In) (Out, error) {
		var none Out
		return none, fault.New(fault.Unavailable, "%s is not part of this build of Interlock", name).
			Suggest("Use a machine that does without it; `interlock machine list` says which are complete.")
	})
}

func taints(s *tool.Spec) { s.Taints = true }

// volatile marks a tool that reads sources where they are, without a version.
func volatile(s *tool.Spec) { s.Volatile = true }

func mainArgument(name string) func(*tool.Spec) { return func(s *tool.Spec) { s.Main = name } }

// Undone names the declared tools that this build cannot run.
func Undone() []string {
	var names []string
	for _, t := range declared() {
		names = append(names, t.Spec().Name)
	}
	return names
}

// declared lists the tools of machines whose parts are not built in.
func declared() []tool.Tool {
	return []tool.Tool{
		declare[WriteReportIn, MadeOut]("write_report", "Write a report as a PDF or HTML file.", tool.Writes),

		declare[DocumentSearchIn, DocumentSearchOut]("document_search", "Find excerpts of the attached documents.", tool.Reads, taints),
		declare[SchemaSearchIn, SchemaSearchOut]("schema_search", "Find tables by meaning.", tool.Reads, taints),
		declare[ListMCPToolsIn, ListMCPToolsOut]("list_mcp_tools", "List the tools of connected MCP servers.", tool.Reads, taints),
		declare[ToolSearchIn, ToolSearchOut]("tool_search", "Find tools of connected MCP servers by what they do.", tool.Reads, taints),
		declare[SQLSelectIn, SQLSelectOut]("sql_select", "Run one SELECT on a source.", tool.Reads, taints, mainArgument("sql")),
		declare[RequestCapabilityIn, RequestCapabilityOut]("request_capability", "Ask for a capability that this state does not have.", tool.Computes),

		declare[ProposeMatchIn, ProposeMatchOut]("propose_match", "Ask the person whether two rows belong together.", tool.Computes, taints),
		declare[InferRulesIn, InferRulesOut]("infer_rules", "Learn matching rules from the confirmed and rejected pairs.", tool.Computes, taints),
		declare[BuildRecipeIn, BuildRecipeOut]("build_recipe", "Make a recipe of the chosen rules.", tool.Computes, taints),
		declare[ValidateRecipeIn, ValidateRecipeOut]("validate_recipe", "Check a recipe and report every problem.", tool.Computes),
		declare[RunSampleIn, RunSampleOut]("run_sample", "Run the recipe on the loaded samples and ask the person.", tool.Computes, taints),
		declare[RunFullIn, RunFullOut]("run_full", "Run the recipe on all rows in scope and keep the evidence.", tool.Writes, taints),
	}
}

// Arguments and results of the workbench tools.
type (
	WriteReportIn struct {
		Title    string `json:"title"`
		Markdown string `json:"markdown"`
		Format   string `json:"format" jsonschema:"pdf or html"`
	}
)

// Arguments and results of the assistant tools.
type (
	Chunk struct {
		Content    string  `json:"content"`
		SourceFile string  `json:"source_file"`
		Place      string  `json:"place"`
		Relevancy  float64 `json:"relevancy"`
	}
	FoundTable struct {
		FullyQualifiedName string            `json:"fully_qualified_name"`
		SourceID           string            `json:"source_id"`
		SQLDialect         string            `json:"sql_dialect"`
		Relevancy          float64           `json:"relevancy"`
		Columns            []json.RawMessage `json:"columns"`
	}
	FoundTool struct {
		Name        string          `json:"name"`
		Server      string          `json:"server"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
		ReadOnly    bool            `json:"read_only"`
	}
	DocumentSearchIn struct {
		Query string  `json:"query"`
		Min   float64 `json:"min"`
		Limit int     `json:"limit"`
	}
	DocumentSearchOut struct {
		Chunks       []Chunk `json:"chunks"`
		MaxRelevancy float64 `json:"max_relevancy"`
	}
	SchemaSearchIn struct {
		Query string  `json:"query"`
		Min   float64 `json:"min"`
		Limit int     `json:"limit"`
	}
	SchemaSearchOut struct {
		Tables       []FoundTable `json:"tables"`
		MaxRelevancy float64      `json:"max_relevancy"`
		Note         string       `json:"note"`
	}
	ListMCPToolsIn struct {
		Known []FoundTool `json:"known,omitempty"`
	}
	ListMCPToolsOut struct {
		Tools []FoundTool `json:"tools"`
		Known []FoundTool `json:"known"`
	}
	ToolSearchIn struct {
		Query string      `json:"query"`
		Known []FoundTool `json:"known,omitempty"`
	}
	ToolSearchOut struct {
		Tools []FoundTool `json:"tools"`
		Added []FoundTool `json:"added"`
		Note  string      `json:"note"`
	}
	SQLSelectIn struct {
		SourceID string       `json:"source_id"`
		SQL      string       `json:"sql"`
		Purpose  string       `json:"purpose,omitempty"`
		Tables   []FoundTable `json:"tables"`
		MaxRows  int          `json:"max_rows"`
	}
	SQLSelectOut struct {
		Columns  []string        `json:"columns"`
		Rows     json.RawMessage `json:"rows"`
		RowCount int             `json:"row_count"`
		Limited  bool            `json:"limited"`
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
		Left       json.RawMessage    `json:"left,omitempty"`
		Right      json.RawMessage    `json:"right,omitempty"`
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
	ProposeMatchIn struct {
		LeftKey    string `json:"left_key"`
		RightKey   string `json:"right_key"`
		Reason     string `json:"reason"`
		Left       string `json:"left"`
		Right      string `json:"right"`
		ScopeLeft  *Scope `json:"scope_left,omitempty"`
		ScopeRight *Scope `json:"scope_right,omitempty"`
		Confirmed  []Pair `json:"confirmed,omitempty"`
		Rejected   []Pair `json:"rejected,omitempty"`
	}
	ProposeMatchOut struct {
		Pair   Pair     `json:"pair"`
		Agree  []string `json:"agree"`
		Nearly []string `json:"nearly"`
		Reason string   `json:"reason"`
	}
	InferRulesIn struct {
		Hints      string `json:"hints,omitempty"`
		Left       string `json:"left"`
		Right      string `json:"right"`
		ScopeLeft  *Scope `json:"scope_left,omitempty"`
		ScopeRight *Scope `json:"scope_right,omitempty"`
		Confirmed  []Pair `json:"confirmed,omitempty"`
		Rejected   []Pair `json:"rejected,omitempty"`
	}
	InferRulesOut struct {
		Rules []Rule `json:"rules"`
		Note  string `json:"note"`
	}
	BuildRecipeIn struct {
		Rules       []string        `json:"rules" jsonschema:"ids of learned rules, in the order in which they apply"`
		Cardinality string          `json:"cardinality"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
		Left        string          `json:"left"`
		Right       string          `json:"right"`
		ScopeLeft   *Scope          `json:"scope_left,omitempty"`
		ScopeRight  *Scope          `json:"scope_right,omitempty"`
		Learned     []Rule          `json:"learned,omitempty"`
	}
	BuildRecipeOut struct {
		Recipe json.RawMessage `json:"recipe"`
		Note   string          `json:"note"`
	}
	ValidateRecipeIn struct {
		Recipe      json.RawMessage `json:"recipe,omitempty"`
		Draft       json.RawMessage `json:"draft,omitempty"`
		SchemaLeft  *SideSchema     `json:"schema_left,omitempty"`
		SchemaRight *SideSchema     `json:"schema_right,omitempty"`
	}
	ValidateRecipeOut struct {
		Findings Findings `json:"findings"`
	}
	RunSampleIn struct {
		Draft       json.RawMessage   `json:"draft"`
		SampleLeft  []json.RawMessage `json:"sample_left,omitempty"`
		SampleRight []json.RawMessage `json:"sample_right,omitempty"`
	}
	RunSampleOut struct {
		Outcome  Outcome         `json:"outcome"`
		Examples json.RawMessage `json:"examples"`
		Note     string          `json:"note"`
	}
	RunFullIn struct {
		Draft      json.RawMessage `json:"draft"`
		ScopeLeft  *Scope          `json:"scope_left,omitempty"`
		ScopeRight *Scope          `json:"scope_right,omitempty"`
	}
	RunFullOut struct {
		Outcome   Outcome  `json:"outcome"`
		Artifacts []string `json:"artifacts"`
		Note      string   `json:"note"`
	}
)
