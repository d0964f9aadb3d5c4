package nlq_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"interlock/internal/dialect"
	"interlock/internal/eval"
	"interlock/internal/nlq"
	"interlock/internal/queryplan"
	"interlock/internal/queryplan/lift"
	"interlock/internal/racetest"
)

// A tally counts what a judge said of statements with known worth.
type tally struct {
	right, alarms, unlifted, unfaithful int
	wrong, caught                       map[string]int
	log                                 strings.Builder
}

func (s *tally) String() string {
	var b strings.Builder
	all, hit := 0, 0
	for _, kind := range slices.Sorted(maps.Keys(s.wrong)) {
		fmt.Fprintf(&b, "%-18s %4d of %4d  %3.0f %%\n", kind, s.caught[kind], s.wrong[kind], 100*float64(s.caught[kind])/float64(s.wrong[kind]))
		all, hit = all+s.wrong[kind], hit+s.caught[kind]
	}
	fmt.Fprintf(&b, "%-18s %4d of %4d  %3.1f %%\nfalse alarms       %4d of %4d  %3.1f %%\nnot lifted %d, lifted to another result %d of %d\n", "all", hit, all, 100*float64(hit)/float64(all),
		s.alarms, s.right, 100*float64(s.alarms)/float64(s.right), s.unlifted, s.unfaithful, s.right)
	return b.String()
}

// hold holds the judge to what is asked of it: 40 % of the wrong statements caught at 3 % of the
// right ones doubted, and 95 % of the right ones read as plans.
func (s *tally) hold(t *testing.T) {
	t.Helper()
	wrong, caught := 0, 0
	for kind, n := range s.wrong {
		wrong, caught = wrong+n, caught+s.caught[kind]
	}
	if caught*100 < wrong*40 || s.alarms*100 > s.right*3 || s.unlifted*100 > s.right*5 {
		t.Errorf("caught %d of %d, doubted %d of %d, not lifted %d", caught, wrong, s.alarms, s.right, s.unlifted)
	}
}

// judgeStatements judges right statements and the mutants of each whose result is another.
func judgeStatements(t *testing.T, s *tally, b *base, question, gold string) {
	t.Helper()
	want, err := run(b.db, gold)
	if err != nil {
		t.Fatalf("%s: %v", gold, err)
	}
	if len(want.Rows) == 0 {
		return // a known answer that gives nothing is no ground, as in TestCalibration
	}
	judged := func(sql string, res eval.Result) nlq.Verdict {
		p, _ := lift.Plan(sql, b.schema)
		q := nlq.Question{Text: question, Index: b.index, Now: today}
		v := nlq.Judge(q, p, nlq.Result{Columns: res.Columns, Rows: res.Rows})
		if v.Satisfaction == nlq.Satisfied {
			if w, ok := nlq.WitnessOf(q); ok {
				if other, err := runPlan(b, w.Plan); err == nil {
					if o := nlq.Compare(w, nlq.Result{Columns: other.Columns, Rows: other.Rows}, nlq.Result{Columns: res.Columns, Rows: res.Rows}); o != "" {
						v.Satisfaction, v.Notes = nlq.NeedsWork, o
					}
				}
			}
		}
		return v
	}
	s.right++
	if v := judged(gold, want); v.Satisfaction != nlq.Satisfied {
		s.alarms++
		fmt.Fprintf(&s.log, "ALARM %s\n  %s\n  %s\n", question, gold, v.Notes)
	}
	p, err := lift.Plan(gold, b.schema)
	if err != nil {
		s.unlifted++
		fmt.Fprintf(&s.log, "UNLIFTED %v\n  %s\n", err, gold)
		return
	}
	compiled, err := p.SQLFor(dialect.SQLite, b.schema)
	if err != nil {
		s.unfaithful++
		fmt.Fprintf(&s.log, "DOES NOT COMPILE %v\n  %s\n", err, gold)
		return
	}
	got, err := run(b.db, compiled)
	if err != nil || !eval.Same(want, got, false) {
		s.unfaithful++
		fmt.Fprintf(&s.log, "UNFAITHFUL %v\n  %s\n  %s\n", err, gold, compiled)
	}
	for _, m := range mutants(p, b.schema) {
		sql, err := m.plan.SQLFor(dialect.SQLite, b.schema)
		if err != nil {
			continue
		}
		res, err := run(b.db, sql)
		if err != nil || eval.Same(want, res, eval.Ordered(gold)) {
			continue
		}
		s.wrong[m.kind]++
		if v := judged(sql, res); v.Satisfaction != nlq.Satisfied {
			s.caught[m.kind]++
		} else {
			fmt.Fprintf(&s.log, "MISSED %s: %s\n  %s\n", m.kind, question, strings.ReplaceAll(sql, "\n", " "))
		}
	}
}

