package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"interlock/internal/fault"
	"interlock/internal/recon"
	"interlock/internal/schema"
	"interlock/internal/tool"
)

// A LoadedSide is what a session knows about a side when the other is loaded.
type LoadedSide struct {
	Alias  string            `json:"alias"`
	Schema *SideSchema       `json:"schema"`
	Scope  *Scope            `json:"scope"`
	Sample []json.RawMessage `json:"sample"`
}

func (b box) loadScoped() tool.Tool {
	return tool.New(spec("load_scoped", tool.Reads, taints, volatile, longCall), func(ctx context.Context, in LoadScopedIn) (LoadScopedOut, error) {
		if b.Sources == nil {
			return LoadScopedOut{}, errNoSources
		}
		got, err := b.Sources.Load(ctx, Loading{Alias: in.Alias, Conditions: in.Conditions, Limit: in.Limit})
		if err != nil {
			return LoadScopedOut{}, err
		}
		out := LoadScopedOut{
			Alias: got.Alias, Scope: Scope{Conditions: append([]schema.Condition{}, in.Conditions...), TotalRows: int(got.TotalRows)},
			Columns: []string{}, TotalRows: int(got.TotalRows), Outside: []string{},
		}
		for _, c := range got.Columns {
			out.Columns = append(out.Columns, c.Name)
		}
		if out.Rows, err = got.objects(); err != nil {
			return out, err
		}
		partners, err := b.drawSample(ctx, in, &out)
		if err != nil {
			return out, err
		}
		out.PreviewRows = len(out.Rows)
		out.Note = fmt.Sprintf("The first %d of %d rows are shown.", out.PreviewRows, out.TotalRows)
		switch {
		case out.PreviewRows == out.TotalRows:
			out.Note = fmt.Sprintf("All %d rows are shown.", out.TotalRows)
		case partners > 0:
			out.Note = fmt.Sprintf("%d of %d rows are shown; %d of them were drawn because they share rare values with rows of the other sample.", out.PreviewRows, out.TotalRows, partners)
		case out.TotalRows > drawnRows:
			out.Note += fmt.Sprintf(" They were taken as they come: rows are drawn to match the other sample among at most %d.", drawnRows)
		}
		out.Outside, err = b.outside(ctx, in, out.Scope)
		return out, err
	})
}

// drawnRows is among how many rows a sample is drawn, and a key looked for.
const drawnRows = 1_000_000

// drawSample finds the column that names the rows, and draws rows that may belong to
// rows of the other side's sample, where there is one. It says how many it drew.
func (b box) drawSample(ctx context.Context, in LoadScopedIn, out *LoadScopedOut) (int, error) {
	if b.Workspaces == nil || out.TotalRows == 0 || out.TotalRows > drawnRows {
		return 0, nil
	}
	own := SideRows{Alias: in.Alias, Conditions: in.Conditions}
	other := in.otherSide()
	if other == nil || len(out.Rows) == out.TotalRows {
		space, err := b.openWorkspace(ctx, []SideRows{own})
		if err != nil {
			return 0, err
		}
		defer space.Close()
		if out.Scope.Key, err = keyColumn(ctx, space, space.Tables()[0], in.keyBefore()); err != nil || out.Scope.Key != "" {
			return 0, err
		}
		return 0, b.numberRows(ctx, in, out)
	}
	kept, err := keptSide(other.Schema, other.Sample)
	if err != nil {
		return 0, err
	}
	tool.In(ctx).Progress("looking for rows that may match")
	s, err := b.newSession(ctx, []SideRows{kept, own}, [2]string{other.Scope.Key, ""}, recon.Labels{})
	if err != nil {
		return 0, err
	}
	defer s.close()
	if out.Scope.Key, err = keyColumn(ctx, s.space, s.input.Right.Table, in.keyBefore()); err != nil {
		return 0, err
	}
	s.input.Right.Key = out.Scope.Key
	pairs, err := s.Partners(ctx, s.input, max(1, len(out.Rows)*3/4))
	if err != nil {
		return 0, err
	}
	return s.fillSample(ctx, pairs, out)
}

