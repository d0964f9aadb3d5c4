package toolbox

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/sqlpolicy"
	"interlock/internal/tool"
)

// RunSQLIn is what run_sql takes; the machine binds MaxRows.
type RunSQLIn struct {
	DatasetID string `json:"dataset_id" jsonschema:"id of the dataset"`
	SQL       string `json:"sql" jsonschema:"one SELECT or WITH statement"`
	Name      string `json:"name,omitempty" jsonschema:"what the result holds, in a word or two; later steps use it by this name"`
	Answer    bool   `json:"answer,omitempty" jsonschema:"true on the one call whose table answers the question"`
	MaxRows   int    `json:"max_rows"`
	// Frames are the results of the thread, which the machine binds.
	Frames []Frame `json:"frames,omitempty"`
}

// RunSQLOut is the first rows, and the frame under which all of them are kept.
type RunSQLOut struct {
	Name        string          `json:"name"`
	ResultID    string          `json:"result_id"`
	Columns     []string        `json:"columns"`
	ColumnTypes []string        `json:"column_types"`
	Rows        json.RawMessage `json:"rows"`
	RowCount    int             `json:"row_count"` // of the frame
	Limited     bool            `json:"limited"`   // Rows are not all of them
	Note        string          `json:"note,omitempty"`
	Intent      Intent          `json:"intent"`
	Artifact    string          `json:"artifact,omitempty"`

	made   []event.ArtifactMade
	varies bool
	ran    *event.Ran
}

// Ran is the statement that gave the rows.
func (o RunSQLOut) Ran() *event.Ran { return o.ran }

// Varies says that the same statement may give other rows.
func (o RunSQLOut) Varies() bool { return o.varies }

// Made lists the kept rows.
func (o RunSQLOut) Made() []event.ArtifactMade { return o.made }

func (b box) runSQL() tool.Tool {
	return tool.Versioned(tool.New(spec("run_sql", tool.Writes, taints, mainArgument("sql"), statementApart, keepsOnly), func(ctx context.Context, in RunSQLIn) (RunSQLOut, error) {
		if b.Results == nil {
			return RunSQLOut{}, errNoResults("run_sql")
		}
		id := dataset(ctx, in.DatasetID)
		q, r, err := b.query(ctx, Query{Dataset: id, SQL: in.SQL, Frames: namedFrames(in.SQL, in.Frames), Whole: true})
		if err != nil {
			return RunSQLOut{}, err
		}
		name := frameName(in.Name)
		if name == "" {
			name = queryName(r, in.SQL)
		}
		name = nameInThread(name, id, in.Frames)
		kept, err := b.keepResult(ctx, Result{
			Name: name, Producer: "sql", Dataset: id, Source: cmp.Or(r.Decision.Form, sqlpolicy.TextForm(in.SQL)), Columns: r.Columns, Rows: q.Rows,
		}, in.MaxRows)
		if err != nil {
			return RunSQLOut{}, err
		}
		return RunSQLOut{
			Name: name, ResultID: kept.id, Columns: q.Columns, ColumnTypes: q.ColumnTypes, RowCount: q.RowCount, Rows: kept.first, Limited: kept.note != "", Note: kept.note,
			Intent: intentOf(name, in.SQL, r), Artifact: kept.made.ID, made: kept.list(), varies: q.varies, ran: q.ran,
		}, nil
	}), b.framedVersion)
}

// keepsOnly says that a tool makes nothing but a copy of what it read.
func keepsOnly(s *tool.Spec) { s.Keeps = true }

func framesApart(s *tool.Spec) { s.IgnoreInIdentity = []string{"frames"} }

// statementApart leaves the wording of the statement to the version of the call, and
// the name of the result: under another name it is the same result.
func statementApart(s *tool.Spec) { s.IgnoreInIdentity = []string{"frames", "name", "sql"} }

// framedVersion is the version of the dataset, the earlier results that the statement
// names, and the form of the statement: other results and another wording do not make
// another call of it.
func (b box) framedVersion(ctx context.Context, args json.RawMessage) string {
	var in RunSQLIn
	if json.Unmarshal(args, &in) != nil {
		return ""
	}
	version := b.Data.Version(ctx, dataset(ctx, in.DatasetID))
	if version == "" {
		return ""
	}
	for _, f := range namedFrames(in.SQL, in.Frames) {
		version += "+" + f.ResultID
	}
	return version + "#" + event.Hash([]byte(b.statementForm(ctx, in)))[:16]
}

// statementForm is the same for two wordings of one statement. A statement that may not run
// has no tree here and is known by its text.
func (b box) statementForm(ctx context.Context, in RunSQLIn) string {
	if b.Check != nil {
		if d, err := b.Check.Check(ctx, dataset(ctx, in.DatasetID), in.SQL, namedFrames(in.SQL, in.Frames)...); err == nil && d.Form != "" {
			return d.Form
		}
	}
	return sqlpolicy.TextForm(in.SQL)
}

// namedFrames are the frames that stand where a statement names tables, of one name
// the newest. The dataset's own tables win later, when names are bound.
func namedFrames(sql string, frames []Frame) []Frame {
	named := tablesNamed(sql)
	var out []Frame
	for i, f := range frames {
		newer := slices.ContainsFunc(frames[i+1:], func(o Frame) bool { return strings.EqualFold(o.Name, f.Name) })
		if !newer && named[strings.ToLower(f.Name)] {
			out = append(out, f)
		}
	}
	return out
}

var sqlToken = regexp.MustCompile(`--[^\n]*|'(?:[^']|'')*'|"((?:[^"]|"")*)"|[\p{L}_][\p{L}\p{N}_]*|[(),]`)

// tablesNamed gives the names behind FROM and JOIN and, in a list of tables, behind
// commas, in lower case. It may name too much: whoever uses it looks twice.
func tablesNamed(sql string) map[string]bool {
	named := map[string]bool{}
	inFrom, expect := []bool{false}, false // by open brackets
	for _, m := range sqlToken.FindAllStringSubmatch(sql, -1) {
		word, top := strings.ToLower(m[0]), len(inFrom)-1
		switch {
		case strings.HasPrefix(word, "--") || strings.HasPrefix(word, "'"):
		case word == "(":
			inFrom, expect = append(inFrom, false), false
		case word == ")":
			inFrom, expect = inFrom[:max(1, top)], false
		case word == "from" || word == "join":
			inFrom[top], expect = true, true
		case word == ",":
			expect = inFrom[top]
		case slices.Contains([]string{"where", "group", "order", "having", "limit", "union", "except", "intersect", "qualify", "window", "select", "on"}, word):
			inFrom[top], expect = word == "on" && inFrom[top], false
		case expect:
			if m[1] != "" {
				word = strings.ToLower(strings.ReplaceAll(m[1], `""`, `"`))
			}
			named[word], expect = true, false
		}
	}
	return named
}

// errNoResults says that a tool has no place for rows.
func errNoResults(tool string) error {
	return fault.New(fault.Unavailable, "%s cannot keep results here", tool).Suggest("Use execute_sql.")
}

// queryName names a result that nobody named: by the first table and the statement.
func queryName(r Rows, sql string) string {
	stem := "result"
	if len(r.Decision.Touches) > 0 {
		if name := frameName(r.Decision.Touches[0].Table); name != "" {
			stem = name
		}
	}
	return stem + "_" + event.Hash([]byte(strings.Join(strings.Fields(sql), " ")))[:4]
}
