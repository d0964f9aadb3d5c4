package eval

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Dialogue is a conversation with known answers about one dataset, as a person of a
// business would have it.
type Dialogue struct {
	ID      string         `json:"id"`
	Dataset string         `json:"dataset"`
	Turns   []DialogueTurn `json:"turns"`
}

// A DialogueTurn is one message and what is expected of the reply.
type DialogueTurn struct {
	Say     string   `json:"say"`
	Expect  string   `json:"expect"` // answer, ask or decline
	Gold    []string `json:"gold"`   // statements in SQLite's dialect; the result of any of them is right
	Ordered bool     `json:"ordered"`
	Percent bool     `json:"percent"` // 12.3 and 0.123 are the same
	Kind    string   `json:"kind"`
	OnlyIf  string   `json:"only_if"` // played only after a turn with this outcome
}

// The expectations of a turn.
const (
	expectAsk     = "ask"
	expectDecline = "decline"
)

// LoadDialogues reads `dialogues.json` of a folder.
func LoadDialogues(dir string) ([]Dialogue, error) {
	path := filepath.Join(dir, "dialogues.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the dialogues: %w", err)
	}
	var list []Dialogue
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return list, nil
}

// HasDialogues reports whether a folder holds dialogues.
func HasDialogues(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "dialogues.json"))
	return err == nil
}

// A Replied is what the system made of one turn.
type Replied struct {
	Asked  bool
	Result Result // of an answer; without columns the turn was declined or asked back
	Text   string // what was said
	SQL    string
}

// outcome is what kind of reply it was.
func (r Replied) outcome() Outcome {
	switch {
	case r.Result.Columns != nil:
		return Answered
	case r.Asked:
		return Asked
	}
	return Declined
}

// Answered is the outcome of a reply before it is compared.
const Answered Outcome = "answered"

// A TurnRecord is one turn as it went.
type TurnRecord struct {
	Dialogue string       `json:"dialogue"`
	Number   int          `json:"turn"`
	Dataset  string       `json:"dataset"`
	Turn     DialogueTurn `json:"expected"`
	Outcome  Outcome      `json:"outcome"` // answered, asked, declined
	Verdict  Outcome      `json:"verdict"` // right, wrong, asked, declined
	Invented bool         `json:"invented,omitempty"`
	SQL      string       `json:"sql,omitempty"`
	Text     string       `json:"text,omitempty"`
}

// Play plays the dialogue: say sends a message and returns the reply, gold runs a gold
// statement. Each reply is scored.
func (d Dialogue) Play(say func(text string) (Replied, error), gold func(sql string) (Result, error)) ([]TurnRecord, error) {
	var out []TurnRecord
	var before Outcome
	for i, t := range d.Turns {
		if t.OnlyIf != "" && Outcome(t.OnlyIf) != before {
			continue // an answer to a question that was not asked
		}
		r, err := say(t.Say)
		if err != nil {
			return out, fmt.Errorf("%s, turn %d: %w", d.ID, i+1, err)
		}
		rec := TurnRecord{Dialogue: d.ID, Number: i + 1, Dataset: d.Dataset, Turn: t, Outcome: r.outcome(), SQL: r.SQL, Text: r.Text}
		if rec.Verdict, err = t.score(r, gold); err != nil {
			return out, fmt.Errorf("%s, turn %d: %w", d.ID, i+1, err)
		}
		rec.Invented = rec.Verdict == Wrong && t.Expect == expectDecline
		before = rec.Outcome
		out = append(out, rec)
	}
	return out, nil
}

// score says whether a reply is what the turn expects.
func (t DialogueTurn) score(r Replied, gold func(sql string) (Result, error)) (Outcome, error) {
	if t.Kind == "schema" && !r.Asked {
		ok, err := t.namesAll(r, gold)
		if ok || err != nil {
			return Right, err
		}
	}
	what := r.outcome()
	switch {
	case t.Expect == expectDecline && what == Answered:
		return Wrong, nil
	case t.Expect == expectDecline, t.Expect == expectAsk && what == Asked:
		return Right, nil
	case what != Answered:
		return what, nil
	}
	for _, sql := range t.Gold {
		want, err := gold(sql)
		if err != nil {
			return Wrong, err
		}
		if t.accepts(sql, want, r.Result) {
			return Right, nil
		}
	}
	return Wrong, nil
}

