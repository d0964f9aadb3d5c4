package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/schema"
)

// farmIndex is a cooperative of farms without a database: growers deliver crops in lots.
func farmIndex() *nlq.Index {
	col := func(pairs ...string) (cs []schema.Column) {
		for i := 0; i < len(pairs); i += 2 {
			cs = append(cs, schema.Column{Name: pairs[i], Type: schema.ParseType(pairs[i+1])})
		}
		return cs
	}
	s := schema.Dataset{ID: "farm", Tables: []schema.Table{
		{Name: "growers", Rows: 80, Key: []string{"grower_id"}, Columns: col("grower_id", "BIGINT", "grower_name", "VARCHAR", "region", "VARCHAR", "hectares", "DOUBLE", "joined_on", "DATE")},
		{Name: "certificates", Rows: 150, Key: []string{"certificate_id"}, Columns: col("certificate_id", "BIGINT", "grower_id", "BIGINT", "label", "VARCHAR")},
		{Name: "lots", Rows: 900, Key: []string{"lot_id"}, Columns: col("lot_id", "BIGINT", "grower_id", "BIGINT", "crop", "VARCHAR", "grade", "BIGINT", "weight_kg", "DOUBLE", "amount", "DOUBLE", "state", "VARCHAR", "delivered_on", "DATE")},
	}}
	return nlq.NewIndex(s, []nlq.ColumnValues{
		{Table: "growers", Column: "region", Values: []string{"Uplands", "Marsh", "Coast"}, Complete: true},
		{Table: "certificates", Column: "label", Values: []string{"organic", "fairtrade"}, Complete: true},
		{Table: "lots", Column: "crop", Values: []string{"Barley", "Oats", "Rye"}, Complete: true},
		{Table: "lots", Column: "state", Values: []string{"paid", "open", "rejected"}, Complete: true},
	}, schema.Dictionary{})
}

// A reading is checked by parts of its statement. `declined` and `asked` say that there is none.
func checkReadings(t *testing.T, x *nlq.Index, readings map[string][]string) {
	t.Helper()
	for question, parts := range readings {
		a := nlq.Plan(nlq.Question{Text: question, Index: x, Now: today})
		sql := strings.Join(strings.Fields(a.SQL), " ")
		for _, part := range parts {
			ok := a.Sure() && strings.Contains(sql, part)
			switch part {
			case "declined":
				ok = a.Declined != ""
			case "asked":
				ok = len(a.Questions) > 0 && len(a.Questions[0].Alternatives) > 1
			}
			if !ok {
				t.Errorf("%s\n got %s, declined %q, asked %v\nwant %s", question, sql, a.Declined, a.Questions, part)
			}
		}
	}
}

// Numbers and dates mean the same in English and in German form; where both can be meant it asks.
func TestNumbersAndDates(t *testing.T) {
	t.Parallel()
	checkReadings(t, farmIndex(), map[string][]string{
		"How many lots have an amount over 20,0?":                      {"amount > 20"},
		"How many lots have an amount over 5.000?":                     {"asked"},
		"How many lots have an amount over 1.234,56?":                  {"amount > 1234.56"},
		"How many lots have an amount over 1,234.56?":                  {"amount > 1234.56"},
		"how many lots were delivered on 12.03.2025":                   {">= '2025-03-12'", "< '2025-03-13'"},
		"how many lots were delivered on 03/04/2025":                   {"declined"},
		"how many lots were delivered in February and March 2025":      {">= '2025-02-01'", "< '2025-04-01'"},
		"how many lots were delivered in Feb or Mar 2025":              {">= '2025-02-01'", "< '2025-04-01'"},
		"total amount per month for January, February and March 2025":  {">= '2025-01-01'", "< '2025-04-01'", "sum(amount)"},
		"how many lots were delivered in december 2024 and march 2025": {"declined"},
	})
}

