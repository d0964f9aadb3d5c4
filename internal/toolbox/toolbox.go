// Package toolbox is the built-in tools: one file each, with its description as
// Markdown beside it. Tools are stateless, but for what Knowledge and Sessions keep to be
// faster; the list is in Tools.
package toolbox

import (
	"context"
	"embed"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
	"interlock/internal/tool"
)

//go:embed *.md
var descriptions embed.FS

// Config says what the tools stand on. A nil part takes its tools' hands away: they
// stay declared, and a call says why it cannot run.
type Config struct {
	Data      Data // required
	Check     Checker
	Knowledge *Knowledge // of Data; required by the planner's tools
	Python    Python     // nil: tools that run Python answer FEATURE_DISABLED
	Results   Results    // required by the tools that make frames
	Sources   Sources    // required by the tools that load single tables
	Files     Files      // required by the tools that make files
	// Workspaces are required by the tools that match the rows of two sources.
	Workspaces Workspaces
	// Sessions keep workspaces open between calls of a thread; nil: each call opens its own.
	Sessions *Sessions
	// Documents and Tables are required by the tools that search them.
	Documents Documents
	Tables    Tables
	// PromptTables is how many tables of a dataset a model reads; of more, those that fit the
	// question. At most 100. Default 60.
	PromptTables int
	// Choices remember what people chose at questions back; nil: nobody does.
	Choices Choices
	// MCP is the tools of users' MCP servers; nil: there are none.
	MCP MCP
}

// Data is datasets and the one way to query them, through policy.
type Data interface {
	// Datasets lists the datasets, without their tables.
	Datasets(ctx context.Context) ([]schema.Dataset, error)
	// Schema gives a dataset with its tables, their keys and sample rows, and its relations.
	Schema(ctx context.Context, dataset string) (schema.Dataset, error)
	// Version changes whenever what the dataset holds does.
	Version(ctx context.Context, dataset string) string
	Query(ctx context.Context, q Query) (Rows, error)
	// Dictionary reads the file of this name beside the dataset's files, "" for the usual
	// one. It is empty where nobody wrote one.
	Dictionary(ctx context.Context, dataset, file string) (schema.Dictionary, error)
}

// A Checker says whether a statement may run, without running it. Frames are the earlier
// results that it names.
type Checker interface {
	Check(ctx context.Context, dataset, sql string, frames ...Frame) (sqlpolicy.Decision, error)
}

// A Query is one statement over a dataset.
type Query struct {
	Dataset string
	SQL     string
	Frames  []Frame // earlier results that the statement names as tables
	MaxRows int
	// Whole wants every row as it is, up to so many bytes, and fails where there are more.
	Whole bool
	User  string
}

// Rows is a result.
type Rows struct {
	Columns  []schema.Column
	Rows     json.RawMessage // an array of arrays
	RowCount int
	Limited  bool      // more rows exist than are here
	Total    int64     // how many rows there are
	AtLeast  bool      // Total is only a lower bound
	Cut      int       // texts that were too long and end in …
	CopiedAt time.Time // when they were copied from their database; zero where they were not
	MS       int64
	Decision sqlpolicy.Decision
	Live     bool    // they stay in their database and may change at any time
	Version  string  // of the dataset, as it was read
	Frames   []Frame // those of the query that the statement read
}

// Tools lists every built-in tool.
func Tools(c Config) []tool.Tool {
	b := box{c}
	return []tool.Tool{
		b.listDatasets(),
		b.getDatasetSchema(),
		b.describeDataset(),
		b.executeSQL(),
		b.executeQueryPlan(),
		b.executePython(),
		b.pythonExecution(),
		b.runSQL(),
		b.runPython(),
		b.makeChart(),
		b.saveArtifact(),
		b.writeReport(),
		b.describeTables(),
		b.loadDictionary(),
		b.planQuestion(),
		b.checkSQL(),
		b.runQuery(),
		b.judgeResult(),
		b.rememberReading(),
		writeAnswer(),
		b.listSources(),
		b.getSourcePreview(),
		b.loadScoped(),
		b.proposeMatch(),
		b.inferRules(),
		buildRecipe(),
		validateRecipe(),
		b.runSample(),
		b.runFull(),
		b.documentSearch(),
		b.schemaSearch(),
		b.sqlSelect(),
		requestCapability(),
		b.listMCPTools(),
		b.toolSearch(),
	}
}

type box struct{ Config }

