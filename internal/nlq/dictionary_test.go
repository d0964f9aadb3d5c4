package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/schema"
)

// powerIndex is an energy supplier whose dictionary says what codes, numbers and missing values stand for.
func powerIndex() *nlq.Index {
	col := func(pairs ...string) (cs []schema.Column) {
		for i := 0; i < len(pairs); i += 2 {
			cs = append(cs, schema.Column{Name: pairs[i], Type: schema.ParseType(pairs[i+1])})
		}
		return cs
	}
	s := schema.Dataset{ID: "power", Tables: []schema.Table{
		{Name: "sites", Rows: 30, Key: []string{"site_code"}, Columns: col("site_code", "VARCHAR", "site_name", "VARCHAR", "meters", "BIGINT", "closed_on", "DATE")},
		{Name: "contracts", Rows: 300, Key: []string{"contract_no"}, Columns: col("contract_no", "BIGINT", "holder", "VARCHAR", "tariff", "VARCHAR", "birth_year", "BIGINT", "paperless", "BOOLEAN", "promo", "VARCHAR")},
		{Name: "readings", Rows: 3000, Key: []string{"reading_no"}, Columns: col("reading_no", "BIGINT", "contract_no", "BIGINT", "meter_site", "VARCHAR", "billing_site", "VARCHAR", "read_on", "DATE", "kwh", "DOUBLE", "kwh_price", "DOUBLE", "status", "BIGINT", "stars", "BIGINT")},
		{Name: "reading_parts", Rows: 900, Key: []string{"line_no"}, Columns: col("line_no", "BIGINT", "reading_no", "BIGINT", "part_name", "VARCHAR", "quantity", "BIGINT")},
	}, Relations: []schema.Relation{
		{Table: "readings", Column: "contract_no", RefTable: "contracts", RefColumn: "contract_no"},
		{Table: "readings", Column: "meter_site", RefTable: "sites", RefColumn: "site_code"},
		{Table: "readings", Column: "billing_site", RefTable: "sites", RefColumn: "site_code"},
		{Table: "reading_parts", Column: "reading_no", RefTable: "readings", RefColumn: "reading_no"},
	}}
	return nlq.NewIndex(s, []nlq.ColumnValues{
		{Table: "sites", Column: "site_name", Values: []string{"North Quay", "Mill Lane"}, Complete: true},
		{Table: "contracts", Column: "tariff", Values: []string{"G", "N"}, Complete: true},
		{Table: "contracts", Column: "promo", Values: []string{"SPRING", "n/a"}, Complete: true},
		{Table: "reading_parts", Column: "part_name", Values: []string{"seal", "fuse"}, Complete: true},
	}, schema.Dictionary{
		Tables: map[string]schema.TableText{
			"sites":     {Text: "Places with meters.", Columns: map[string]string{"closed_on": "Last day; NULL = in use."}},
			"contracts": {Text: "Our customers: everybody whom we supply.", Columns: map[string]string{"tariff": "G = green power, N = night tariff.", "birth_year": "Year of birth; 0 = not given.", "promo": "Code; 'n/a' = none used."}},
			"readings": {Text: "Meter readings of customers.", Columns: map[string]string{
				"read_on": "Day. Readings count by this day.", "meter_site": "Where it was read. A reading belongs to this site.",
				"kwh": "Energy; -1 = meter failed.", "status": "10 = estimated, 20 = measured, 90 = void.", "stars": "1 to 5; 9 = no rating.",
			}},
		},
		Glossary: map[string]string{
			"energy cost":        "Sum of kwh times kwh_price over all readings, by the day of read_on. Void readings (status 90) do not count.",
			"odd cost":           "Sum of kwh times kwh_price. Readings of the moon do not count.",
			"day of the extract": "2026-06-30. Relative dates count from this day.",
		},
	})
}

