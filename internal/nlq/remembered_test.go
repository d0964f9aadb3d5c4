package nlq_test

import (
	"strconv"
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/queryplan/queryplantest"
	"interlock/internal/schema"
)

// TestRememberedChoice answers a question back with each of its choices: what can be remembered of
// it, written into the semantic model, gives the same plan to the same question without asking.
func TestRememberedChoice(t *testing.T) {
	shipped := queryplantest.Shop
	shipped.Tables = append([]schema.Table{}, shipped.Tables...)
	for i, table := range shipped.Tables {
		if table.Name == "orders" {
			shipped.Tables[i].Columns = append(append([]schema.Column{}, table.Columns...), schema.Column{Name: "due_at", Type: schema.ParseType("TIMESTAMP")})
		}
	}
	for _, tt := range []struct {
		data schema.Dataset
		ask  string
		term string
	}{
		{shipped, "how many orders were there in March 2026", "when"},
		{shipped, "number of orders by month", "when"},
		{storeIndex().Schema(), "what were our sales in March 2026", "sales"},
		{storeIndex().Schema(), "who is our best customer", "best"},
	} {
		plan := func(clarification string, chosen ...schema.Choice) nlq.Answer {
			d := tt.data
			m := schema.Meaning{}
			if d.Meaning != nil {
				m = *d.Meaning
			}
			m.Chosen = chosen
			d.Meaning = &m
			return nlq.Plan(nlq.Question{Text: tt.ask, Index: nlq.NewIndex(d, nil, schema.Dictionary{}), Clarification: clarification})
		}
		asked := plan("")
		if len(asked.Questions) != 1 || len(asked.Questions[0].Alternatives) < 2 {
			t.Errorf("%s is not asked about: %q %s", tt.ask, asked.Declined, asked.SQL)
			continue
		}
		for i, alternative := range asked.Questions[0].Alternatives {
			if alternative.Plan == nil {
				continue
			}
			chose := plan(strconv.Itoa(i + 1))
			if chose.Chosen == nil || chose.Chosen.Term != tt.term || chose.Chosen.Reading != alternative.Text || chose.SQL != alternative.SQL {
				t.Errorf("%s, %d: chosen %+v\n%s\nwant %s", tt.ask, i+1, chose.Chosen, chose.SQL, alternative.SQL)
				continue
			}
			always := plan("", *chose.Chosen)
			if !always.Sure() || always.SQL != alternative.SQL || always.Chosen != nil {
				t.Errorf("%s, always %s: sure %v, %q %v\n%s\nwant %s", tt.ask, alternative.Text, always.Sure(), always.Declined, always.Questions, always.SQL, alternative.SQL)
			}
		}
		if a := plan("", schema.Choice{Term: tt.term, Reading: "the moon of orders"}); a.Sure() {
			t.Errorf("%s: a choice of nothing was taken: %s", tt.ask, a.SQL)
		}
	}
}

// TestPassingChoice remembers nothing of a choice that is of one question alone.
func TestPassingChoice(t *testing.T) {
	a := nlq.Plan(nlq.Question{Text: "how many orders have a total above 5.000", Index: storeIndex(), Clarification: "1"})
	if a.Plan == nil || a.Chosen != nil {
		t.Errorf("%q, %+v", a.Declined, a.Chosen)
	}
}