// spec fills a declaration with the description beside its file.
func spec(name string, effect tool.Effect, adjust ...func(*tool.Spec)) tool.Spec {
	text, err := descriptions.ReadFile(name + ".md")
	if err != nil {
		panic("toolbox: no description of " + name)
	}
	s := tool.Spec{Name: name, Description: strings.TrimSpace(string(text)), Effect: effect}
	for _, f := range adjust {
		f(&s)
	}
	return s
}

// versioned makes a tool's calls depend on the version of the dataset they name.
func (b box) versioned(t tool.Tool) tool.Tool {
	return tool.Versioned(t, func(ctx context.Context, args json.RawMessage) string {
		var in struct {
			DatasetID string `json:"dataset_id"`
		}
		if json.Unmarshal(args, &in) != nil {
			return ""
		}
		return b.Data.Version(ctx, dataset(ctx, in.DatasetID))
	})
}

// dataset is the one a call names, or that of its turn.
func dataset(ctx context.Context, named string) string {
	if named == "" {
		return tool.In(ctx).Dataset
	}
	return named
}

// namesAndTypes gives columns as results list them.
func namesAndTypes(columns []schema.Column) (names, types []string) {
	names, types = make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		names[i], types[i] = c.Name, c.Type.String()
	}
	return names, types
}

// QueryOut is the result of every tool that queries.
type QueryOut struct {
	Status      string          `json:"status"`
	Columns     []string        `json:"columns"`
	ColumnTypes []string        `json:"column_types"`
	Rows        json.RawMessage `json:"rows"`
	RowCount    int             `json:"row_count"`
	ExecTimeMS  int64           `json:"exec_time_ms"`
	Limited     bool            `json:"limited"`
	TotalRows   int64           `json:"total_rows"`
	AtLeast     bool            `json:"at_least,omitempty"`
	CutTexts    int             `json:"cut_texts,omitempty"`
	CopiedAt    string          `json:"copied_at,omitempty"` // when the rows were copied from their database
	Volatile    bool            `json:"volatile,omitempty"`
	CompiledSQL string          `json:"compiled_sql,omitempty"`
	Plan        json.RawMessage `json:"plan,omitempty"`
	Choice      *MadeChoice     `json:"choice,omitempty"` // of the person's answer to a question back
	Error       *fault.Fault    `json:"error,omitempty"`

	varies bool
	ran    *event.Ran
}

// Varies says that the same statement may give other rows.
func (o QueryOut) Varies() bool { return o.varies }

// Ran is the statement that gave the rows; nil where there was none.
func (o QueryOut) Ran() *event.Ran { return o.ran }

// ran describes the statement of a query that returned, for the log: its text without a
// cap that is put around it, and the cap beside it.
func ran(q Query, r Rows) *event.Ran {
	return &event.Ran{Dataset: q.Dataset, Version: r.Version, SQL: q.SQL, MaxRows: q.MaxRows, Frames: r.Frames, Lineage: namedLineage(r)}
}

// namedLineage is the lineage of a result under the names that its columns have, where it
// tells each of them.
func namedLineage(r Rows) []schema.Lineage {
	out := slices.Clone(r.Decision.Lineage)
	if len(out) != len(r.Columns) || slices.ContainsFunc(out, func(l schema.Lineage) bool { return l.Column == "*" }) {
		return out
	}
	for i := range out {
		out[i].Column = r.Columns[i].Name
	}
	return out
}

// query runs a statement and gives its result with what ran, and the rows as they came.
func (b box) query(ctx context.Context, q Query) (QueryOut, Rows, error) {
	q.User = tool.In(ctx).Owner
	r, err := b.Data.Query(ctx, q)
	if err != nil {
		return QueryOut{}, r, b.explainSQLError(ctx, q, err)
	}
	out := queryOut(r)
	out.ran = ran(q, r)
	return out, r, nil
}

func queryOut(r Rows) QueryOut {
	out := QueryOut{
		Status: "success", Rows: r.Rows, RowCount: r.RowCount, ExecTimeMS: r.MS, Limited: r.Limited,
		TotalRows: max(r.Total, int64(r.RowCount)), AtLeast: r.AtLeast, CutTexts: r.Cut, CopiedAt: timeShown(r.CopiedAt), Volatile: r.Decision.Volatile,
		varies: r.Decision.Volatile || r.Live,
	}
	out.Columns, out.ColumnTypes = namesAndTypes(r.Columns)
	if out.Rows == nil {
		out.Rows = json.RawMessage("[]")
	}
	return out
}