// TestDictionaryWords reads what descriptions say that codes and missing values stand for.
func TestDictionaryWords(t *testing.T) {
	t.Parallel()
	checkReadings(t, powerIndex(), map[string][]string{
		"how many customers have a night tariff?":             {"tariff = 'N'"},
		"how many estimated readings in 2025":                 {"status = 10", "read_on >= '2025-01-01'"},
		"how many sites are in use at the moment?":            {"closed_on IS NULL"},
		"how many sites are not in use":                       {"closed_on IS NOT NULL"},
		"how many customers were born before 1960?":           {"birth_year < 1960", "birth_year NOT IN (0)"},
		"average kwh of readings":                             {"kwh NOT IN (-1)"},
		"average rating per tariff":                           {"avg(", "stars NOT IN (9)"},
		"which promo code is used the most?":                  {"promo IS NOT NULL", "promo NOT IN ('n/a')"},
		"how many fuses did we use in 2025":                   {"sum(reading_parts.quantity)", "part_name = 'fuse'"},
		"how many readings did we estimate in 2025":           {"status = 10"},
		"energy cost in May 2026":                             {"sum(kwh * kwh_price)", "status <> 90", "read_on >= '2026-05-01'", "kwh NOT IN (-1)"},
		"odd cost in May 2026":                                {"declined"},
		"what share of energy cost comes from green power?":   {"FILTER (WHERE contracts.tariff = 'G')", "status <> 90"},
		"how many readings have we lost?":                     {"declined"},
		"how many readings have no rating":                    {"stars IS NULL OR stars IN (9)"},
		"top 3 customers by number of kwh":                    {"sum(kwh)"},
		"average kwh per reading by tariff":                   {"GROUP BY contracts.tariff"},
		"which sites had no readings in March 2026?":          {"NOT IN (SELECT meter_site FROM readings", "read_on >= '2026-03-01'"},
		"energy cost per available site":                      {"declined"},
		"readings by site":                                    {"readings.meter_site = sites.site_code", "GROUP BY sites.site_name"},
		"readings by billing site":                            {"readings.billing_site = sites.site_code", "GROUP BY sites.site_name"},
		"which site has the second most meters?":              {"ORDER BY meters DESC", "LIMIT 1 OFFSET 1"},
		"in which months of 2025 was energy cost above 1000?": {"GROUP BY", "HAVING sum(", "> 1000", "month"},
		"second largest customer by energy cost":              {"GROUP BY", "OFFSET 1"},
		"Good morning! How many readings were there in 2025? I need it for the board meeting on Thursday.": {"count(*)", "2025-01-01"},
	})
}

// TestFollowUpsEdit goes on from an answer by what each message adds, replaces or leaves out.
func TestFollowUpsEdit(t *testing.T) {
	t.Parallel()
	x := powerIndex()
	for _, tt := range []struct {
		said []string
		want []string // parts of the statement; "declined" that there is none
	}{
		{[]string{"energy cost by tariff in 2025", "just the best one", "and the worst one?"}, []string{"ORDER BY sum(", "LIMIT 1", "2025-01-01"}},
		{[]string{"how many estimated readings in 2025", "what percentage of all readings is that?"}, []string{"FILTER (WHERE status = 10)", "WHERE read_on >= '2025-01-01'"}},
		{[]string{"list the customers with a night tariff", "their energy cost in 2025?"}, []string{"sum(readings.kwh * readings.kwh_price)", "tariff = 'N'"}},
		{[]string{"which site has the most meters?", "and the second?"}, []string{"LIMIT 1 OFFSET 1"}},
		{[]string{"How many fluffy readings are there?", "add the energy cost"}, []string{"declined"}},
		{[]string{"list paperless customers with a night tariff", "how many without paperless?"}, []string{"paperless = FALSE", "tariff = 'N'"}},
		{[]string{"compare the energy cost of Q1 2025 with Q1 2026", "by tariff"}, []string{"FILTER (WHERE", "2025-01-01", "2026-01-01", "GROUP BY contracts.tariff"}},
		{[]string{"how many readings in 2025", "split that by site"}, []string{"GROUP BY sites.site_name"}},
		{[]string{"Who are our best customers?", "the five with the highest energy cost"}, []string{"LIMIT 5", "sum(kwh * kwh_price)"}},
	} {
		q := nlq.Question{Text: tt.said[len(tt.said)-1], Index: x}
		for _, text := range tt.said[:len(tt.said)-1] {
			q.History = append(q.History, nlq.Turn{Text: text})
		}
		a := nlq.Plan(q)
		sql := strings.Join(strings.Fields(a.SQL), " ")
		for _, want := range tt.want {
			if want == "declined" && a.Declined == "" || want != "declined" && (!a.Sure() || !strings.Contains(sql, want)) {
				t.Errorf("%v: %q %s lacks %s", tt.said, a.Declined, sql, want)
			}
		}
	}
}