// fillSample puts the partners first and fills up with the first rows.
func (s *session) fillSample(ctx context.Context, pairs []recon.Pair, out *LoadScopedOut) (int, error) {
	var keys []string
	for _, p := range pairs {
		if !slices.Contains(keys, p.Right) {
			keys = append(keys, p.Right)
		}
	}
	drawn := len(keys)
	first, err := s.firstKeys(ctx, len(out.Rows)+drawn)
	if err != nil {
		return 0, err
	}
	for _, k := range first {
		if len(keys) < len(out.Rows) && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	rows, err := s.findRows(ctx, s.input.Right, keys)
	if err != nil {
		return 0, err
	}
	out.Rows = out.Rows[:0]
	for _, k := range keys {
		out.Rows = append(out.Rows, rows[k])
	}
	return drawn, nil
}

// firstKeys are the names of the first rows of the right side.
func (s *session) firstKeys(ctx context.Context, n int) ([]string, error) {
	sql := fmt.Sprintf("SELECT CAST(%s AS VARCHAR) FROM %s LIMIT %d", ident(s.input.Right.Key), ident(s.input.Right.Table), n)
	if s.input.Right.Key == "" {
		sql = fmt.Sprintf("SELECT CAST(row_number() OVER () AS VARCHAR) FROM %s LIMIT %d", ident(s.input.Right.Table), n)
	}
	r, err := s.space.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	var rows [][1]string
	if err := json.Unmarshal(r.Rows, &rows); err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	keys := make([]string, len(rows))
	for i, row := range rows {
		keys[i] = row[0]
	}
	return keys, nil
}

// numberRows shows the first rows with their numbers, because no column names them.
func (b box) numberRows(ctx context.Context, in LoadScopedIn, out *LoadScopedOut) error {
	own := SideRows{Alias: in.Alias, Conditions: in.Conditions}
	s, err := b.newSession(ctx, []SideRows{own, own}, [2]string{}, recon.Labels{})
	if err != nil {
		return err
	}
	defer s.close()
	_, err = s.fillSample(ctx, nil, out)
	return err
}

// scopeBefore is the scope that this side had until now, nil for none.
func (in LoadScopedIn) scopeBefore() *Scope {
	for _, side := range []*LoadedSide{in.Left, in.Right} {
		if side != nil && side.Alias == in.Alias {
			return side.Scope
		}
	}
	return nil
}

// keyBefore is the column that named the rows of this side until now.
func (in LoadScopedIn) keyBefore() string {
	if s := in.scopeBefore(); s != nil {
		return s.Key
	}
	return ""
}

// renamesRows says that the rows of this side have other names than until now: another
// column names them, or they are counted and others are counted with them.
func (in LoadScopedIn) renamesRows(now Scope) bool {
	before := in.scopeBefore()
	if before == nil {
		return false
	}
	return before.Key != now.Key || now.Key == "" && !reflect.DeepEqual(before.Conditions, now.Conditions)
}

// otherSide is the side that is loaded already, if it is not the one of this call.
func (in LoadScopedIn) otherSide() *LoadedSide {
	for _, side := range []*LoadedSide{in.Left, in.Right} {
		if side != nil && side.Alias != "" && side.Alias != in.Alias && side.Scope != nil && side.Schema != nil && len(side.Sample) > 0 {
			return side
		}
	}
	return nil
}

// outside names the rows of pairs that the new scope does not have any more: those of
// which the source has none under the conditions.
func (b box) outside(ctx context.Context, in LoadScopedIn, now Scope) ([]string, error) {
	outside := []string{}
	for _, p := range slices.Concat(in.Confirmed, in.Rejected) {
		key, row := p.RightKey, p.Right
		if in.Left != nil && in.Left.Alias == in.Alias {
			key, row = p.LeftKey, p.Left
		}
		if b.Workspaces != nil && in.renamesRows(now) { // the pair's key means another row, or none
			outside = append(outside, key)
			continue
		}
		same, err := sameRow(row)
		if err != nil {
			return nil, err
		}
		if len(same) == 0 || slices.Contains(outside, key) {
			continue
		}
		got, err := b.Sources.Load(ctx, Loading{Alias: in.Alias, Conditions: slices.Concat(in.Conditions, same), Limit: 1})
		if err != nil {
			return nil, err
		}
		if got.TotalRows == 0 {
			outside = append(outside, key)
		}
	}
	return outside, nil
}

// sameRow are the conditions that a row fulfils: its cells that are texts or numbers.
func sameRow(row json.RawMessage) ([]schema.Condition, error) {
	var cells map[string]json.RawMessage
	if len(row) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(row, &cells); err != nil {
		return nil, fault.Wrap(err, fault.InvalidArguments, "a row of a pair is no object")
	}
	var out []schema.Condition
	for _, name := range slices.Sorted(maps.Keys(cells)) {
		if name == rowNumber {
			continue // no column of the source
		}
		if c := cells[name][0]; c == '"' || c == '-' || c >= '0' && c <= '9' {
			value, err := decodeExact(cells[name])
			if err != nil {
				return nil, fault.Wrap(err, fault.InvalidArguments, "a cell of a pair's row is no JSON")
			}
			out = append(out, schema.Condition{Column: name, Op: schema.Eq, Value: value})
		}
	}
	return out, nil
}
