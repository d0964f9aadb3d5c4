package nlq

import (
	"slices"
	"testing"
)

func TestQuestions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"How many orders are there, and within how many days may customers ask for a refund?": {"How many orders are there?", "within how many days may customers ask for a refund?"},
		"Wie viele Bestellungen gibt es und wer genehmigt hohe Erstattungen?":                 {"Wie viele Bestellungen gibt es?", "wer genehmigt hohe Erstattungen?"},
		"What is our uptime promise? How many tickets are open?":                              {"What is our uptime promise?", "How many tickets are open?"},
		"How many orders are there? Can goods be returned? Who decides about it?":             nil, // about it
		"Which orders were paid and did not ship?":                                            nil,
		"List all customers and how many orders they have":                                    nil,
		"How many orders and customers are there in Berlin and Hamburg?":                      nil,
		"What is the total of orders with a price of 1.5 and more?":                           nil,
		"Why? How many orders are there":                                                      nil,
		"":                                                                                    nil,
	} {
		if want == nil {
			want = []string{text}
		}
		if got := Questions(text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
