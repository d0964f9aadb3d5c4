package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/dialect"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/recon"
	"interlock/internal/schema"
	"interlock/internal/tool"
)

// Workspaces open the rows of sources for a reconciliation.
type Workspaces interface {
	OpenWorkspace(ctx context.Context, sides []SideRows) (Workspace, error)
	// Version changes when the rows of the sides do, as far as that can be known: rows of a
	// connected database change without a sign.
	Version(ctx context.Context, sides []SideRows) (string, error)
}

// A SideRows is the rows of one side: those of a source under conditions, or rows that
// a machine kept.
type SideRows struct {
	Alias      string
	Conditions []schema.Condition

	Columns []schema.Column // of kept rows; nil for a source
	Rows    json.RawMessage // an array of arrays
}

// A Workspace holds the rows of the sides, and what is made of them until it is closed.
type Workspace interface {
	recon.Workspace
	// Tables are the tables of the sides, in the order in which they were given.
	Tables() []string
	// KeepFiles has files written into a folder and stores them as artifacts of the thread
	// that the call belongs to. key says what they are about: files of one key and name
	// are versions of one artifact.
	KeepFiles(ctx context.Context, key string, write func(dir string) (files []string, err error)) ([]event.ArtifactMade, error)
	Close() error
}

// A ScopedSource is one side of a session: a source and the rows of it that are compared.
type ScopedSource struct {
	Alias string
	Scope *Scope
}

// A session is the work on two sides, of one call after the other. Key columns name the
// rows.
type session struct {
	*recon.Reconciler
	space  Workspace
	input  recon.Input
	unsure []recon.Pair      // about which the person could not say
	tell   func(note string) // of the call that uses it

	// of a session that is kept
	thread, owner, rows string
	usedAt              time.Time
	expiry              *time.Timer
	ahead               *training        // in the background, nil for none
	proposals           []recon.Proposal // of the last training
	trainedOn           int              // decisions that it knew
}

// longCall bounds the tools that look at all rows in scope.
func longCall(s *tool.Spec) { s.Seconds = 1800 }

// errNoWorkspaces is said where nothing of this kind is wired.
var errNoWorkspaces = fault.New(fault.Unavailable, "there is no engine in which rows could be matched")

// openSession brings both sides into a workspace and tells of its progress as it works.
func (b box) openSession(ctx context.Context, left, right ScopedSource, labels recon.Labels) (*session, error) {
	sides, keys, err := scopedSides(left, right)
	if err != nil {
		return nil, err
	}
	return b.newSession(ctx, sides, keys, labels)
}

func scopedSides(left, right ScopedSource) (sides []SideRows, keys [2]string, err error) {
	for i, s := range []ScopedSource{left, right} {
		if s.Scope == nil {
			return nil, keys, fault.New(fault.InvalidState, "no rows of %q are loaded", s.Alias).Suggest("Load both sides first.")
		}
		sides = append(sides, SideRows{Alias: s.Alias, Conditions: s.Scope.Conditions})
		keys[i] = s.Scope.Key
	}
	return sides, keys, nil
}

// openWorkspace opens a workspace, in the place of a kept session where there is no other.
func (b box) openWorkspace(ctx context.Context, sides []SideRows) (Workspace, error) {
	if b.Workspaces == nil {
		return nil, errNoWorkspaces
	}
	if b.Sessions != nil {
		defer b.Sessions.makeRoom(tool.In(ctx).Owner)()
	}
	return b.Workspaces.OpenWorkspace(ctx, sides)
}

func (b box) newSession(ctx context.Context, sides []SideRows, keys [2]string, labels recon.Labels) (*session, error) {
	tool.In(ctx).Progress("reading both sides")
	space, err := b.openWorkspace(ctx, sides)
	if err != nil {
		return nil, err
	}
	s := &session{space: space, input: recon.Input{Labels: labels}, tell: tool.In(ctx).Progress}
	for i, side := range []*recon.Side{&s.input.Left, &s.input.Right} {
		if *side, err = s.keyedSide(ctx, space.Tables()[i], fmt.Sprintf("sorted_%d", i), keys[i]); err != nil {
			_ = space.Close()
			return nil, err
		}
	}
	s.Reconciler, err = recon.New(recon.Config{Workspace: space, Progress: func(p recon.Progress) {
		s.tell(fmt.Sprintf("%s (step %d of %d)", p.Step, p.Done+1, max(p.Total, p.Done+1)))
	}})
	if err != nil {
		_ = space.Close()
	}
	return s, err
}

// keyedSide names the rows of a table. Where no column does, they are sorted by all of
// their cells and named by their number, whatever order they came in.
func (s *session) keyedSide(ctx context.Context, table, sorted, key string) (recon.Side, error) {
	if key != "" {
		return recon.Side{Table: table, Key: key}, nil
	}
	return recon.Side{Table: sorted}, s.space.Create(ctx, sorted, "SELECT * FROM "+ident(table)+" ORDER BY ALL")
}

func ident(name string) string { return dialect.DuckDB.Ident(name) }

// labels are the decisions of the person, as the learning takes them.
func labels(confirmed, rejected []Pair) recon.Labels {
	keys := func(pairs []Pair) (out []recon.Pair) {
		for _, p := range pairs {
			out = append(out, recon.Pair{Left: p.LeftKey, Right: p.RightKey})
		}
		return out
	}
	return recon.Labels{Confirmed: keys(confirmed), Rejected: keys(rejected)}
}

// rowNumber is what the number of a row is called where rows have no key.
const rowNumber = "#"

