package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
)

// A follow-up changes the last question that was answered, whatever was said since, and
// replaces what it says again.
func TestFollowUpsReplace(t *testing.T) {
	x, _ := shopIndex()
	const byStatus = "Number of orders by status"
	for _, tt := range []struct {
		name  string
		said  []string
		want  []string
		wrong []string
	}{
		{"after a message that was not understood", []string{byStatus, "blorb frobnicate", "top 1"}, []string{"GROUP BY", "LIMIT 1"}, nil},
		{"after thanks", []string{byStatus, "thanks", "top 1"}, []string{"GROUP BY", "LIMIT 1"}, nil},
		{"after a typed statement", []string{byStatus, "SQL: SELECT status FROM orders", "top 1"}, []string{"declined: ", "statement that was typed"}, nil},
		{"after typed code", []string{byStatus, "PYTHON: result_df = orders.head()", "top 1"}, []string{"declined: ", "statement that was typed"}, nil},
		{"a question after a typed statement", []string{"SQL: SELECT status FROM orders", byStatus, "top 1"}, []string{"LIMIT 1"}, nil},
		{"left out after kept", []string{byStatus, "and only open?", "without open"}, []string{"<> 'open'"}, []string{" = 'open'"}},
		{"kept after left out", []string{byStatus, "without open", "and only open?"}, []string{" = 'open'"}, []string{"<> 'open'"}},
		{"one of two left out", []string{"Number of orders by country", "only France or Spain", "without Spain"}, []string{"= 'France'"}, []string{"Spain"}},
		{"that, of what was not answered", []string{"blorb frobnicate", "how many orders is that in total?"}, []string{"declined: ", "was not answered"}, nil},
		{"as well, of what was not answered", []string{"blorb frobnicate", "show the average amount as well"}, []string{"declined: ", "was not answered"}, nil},
		{"few words after what was not answered", []string{"blorb frobnicate", "which customers?"}, []string{"declined: ", "was not answered"}, nil},
		{"few words that count after what was not answered", []string{"blorb frobnicate", "orders by status"}, []string{"GROUP BY"}, nil},
		{"another bound", []string{"How many orders with an amount over 1000?", "and over 1500?"}, []string{"> 1500"}, []string{"1000"}},
		{"the bound of the other side", []string{"How many orders with an amount over 1000?", "and under 1500?"}, []string{"> 1000", "< 1500"}, nil},
		{"another bound of groups", []string{byStatus, "only those with more than 10", "only those with more than 20"}, []string{"> 20"}, []string{"> 10"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := nlq.Question{Index: x}
			for _, text := range tt.said[:len(tt.said)-1] {
				q.History = append(q.History, nlq.Turn{Text: text})
			}
			q.Text = tt.said[len(tt.said)-1]
			got := sqlOf(t, q)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			for _, wrong := range tt.wrong {
				if strings.Contains(got, wrong) {
					t.Errorf("got %s, which has %s", got, wrong)
				}
			}
		})
	}
}
