package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/schema"
)

// nurseryIndex is a garden nursery whose columns are explained in words that their names do not have.
func nurseryIndex() *nlq.Index {
	column := func(name, kind string) schema.Column { return schema.Column{Name: name, Type: schema.ParseType(kind)} }
	s := schema.Dataset{ID: "nursery", Tables: []schema.Table{
		{Name: "accounts", Rows: 60, Key: []string{"account_no"}, Columns: []schema.Column{column("account_no", "BIGINT"), column("firm", "VARCHAR"), column("adv", "VARCHAR"), column("promo", "VARCHAR")}},
		{Name: "lots", Rows: 900, Key: []string{"lot_no"}, Columns: []schema.Column{column("lot_no", "BIGINT"), column("account_no", "BIGINT"), column("potted_on", "DATE"), column("left_at", "DATE"), column("qty_out", "BIGINT"), column("dial", "BIGINT"), column("route", "VARCHAR")}},
	}}
	values := []nlq.ColumnValues{
		{Table: "accounts", Column: "adv", Values: []string{"Mira Kolb", "Mira Stein", "Ole Brandt"}, Complete: true},
		{Table: "accounts", Column: "promo", Values: []string{"SPRING", "FALL"}, Complete: true},
		{Table: "lots", Column: "route", Values: []string{"van", "post"}, Complete: true},
	}
	return nlq.NewIndex(s, values, schema.Dictionary{Tables: map[string]schema.TableText{
		"accounts": {Text: "Garden centres that we supply.", Columns: map[string]string{"adv": "Our field adviser for the account; NULL = none.", "promo": "Promotion; NULL = none."}},
		"lots": {Text: "What we sent out.", Columns: map[string]string{
			"potted_on": "Day of potting. Lots count by this day.", "left_at": "Day of dispatch.", "qty_out": "Plants sent (trays, pots).", "dial": "Reading of the hygrometer in percent.", "route": "van or post.",
		}},
	}})
}

// TestDescribedNouns calls columns what their descriptions call them.
func TestDescribedNouns(t *testing.T) {
	t.Parallel()
	checkReadings(t, nurseryIndex(), map[string][]string{
		"how many accounts per field adviser": {"GROUP BY adv"},
		"how many accounts per adviser":       {"GROUP BY adv"},
		"average hygrometer reading":          {"avg(dial)"},
		"total plants":                        {"sum(qty_out)"},
		"how many trays in 2025":              {"sum(qty_out)", "potted_on >= '2025-01-01'"},
		"how many accounts per promo code":    {"GROUP BY promo"},
		"how many lots per route":             {"GROUP BY route"},
		"how many lots went by post":          {"route = 'post'"},
		"how many accounts does Ole have":     {"adv = 'Ole Brandt'"},
		"how many lots do we have, I need it for the meeting with the landlord":                            {"SELECT count(*) AS count FROM lots"},
		"how many lots do we have? I need it by Friday because my boss asked.":                             {"SELECT count(*) AS count FROM lots"},
		"how many lots do we have for the presentation tomorrow?":                                          {"SELECT count(*) AS count FROM lots"},
		"Could you tell me how many lots there are? We need the figure for our board meeting on Thursday.": {"SELECT count(*) AS count FROM lots"},
	})
}

// TestSharedName asks which of the people is meant whose first name two have.
func TestSharedName(t *testing.T) {
	t.Parallel()
	x := nurseryIndex()
	a := nlq.Plan(nlq.Question{Text: "how many accounts does Mira have", Index: x, Now: today})
	if a.Sure() || len(a.Questions) != 1 || len(a.Questions[0].Alternatives) != 2 || !strings.Contains(a.Questions[0].Alternatives[1].Text, "Mira Stein") {
		t.Fatalf("not asked: %+v", a)
	}
	a = nlq.Plan(nlq.Question{Text: "how many accounts does Mira have", Clarification: "Mira Stein", Index: x, Now: today})
	if !a.Sure() || !strings.Contains(a.SQL, "adv = 'Mira Stein'") {
		t.Errorf("the choice is not taken: %q %s", a.Declined, a.SQL)
	}
}

// TestPurposeKept declines a tail that names something of the data, as it may change the question.
func TestPurposeKept(t *testing.T) {
	t.Parallel()
	for _, question := range []string{"how many lots do we have for the meeting with the accounts", "how many lots did we send out, I need it for the spring promo", "lots per route, I need it to compare 2024"} {
		if a := nlq.Plan(nlq.Question{Text: question, Index: nurseryIndex(), Now: today}); a.Sure() {
			t.Errorf("%s is answered: %s", question, a.SQL)
		}
	}
}
