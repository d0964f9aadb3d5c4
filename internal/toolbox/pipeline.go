package toolbox

import (
	"encoding/json"

	"interlock/internal/event"
)

// Arguments and results of the pipeline tools.
type (
	// SQLPlan is a plan as SQL.
	SQLPlan struct {
		SQL         string `json:"sql"`
		Type        string `json:"type"`
		TargetTable string `json:"target_table"`
		// Query is the query plan behind the SQL, where the built-in planner made it.
		Query json.RawMessage `json:"query,omitempty"`
		// Confidence is how probable it is that the plan says what was asked; 0 is unknown.
		Confidence float64 `json:"confidence,omitempty"`
	}
	// Safety is what check_sql found.
	Safety struct {
		IsSafe         bool   `json:"is_safe"`
		Reason         string `json:"reason"`
		Code           string `json:"code,omitempty"` // of the reason
		SanitizedQuery string `json:"sanitized_query"`
		LimitEnforced  bool   `json:"limit_enforced"`
		// Statement is the sanitized query without the cap that check_sql put around it, and
		// MaxRows that cap.
		Statement string `json:"statement,omitempty"`
		MaxRows   int    `json:"max_rows,omitempty"`
	}
	// Executed is a result with the query that gave it.
	Executed struct {
		Columns     []string        `json:"columns"`
		ColumnTypes []string        `json:"column_types,omitempty"`
		Rows        json.RawMessage `json:"rows"`
		RowCount    int             `json:"row_count"`
		Limited     bool            `json:"limited,omitempty"`
		TotalRows   int64           `json:"total_rows,omitempty"`
		AtLeast     bool            `json:"at_least,omitempty"`
		Query       string          `json:"query"`
	}
	// Stats is how a query went.
	Stats struct {
		ExecutionTimeMS int64  `json:"execution_time_ms,omitempty"`
		Error           string `json:"error,omitempty"`
		Curable         bool   `json:"curable,omitempty"`
		Limited         bool   `json:"limited,omitempty"`
		LimitEnforced   bool   `json:"limit_enforced,omitempty"`
	}
	// Past is an entry of the history.
	Past struct {
		Query         string `json:"query"`
		Clarification string `json:"clarification,omitempty"` // the answers to questions back, one below the other
		PlanSQL       string `json:"plan_sql"`
		Response      string `json:"response"`
		Satisfaction  string `json:"satisfaction"`
		Time          string `json:"time"`
	}
	// Answered is the final output.
	Answered struct {
		Response      string          `json:"response"`
		PromptMonitor json.RawMessage `json:"prompt_monitor"`
	}
	DescribeTablesIn struct {
		DatasetID string `json:"dataset_id"`
	}
	DescribeTablesOut struct {
		Schema   json.RawMessage `json:"schema"`
		Location string          `json:"location"`
		Version  string          `json:"version"`

		chosen bool
	}
	LoadDictionaryIn struct {
		DatasetID string `json:"dataset_id"`
		Path      string `json:"path"`
	}
	LoadDictionaryOut struct {
		Dictionary json.RawMessage `json:"dictionary"`
		Warnings   []string        `json:"warnings"`
	}
	PlanQuestionIn struct {
		DatasetID     string          `json:"dataset_id,omitempty"`
		Dictionary    string          `json:"dictionary,omitempty" jsonschema:"file name of the data dictionary"`
		Question      string          `json:"question"`
		Schema        json.RawMessage `json:"schema"`
		Docs          json.RawMessage `json:"docs,omitempty"`
		History       []Past          `json:"history,omitempty"`
		Clarification string          `json:"clarification,omitempty"`
		Previous      *SQLPlan        `json:"previous,omitempty"`
		Notes         string          `json:"notes,omitempty"`
		Issues        []string        `json:"issues,omitempty"`
		Improvements  []string        `json:"improvements,omitempty"`
	}
	PlanQuestionOut struct {
		Plan      SQLPlan  `json:"plan"`
		Quality   string   `json:"quality"`
		Explain   string   `json:"explain"`
		Questions []string `json:"questions"`
		Said      string   `json:"said,omitempty"` // the answer to a message that asks nothing of the rows: hello, which tables are there
		// Choice is what the person's clarification chose, for them to have remembered.
		Choice *MadeChoice `json:"choice,omitempty"`
	}
	CheckSQLIn struct {
		DatasetID   string `json:"dataset_id"`
		SQL         string `json:"sql"`
		PreviewRows int    `json:"preview_rows"`
		MaxRows     int    `json:"max_rows"`
	}
	CheckSQLOut struct {
		Safety Safety `json:"safety"`
	}
	RunQueryIn struct {
		DatasetID     string `json:"dataset_id"`
		SQL           string `json:"sql"`
		LimitEnforced bool   `json:"limit_enforced"`
		MaxRows       int    `json:"max_rows"`
		// Statement and StatementRows are Safety.Statement and Safety.MaxRows. Where they are
		// absent, SQL runs as it is and may cut rows off without anybody noticing.
		Statement     string `json:"statement,omitempty"`
		StatementRows int    `json:"statement_rows,omitempty"`
	}
	RunQueryOut struct {
		Result Executed `json:"result"`
		Stats  Stats    `json:"stats"`

		ran *event.Ran
	}
	JudgeResultIn struct {
		DatasetID     string    `json:"dataset_id,omitempty"`
		Dictionary    string    `json:"dictionary,omitempty" jsonschema:"file name of the data dictionary"`
		Question      string    `json:"question"`
		Clarification string    `json:"clarification,omitempty"`
		Plan          SQLPlan   `json:"plan"`
		History       []Past    `json:"history,omitempty"`
		Result        *Executed `json:"result,omitempty"`
		Stats         Stats     `json:"stats"`
		// Said is what a model that judged before said of the result; it stands where the rules
		// find nothing wrong.
		Said string `json:"said,omitempty"`
	}
	JudgeResultOut struct {
		Satisfaction string   `json:"satisfaction"`
		Notes        string   `json:"notes"`
		Issues       []string `json:"issues"`
		Improvements []string `json:"improvements"`
	}
	WriteAnswerIn struct {
		Question      string          `json:"question"`
		Clarification string          `json:"clarification,omitempty"`
		Plan          *SQLPlan        `json:"plan,omitempty"`
		Quality       string          `json:"quality,omitempty"`
		Explain       string          `json:"explain,omitempty"`
		Said          string          `json:"said,omitempty"`
		Result        *Executed       `json:"result,omitempty"`
		Stats         *Stats          `json:"stats,omitempty"`
		Satisfaction  string          `json:"satisfaction,omitempty"`
		Notes         string          `json:"notes,omitempty"`
		Issues        []string        `json:"issues,omitempty"`
		UsedUp        bool            `json:"used_up,omitempty"`
		Metrics       json.RawMessage `json:"metrics,omitempty"`
		Logs          json.RawMessage `json:"logs,omitempty"`
		ElapsedMS     int64           `json:"elapsed_ms,omitempty"`
		Choice        *MadeChoice     `json:"choice,omitempty"`
	}
	WriteAnswerOut struct {
		Output Answered `json:"output"`
		Entry  Past     `json:"entry"`
	}
)

// Ran is the statement that gave the rows.
func (o RunQueryOut) Ran() *event.Ran { return o.ran }