// Words that change the question are part of the statement, whatever way they are said.
func TestWordsThatChange(t *testing.T) {
	t.Parallel()
	checkReadings(t, farmIndex(), map[string][]string{
		"lots with amount > 20 and amount < 80":                {"amount > 20 AND amount < 80"},
		"how many lots have an amount over 20 but under 80":    {"amount > 20 AND amount < 80"},
		"lots between 20 and 80 kg, how many":                  {"count(*)", "weight_kg BETWEEN 20 AND 80"},
		"how many lots are abbove 500 kg":                      {"weight_kg > 500"},
		"which growers nevver delivered anything":              {"NOT IN (SELECT grower_id FROM lots"},
		"What is the second largest lot?":                      {"ORDER BY amount DESC", "LIMIT 1 OFFSET 1"},
		"which grower has the third most lots?":                {"ORDER BY count(*) DESC", "LIMIT 1 OFFSET 2"},
		"Welcher Grower hat die zweitmeisten Lots?":            {"LIMIT 1 OFFSET 1"},
		"the second 5 largest lots":                            {"declined"},
		"third highest amount of lots":                         {"declined"},
		"how many paid and open lots are there":                {"state IN ('paid', 'open')"},
		"how many lots are neither paid nor open":              {"state NOT IN ('paid', 'open')"},
		"which growers do not have the region Marsh":           {"region <> 'Marsh'"},
		"grades that have at least 4 lots":                     {"GROUP BY grade HAVING count(*) >= 4"},
		"total amount for different number of grades":          {"sum(amount)", "GROUP BY grade"},
		"how many growers have organic and fairtrade labels":   {"label = 'organic'", "label = 'fairtrade'"},
		"which grower has the highest amount":                  {"asked"},
		"Which growers delivered rye? List the name and id.":   {"SELECT grower_name, grower_id FROM growers", "crop = 'Rye'"},
		"What are the grower ids of growers without rye lots?": {"FROM growers WHERE", "NOT IN"},
		"Show grower region for grower with 20 hectares":       {"SELECT region FROM growers"},
		"List the name of the grower with the most hectares.":  {"SELECT grower_name, grower_id FROM growers ORDER BY hectares DESC"},
		"Which crop is the strongest?":                         {"asked"},
		"Which grower is doing best?":                          {"asked"},
	})
}

// Politeness and harmless tails change nothing, in English and German.
func TestPoliteFrames(t *testing.T) {
	t.Parallel()
	readings := map[string][]string{}
	for _, question := range []string{
		"could you please tell me how many lots are open", "would you mind telling me how many lots are open?", "I'd like to know how many lots are open, thanks",
		"how many lots are open asap", "Hi there, hope you're well! how many lots are open?", "any idea how many lots are open?", "do you happen to know how many lots are open",
		"Kannst du mir sagen, wie viele Lots offen sind?", "Könnten Sie mir sagen wie viele Lots offen sind? Vielen Dank", "Ich möchte wissen, wie viele Lots offen sind",
	} {
		readings[question] = []string{"SELECT count(*) AS count FROM lots WHERE state = 'open'"}
	}
	checkReadings(t, farmIndex(), readings)
}

// A share that the glossary defines is one of each group, not a part of all groups.
func TestShareOfEachGroup(t *testing.T) {
	t.Parallel()
	x := nlq.NewIndex(schema.Dataset{ID: "gym", Tables: []schema.Table{{Name: "bookings", Rows: 400, Key: []string{"booking_id"}, Columns: []schema.Column{
		{Name: "booking_id", Type: schema.ParseType("BIGINT")}, {Name: "room", Type: schema.ParseType("VARCHAR")}, {Name: "status", Type: schema.ParseType("VARCHAR")},
	}}}},
		[]nlq.ColumnValues{{Table: "bookings", Column: "room", Values: []string{"hall", "studio"}, Complete: true}, {Table: "bookings", Column: "status", Values: []string{"attended", "no-show"}, Complete: true}},
		schema.Dictionary{Glossary: map[string]string{"no-show rate": "Share of bookings with status no-show."}})
	checkReadings(t, x, map[string][]string{"no-show rate by room": {"FILTER (WHERE status = 'no-show')", "GROUP BY room"}})
}
