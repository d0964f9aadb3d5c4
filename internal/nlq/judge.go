package nlq

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"interlock/internal/queryplan"
)

// A Result is what a plan gave when it ran.
type Result struct {
	Columns []string
	Rows    [][]any
	Limited bool   // more rows exist than were read
	Error   string // why it did not run
	Curable bool   // of an error: another plan may do
}

// Satisfaction is the judgement on a result.
type Satisfaction string

// The judgements.
const (
	Satisfied Satisfaction = "satisfied"
	NeedsWork Satisfaction = "needs_work"
	Failed    Satisfaction = "failed"
)

// A Verdict says whether a result answers its question, and what is wrong if not.
type Verdict struct {
	Satisfaction Satisfaction `json:"satisfaction"`
	Notes        string       `json:"notes"`
	Issues       []string     `json:"issues,omitempty"`
	Improvements []string     `json:"improvements,omitempty"`
}

// Judge compares a question with the plan and result that are meant to answer it.
// It reads the question's words anew and does not plan: a lost condition, a wrong
// group, a join that multiplies rows or a slipped date is found by what the words
// say and the plan does not, or the other way round. A nil plan leaves the result.
func Judge(q Question, plan *queryplan.Plan, res Result) Verdict {
	if res.Error != "" {
		v := Verdict{Satisfaction: Failed, Notes: "The query did not run: " + res.Error, Issues: []string{res.Error}}
		if res.Curable {
			v.Satisfaction = NeedsWork
			v.Improvements = []string{"Plan again and avoid what the error names."}
		}
		return v
	}
	j := &judge{}
	x := q.Index
	if x == nil {
		x = NewIndex(q.Schema, q.Values, q.Dictionary)
	}
	now := q.Now
	if now.IsZero() {
		now = time.Now()
	}
	if !x.today.IsZero() {
		now = x.today
	}
	if plan != nil && !x.readsAs(q, plan, now) {
		if english, ok := x.translate(q.Text); ok {
			q.Text = english
		}
		text, _ := x.rephrase(q, now)
		for line := range strings.Lines(q.Clarification) {
			if _, err := strconv.Atoi(strings.TrimSpace(line)); err != nil && !yes.MatchString(line) {
				text += " " + strings.TrimSpace(line)
			}
		}
		j.r = newReader(x, text, now)
		j.r.findSubject()
		j.said = q.Text + " " + q.Clarification
		j.defined = x.definedWords(j.said)
		j.vague = len(j.defined) > 0 || len(j.r.unknownWords()) > 0
		plan := plan.Expanded(x.schema)
		j.plan, j.facts = plan, gatherFacts(plan)
		j.checkConditions()
		j.checkMeasures()
		j.checkGroups()
		j.checkRanks()
		j.checkJoins()
		j.checkShown()
	}
	j.checkRows(plan, res)
	return j.verdict(res)
}

// readsAs reports whether the words of a question, each of them accounted for, say what the plan does.
func (x *Index) readsAs(q Question, plan *queryplan.Plan, now time.Time) bool {
	if a, ok := x.answerByMeaning(q); ok && len(a.Questions) == 0 && a.Plan != nil {
		sql, err := plan.SQL(x.schema)
		return err == nil && sql == a.SQL
	}
	talk := x.hearAll(q, now)
	if talk.failed || len(talk.current.alternatives) > 0 {
		return false
	}
	sql, err := plan.SQL(x.schema)
	return err == nil && sql == talk.current.sql
}

// A judge collects what is wrong.
type judge struct {
	r            *reader
	plan         *queryplan.Plan
	facts        *facts
	issues, cure []string
	notes        []string
	said         string
	defined      []token // of the definitions of terms that the question uses
	// vague says that words of the question became nothing, or stand for a definition: what the
	// plan has beyond the other words may come from them.
	vague bool
}

func (j *judge) addObjection(cure, format string, args ...any) {
	j.issues = append(j.issues, fmt.Sprintf(format, args...))
	j.cure = append(j.cure, cure)
}

func (j *judge) verdict(res Result) Verdict {
	v := Verdict{Satisfaction: Satisfied, Issues: j.issues, Improvements: j.cure}
	if len(j.issues) > 0 {
		v.Satisfaction = NeedsWork
		v.Notes = strings.Join(j.issues, " ")
		return v
	}
	notes := append([]string{fmt.Sprintf("The result has %d rows and %d columns and fits the question.", len(res.Rows), len(res.Columns))}, j.notes...)
	v.Notes = strings.Join(notes, " ")
	return v
}

// fewRows is below how many rows a column may well be empty in all of them.
const fewRows = 5

// checkRows looks at the rows alone.
func (j *judge) checkRows(plan *queryplan.Plan, res Result) {
	if res.Limited {
		j.notes = append(j.notes, "More rows exist than are shown.")
	}
	if len(res.Columns) == 0 {
		return
	}
	if len(res.Rows) == 0 {
		if plan != nil && len(plan.Filters)+len(plan.Joins)+len(plan.Having)+len(plan.Combine) > 0 {
			j.notes = append(j.notes, "Nothing in the data fits the conditions.")
		} else {
			j.addObjection("Check the tables: without conditions there should be rows.", "The result is empty although nothing was filtered.")
		}
		return
	}
	for c, name := range res.Columns {
		filled := false
		for _, row := range res.Rows {
			filled = filled || c < len(row) && row[c] != nil
		}
		if filled {
			continue
		}
		if len(res.Rows) < fewRows {
			j.notes = append(j.notes, fmt.Sprintf("%s is unknown: no row with a value fits the conditions.", name))
		} else {
			j.addObjection("Use a column that has values, or check the join.", "The column %s has no value in any row.", name)
		}
	}
}