// findRows gives the rows of a side that have these keys, as objects.
func (s *session) findRows(ctx context.Context, side recon.Side, keys []string) (map[string]json.RawMessage, error) {
	found := map[string]json.RawMessage{}
	if len(keys) == 0 {
		return found, nil
	}
	marks := make([]string, len(keys))
	for i := range keys {
		marks[i] = fmt.Sprintf("$%d", i+1)
	}
	sql := fmt.Sprintf("SELECT CAST(%[1]s AS VARCHAR), * FROM %[2]s WHERE CAST(%[1]s AS VARCHAR) IN (%[3]s)", ident(side.Key), ident(side.Table), strings.Join(marks, ", "))
	if side.Key == "" {
		sql = fmt.Sprintf("SELECT CAST(n AS VARCHAR), * FROM (SELECT row_number() OVER () AS n, * FROM %s) WHERE CAST(n AS VARCHAR) IN (%s)", ident(side.Table), strings.Join(marks, ", "))
	}
	r, err := s.space.Query(ctx, sql, keys...)
	if err != nil {
		return nil, err
	}
	loaded := Loaded{Columns: slices.Clone(r.Columns), Rows: r.Rows}
	var rows [][]json.RawMessage
	if err := json.Unmarshal(r.Rows, &rows); err != nil {
		return nil, fmt.Errorf("reading rows: %w", err)
	}
	if side.Key == "" {
		loaded.Columns[1].Name = rowNumber
	}
	loaded.Columns = loaded.Columns[1:]
	for i := range rows {
		var key string
		if err := json.Unmarshal(rows[i][0], &key); err != nil {
			return nil, fmt.Errorf("reading a key: %w", err)
		}
		found[key] = loaded.object(rows[i][1:])
	}
	return found, nil
}

// pairRows fills in the rows of a pair. A key that no row has is the caller's mistake.
func (s *session) pairRows(ctx context.Context, p recon.Pair, reason string) (Pair, error) {
	out := Pair{LeftKey: p.Left, RightKey: p.Right, Reason: reason}
	for _, at := range []struct {
		name string
		side recon.Side
		key  string
		row  *json.RawMessage
	}{{"left", s.input.Left, p.Left, &out.Left}, {"right", s.input.Right, p.Right, &out.Right}} {
		rows, err := s.findRows(ctx, at.side, []string{at.key})
		if err != nil {
			return out, err
		}
		row, ok := rows[at.key]
		if !ok {
			named := "its key " + strconv.Quote(at.side.Key)
			if at.side.Key == "" {
				named = "its number, " + strconv.Quote(rowNumber)
			}
			return out, fault.New(fault.InvalidArguments, "no row of the %s side in scope is called %.80q", at.name, at.key).
				Suggest("Name a row by %s, as the samples show it, or leave both keys out.", named)
		}
		*at.row = row
	}
	return out, nil
}

// keyColumn is the first column that names every row: text or whole numbers, all there
// and all different; before, if it still does, because pairs name rows by it. It is ""
// where none does.
func keyColumn(ctx context.Context, space recon.Workspace, table, before string) (string, error) {
	r, err := space.Query(ctx, "SELECT * FROM "+ident(table)+" LIMIT 0")
	if err != nil {
		return "", err
	}
	counts := []string{"count(*)"}
	var names []string
	for _, c := range r.Columns {
		switch c.Type.Kind {
		case schema.Text, schema.Int, schema.Uint, schema.UUID:
			names = append(names, c.Name)
			counts = append(counts, "count(DISTINCT "+ident(c.Name)+")")
		}
	}
	if r, err = space.Query(ctx, "SELECT "+strings.Join(counts, ", ")+" FROM "+ident(table)); err != nil {
		return "", err
	}
	var rows [][]json.Number
	if err := json.Unmarshal(r.Rows, &rows); err != nil || len(rows) != 1 {
		return "", fmt.Errorf("counting keys: %w", err)
	}
	key := ""
	for i, name := range names {
		if rows[0][i+1] == rows[0][0] && (key == "" || name == before) {
			key = name
		}
	}
	return key, nil
}

// keptSide makes kept objects a side, with the types of their schema. Members that the
// schema does not name are left out.
func keptSide(s *SideSchema, objects []json.RawMessage) (SideRows, error) {
	out := SideRows{Columns: []schema.Column{}}
	if s == nil {
		return out, fault.New(fault.InvalidState, "the columns of a sample are not known").Suggest("Preview both sources first.")
	}
	for _, raw := range s.Columns {
		var c schema.Column
		if err := json.Unmarshal(raw, &c); err != nil {
			return out, fault.Wrap(err, fault.InvalidArguments, "a column of %s cannot be read", s.Alias)
		}
		out.Columns = append(out.Columns, c)
	}
	var rows bytes.Buffer
	rows.WriteByte('[')
	for i, o := range objects {
		var cells map[string]json.RawMessage
		if err := json.Unmarshal(o, &cells); err != nil {
			return out, fault.Wrap(err, fault.InvalidArguments, "row %d of the sample of %s is no object", i+1, s.Alias)
		}
		list := make([]json.RawMessage, len(out.Columns))
		for j, c := range out.Columns {
			if list[j] = cells[c.Name]; list[j] == nil {
				list[j] = json.RawMessage("null")
			}
		}
		raw, err := json.Marshal(list)
		if err != nil {
			return out, fmt.Errorf("writing a sample: %w", err)
		}
		if i > 0 {
			rows.WriteByte(',')
		}
		rows.Write(raw)
	}
	rows.WriteByte(']')
	out.Rows = rows.Bytes()
	return out, nil
}
