package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"interlock/internal/recon"
)

// outcome sums a run up as machines keep it.
func outcomeOf(id string, o *recon.Outcome) (Outcome, error) {
	byRule, err := json.Marshal(o.ByRule)
	return Outcome{
		RunID: id, Matched: int(o.Matched), Ambiguous: int(o.Ambiguous), UnmatchedLeft: int(o.UnmatchedLeft), UnmatchedRight: int(o.UnmatchedRight),
		AmountMatched: o.AmountMatched, AmountOpen: o.AmountOpen, ByRule: byRule,
	}, err
}

// describeOutcome says in sentences what came of a run, for people and models alike.
func describeOutcome(o *recon.Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d pairs match of %d left and %d right rows; %d left and %d right rows are open.", o.Matched, o.LeftRows, o.RightRows, o.UnmatchedLeft, o.UnmatchedRight)
	if o.Suggested > 0 {
		fmt.Fprintf(&b, " %d of the matches are suggestions that a person should look at.", o.Suggested)
	}
	if o.Groups > 0 {
		fmt.Fprintf(&b, " %d sums of several rows are among them.", o.Groups)
	}
	if o.Netted > 0 {
		fmt.Fprintf(&b, " %d open rows cancel another row of their side.", o.Netted)
	}
	if o.Ambiguous > 0 {
		fmt.Fprintf(&b, " %d rows have several partners that fit alike and were left open.", o.Ambiguous)
	}
	for _, s := range o.Skewed {
		fmt.Fprintf(&b, " %d values are so frequent that %d pairs with them were not compared.", s.Values, s.Pairs)
	}
	return b.String()
}

// exampleRows is how many rows of each kind are shown.
const exampleRows = 5

// Examples are some rows of a result of each kind.
type Examples struct {
	Matches   []ExampleMatch `json:"matches"`
	OpenLeft  []ExampleOpen  `json:"open_left"`
	OpenRight []ExampleOpen  `json:"open_right"`
	Conflicts []ExampleMatch `json:"conflicts"`
}

// An ExampleMatch is a pair with its rows.
type ExampleMatch struct {
	Rule   string          `json:"rule,omitempty"`
	Status string          `json:"status,omitempty"`
	Score  float64         `json:"score"`
	Left   json.RawMessage `json:"left"`
	Right  json.RawMessage `json:"right"`
}

// An ExampleOpen is a row without a partner, why it has none, and its nearest miss.
type ExampleOpen struct {
	Reason  string          `json:"reason"`
	Missing string          `json:"missing,omitempty"`
	Row     json.RawMessage `json:"row"`
	Nearest json.RawMessage `json:"nearest,omitempty"`
}

// examples picks rows of a result: of each rule its weakest match, so that the doubtful
// ones are seen.
func (s *session) examples(ctx context.Context) (Examples, error) {
	out := Examples{Matches: []ExampleMatch{}, OpenLeft: []ExampleOpen{}, OpenRight: []ExampleOpen{}, Conflicts: []ExampleMatch{}}
	var err error
	out.Matches, err = s.exampleMatches(ctx, fmt.Sprintf(`SELECT rule, status, coalesce(score, 0), left_key, right_key FROM (
		SELECT *, row_number() OVER (PARTITION BY rule ORDER BY score NULLS LAST, match_id) AS n FROM %s) ORDER BY n, rule, match_id LIMIT %d`, recon.MatchTable, exampleRows))
	if err != nil {
		return out, err
	}
	if out.Conflicts, err = s.exampleMatches(ctx, fmt.Sprintf("SELECT '', '', coalesce(score, 0), left_key, right_key FROM %s ORDER BY conflict_id, left_key, right_key LIMIT %d", recon.ConflictTable, exampleRows)); err != nil {
		return out, err
	}
	if out.OpenLeft, err = s.exampleOpen(ctx, "left", s.input.Left, s.input.Right); err != nil {
		return out, err
	}
	out.OpenRight, err = s.exampleOpen(ctx, "right", s.input.Right, s.input.Left)
	return out, err
}

func (s *session) exampleMatches(ctx context.Context, sql string) ([]ExampleMatch, error) {
	rows, err := s.textRows(ctx, sql)
	if err != nil {
		return nil, err
	}
	out := []ExampleMatch{}
	for _, row := range rows {
		m := ExampleMatch{Rule: row[0], Status: row[1]}
		_ = json.Unmarshal([]byte(row[2]), &m.Score) // a number
		p, err := s.pairRows(ctx, recon.Pair{Left: row[3], Right: row[4]}, "")
		if err != nil {
			return nil, err
		}
		m.Left, m.Right = p.Left, p.Right
		out = append(out, m)
	}
	return out, nil
}

func (s *session) exampleOpen(ctx context.Context, name string, side, other recon.Side) ([]ExampleOpen, error) {
	rows, err := s.textRows(ctx, fmt.Sprintf(`SELECT key, reason, coalesce(missing, ''), coalesce(nearest_key, '') FROM %s WHERE side = '%s' ORDER BY score DESC NULLS LAST, key, i LIMIT %d`, recon.UnmatchedTable, name, exampleRows))
	if err != nil {
		return nil, err
	}
	out := []ExampleOpen{}
	for _, row := range rows {
		own, err := s.findRows(ctx, side, row[:1])
		if err != nil {
			return nil, err
		}
		nearest, err := s.findRows(ctx, other, row[3:4])
		if err != nil {
			return nil, err
		}
		out = append(out, ExampleOpen{Reason: recon.ReasonInWords(row[1]), Missing: row[2], Row: own[row[0]], Nearest: nearest[row[3]]})
	}
	return out, nil
}

// textRows gives the rows of a SELECT with every cell as text.
func (s *session) textRows(ctx context.Context, sql string) ([][]string, error) {
	r, err := s.space.Query(ctx, "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ("+sql+")")
	if err != nil {
		return nil, err
	}
	var rows [][]string
	if err := json.Unmarshal(r.Rows, &rows); err != nil {
		return nil, fmt.Errorf("reading a result: %w", err)
	}
	return rows, nil
}
