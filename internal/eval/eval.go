// Package eval scores answers against known ones: it compares results of queries
// (the same rows, whatever the order of columns) and sums outcomes up to the four
// figures that belong together: right of all, answered of all, right of answered,
// and asked back or declined. A Runner asks the questions of a running engine.
package eval

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A Case is a question with a known answer: gold SQL over a SQLite database.
type Case struct {
	DB       string `json:"db"`
	Question string `json:"question"`
	GoldSQL  string `json:"gold_sql"`
}

// Load reads `questions.json` of a folder.
func Load(dir string) ([]Case, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "questions.json"))
	if err != nil {
		return nil, fmt.Errorf("reading the questions: %w", err)
	}
	var cases []Case
	if err := json.Unmarshal(raw, &cases); err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Join(dir, "questions.json"), err)
	}
	return cases, nil
}

// Database is the path of a case's database in its folder.
func (c Case) Database(dir string) string { return filepath.Join(dir, c.DB+".sqlite") }

// An Outcome is what became of a question.
type Outcome string

// The outcomes. A failed statement is a wrong answer.
const (
	Right    Outcome = "right"
	Wrong    Outcome = "wrong"
	Asked    Outcome = "asked"
	Declined Outcome = "declined"
)

// A Record is one question as it went.
type Record struct {
	Case
	Outcome    Outcome       `json:"outcome"`
	Confidence float64       `json:"confidence,omitempty"` // of the answer, 0 when unknown
	SQL        string        `json:"sql,omitempty"`
	Note       string        `json:"note,omitempty"` // an error, a question back, a reason
	Elapsed    time.Duration `json:"elapsed_ns"`
}