func runPlan(b *base, p *queryplan.Plan) (eval.Result, error) {
	sql, err := p.SQLFor(dialect.SQLite, b.schema)
	if err != nil {
		return eval.Result{}, err
	}
	return run(b.db, sql)
}

// TestJudgeOwnStatements is the same on the small databases of these tests, wherever they run: the
// right statements are those of the plans in judge.json.
func TestJudgeOwnStatements(t *testing.T) {
	raw, err := os.ReadFile("testdata/judge.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Schema, Question string
		Plan             json.RawMessage
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	bases := map[string]*base{"shop": small(t, "shop"), "league": small(t, "league")}
	s := &tally{wrong: map[string]int{}, caught: map[string]int{}}
	for _, c := range cases {
		p, err := queryplan.Parse(c.Plan)
		if err != nil {
			t.Fatal(err)
		}
		sql, err := p.SQLFor(dialect.SQLite, bases[c.Schema].schema)
		if err != nil {
			continue // SQLite has no median
		}
		judgeStatements(t, s, bases[c.Schema], c.Question, sql)
	}
	t.Log("\n" + s.String())
	s.hold(t)
	if *failures != "" {
		writeLog(t, s.log.String())
	}
}

// TestJudgeStatements judges the known answers of the questions and statements with one fault each.
func TestJudgeStatements(t *testing.T) {
	racetest.Skip(t, "judges a corpus")
	dir := benchDir(t)
	cases, err := eval.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	bases := map[string]*base{}
	s := &tally{wrong: map[string]int{}, caught: map[string]int{}}
	for _, c := range cases {
		if bases[c.DB] == nil {
			bases[c.DB] = open(t, c.Database(dir))
		}
		judgeStatements(t, s, bases[c.DB], c.Question, c.GoldSQL)
	}
	t.Log("\n" + s.String())
	s.hold(t)
	if *failures != "" {
		writeLog(t, s.log.String())
	}
}

// TestJudgeBusiness judges the known answers of the first turns of business dialogues, which are
// written in other words than their columns are, and statements with one fault each.
func TestJudgeBusiness(t *testing.T) {
	racetest.Skip(t, "judges a corpus")
	dir := *dialogues
	if dir == "" {
		dir = generateBusinesses(t)
	}
	var dialogues []eval.Dialogue
	raw, err := os.ReadFile(filepath.Join(dir, "dialogues.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &dialogues); err != nil {
		t.Fatal(err)
	}
	bases := map[string]*base{}
	s := &tally{wrong: map[string]int{}, caught: map[string]int{}}
	for _, d := range dialogues {
		if d.Turns[0].Expect != "answer" || d.Turns[0].Kind == "schema" {
			continue
		}
		if bases[d.Dataset] == nil {
			f := openFolder(t, filepath.Join(dir, d.Dataset))
			bases[d.Dataset] = &base{f.db, f.schema, f.index}
		}
		judgeStatements(t, s, bases[d.Dataset], d.Turns[0].Say, d.Turns[0].Gold[0])
	}
	t.Log("\n" + s.String())
	s.hold(t)
	if *failures != "" {
		writeLog(t, s.log.String())
	}
}

func writeLog(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(*failures, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