// namesAll reports whether a reply in words holds every value of a gold statement: what a
// question about the schema asks for.
func (t DialogueTurn) namesAll(r Replied, gold func(sql string) (Result, error)) (bool, error) {
	flat := func(s string) string {
		return strings.Join(strings.Fields(strings.ToLower(strings.NewReplacer("_", " ", "-", " ", "*", " ", "`", " ", `"`, " ", "'", " ").Replace(s))), " ")
	}
	hay := flat(r.Text + " " + fmt.Sprint(r.Result.Columns, r.Result.Rows))
	for _, sql := range t.Gold {
		want, err := gold(sql)
		if err != nil {
			return false, err
		}
		all := true
		for _, row := range want.Rows {
			for _, v := range row {
				all = all && strings.Contains(hay, flat(fmt.Sprint(v)))
			}
		}
		if all {
			return true, nil
		}
	}
	return false, nil
}

// A Tally counts verdicts.
type Tally struct {
	N, Right, Wrong, Asked, Declined, Invented int
	Answered, AnsweredRight                    int
}

func (c *Tally) add(r TurnRecord) {
	c.N++
	switch r.Verdict {
	case Right:
		c.Right++
	case Wrong:
		c.Wrong++
	case Asked:
		c.Asked++
	case Declined:
		c.Declined++
	}
	if r.Invented {
		c.Invented++
	}
	if r.Outcome == Answered {
		c.Answered++
		if r.Verdict == Right {
			c.AnsweredRight++
		}
	}
}

// A DialogueSummary is an evaluation by dialogues: all turns, and by dataset, kind and
// expectation.
type DialogueSummary struct {
	All      Tally            `json:"all"`
	Datasets map[string]Tally `json:"datasets"`
	Kinds    map[string]Tally `json:"kinds"`
	Expected map[string]Tally `json:"expected"`
	Turns    []TurnRecord     `json:"turns"`
}

// SummariseDialogues counts the turns.
func SummariseDialogues(turns []TurnRecord) DialogueSummary {
	s := DialogueSummary{Datasets: map[string]Tally{}, Kinds: map[string]Tally{}, Expected: map[string]Tally{}, Turns: turns}
	count := func(m map[string]Tally, key string, r TurnRecord) {
		c := m[key]
		c.add(r)
		m[key] = c
	}
	for _, r := range turns {
		s.All.add(r)
		count(s.Datasets, r.Dataset, r)
		count(s.Kinds, r.Turn.Kind, r)
		count(s.Expected, r.Turn.Expect, r)
	}
	return s
}

// RightShare, WrongShare and Precision are the figures that belong together: right of all,
// wrong of all, right of answered.
func (c Tally) RightShare() float64 { return ratio(c.Right, c.N) }

// WrongShare is wrong of all.
func (c Tally) WrongShare() float64 { return ratio(c.Wrong, c.N) }

// Precision is right of answered.
func (c Tally) Precision() float64 { return ratio(c.AnsweredRight, c.Answered) }

// String is the summary as a person reads it.
func (s DialogueSummary) String() string {
	var b strings.Builder
	row := func(name string, c Tally) {
		fmt.Fprintf(&b, "%-16s%6d%8d%8d%8d%10d%10d%9.1f%9.1f\n", name, c.N, c.Right, c.Wrong, c.Asked, c.Declined, c.Invented, 100*c.RightShare(), 100*c.WrongShare())
	}
	head := func(title string) {
		fmt.Fprintf(&b, "\n%-16s%6s%8s%8s%8s%10s%10s%9s%9s\n", title, "turns", "right", "wrong", "asked", "declined", "invented", "right %", "wrong %")
	}
	for _, part := range []struct {
		title string
		rows  map[string]Tally
	}{{"dataset", s.Datasets}, {"kind", s.Kinds}, {"expected", s.Expected}} {
		head(part.title)
		for _, name := range slices.Sorted(maps.Keys(part.rows)) {
			row(name, part.rows[name])
		}
	}
	head("all")
	row("all", s.All)
	fmt.Fprintf(&b, "precision of answered %.1f %% (%d of %d)\n", 100*s.All.Precision(), s.All.AnsweredRight, s.All.Answered)
	return b.String()
}
