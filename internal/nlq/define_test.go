package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/nlq"
	"interlock/internal/schema"
)

// lendingIndex is a lending library of tools with a glossary of one term.
func lendingIndex(term, text string) *nlq.Index {
	col := func(pairs ...string) (cs []schema.Column) {
		for i := 0; i < len(pairs); i += 2 {
			cs = append(cs, schema.Column{Name: pairs[i], Type: schema.ParseType(pairs[i+1])})
		}
		return cs
	}
	s := schema.Dataset{Tables: []schema.Table{
		{Name: "members", Rows: 40, Key: []string{"member_no"}, Columns: col("member_no", "BIGINT", "full_name", "VARCHAR", "town", "VARCHAR", "joined_on", "DATE", "left_on", "DATE")},
		{Name: "tools", Rows: 30, Key: []string{"tool_no"}, Columns: col("tool_no", "BIGINT", "title", "VARCHAR", "kind", "VARCHAR", "day_rate", "DOUBLE", "cost", "DOUBLE", "retired_on", "DATE")},
		{Name: "tool_loans", Rows: 900, Key: []string{"loan_no"}, Columns: col("loan_no", "BIGINT", "member_no", "BIGINT", "tool_no", "BIGINT", "lent_on", "DATE", "due_on", "DATE", "returned_on", "DATE",
			"status", "BIGINT", "days", "BIGINT", "fee", "DOUBLE", "deposit", "DOUBLE", "paid", "DOUBLE", "rating", "BIGINT", "insured", "BOOLEAN")},
		{Name: "damages", Rows: 50, Key: []string{"damage_no"}, Columns: col("damage_no", "BIGINT", "loan_no", "BIGINT", "found_on", "DATE", "repair_cost", "DOUBLE", "severity", "VARCHAR")},
	}, Relations: []schema.Relation{
		{Table: "tool_loans", Column: "member_no", RefTable: "members", RefColumn: "member_no"},
		{Table: "tool_loans", Column: "tool_no", RefTable: "tools", RefColumn: "tool_no"},
		{Table: "damages", Column: "loan_no", RefTable: "tool_loans", RefColumn: "loan_no"},
	}}
	values := []nlq.ColumnValues{
		{Table: "members", Column: "town", Values: []string{"Basel", "Bern"}, Complete: true},
		{Table: "tools", Column: "kind", Values: []string{"saw", "drill"}, Complete: true},
		{Table: "damages", Column: "severity", Values: []string{"slight", "total loss"}, Complete: true},
	}
	dict := schema.Dictionary{Glossary: map[string]string{term: text, "today": "The data was extracted on 2025-06-30."}, Tables: map[string]schema.TableText{
		"tool_loans": {Text: "Loans of tools to members.", Columns: map[string]string{
			"lent_on": "Day of the loan. Loans count by this day.", "status": "1 = reserved, 2 = out, 3 = returned, 9 = cancelled.",
			"rating": "1 to 5; -1 = no answer.", "returned_on": "Day of the return; NULL = still out.",
		}},
		"tools": {Text: "Tools.", Columns: map[string]string{"retired_on": "NULL = on the shelf."}},
	}}
	return nlq.NewIndex(s, values, dict)
}

// TestDefinitions reads sentences of a glossary. What is not read whole is not computed, and the part that
// stopped it is named.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ term, text, want string }{
		{"covered loan", "Somebody else pays for damage; tool_loans.insured is true.", "SELECT count(*) AS count FROM tool_loans WHERE insured = TRUE"},
		{"income", "Sum of fee.", "SELECT sum(fee) AS sum_fee FROM tool_loans"},
		{"income", "Sum of tool_loans.fee over loans with status 3.", "SELECT sum(fee) AS sum_fee FROM tool_loans WHERE status = 3"},
		{"income", "Sum of fee of all loans that are not cancelled, by lent_on.", "SELECT sum(fee) AS sum_fee FROM tool_loans WHERE status <> 9"},
		{"income", "Total of fee and deposit. Cancelled loans (status 9) do not count.", "SELECT sum(fee + deposit) AS sum_value FROM tool_loans WHERE status <> 9"},
		{"income", "Sum of fee, without cancelled loans.", "SELECT sum(fee) AS sum_fee FROM tool_loans WHERE status <> 9"},
		{"income", "Sum of fee, not counting loans with status 1 or 9.", "SELECT sum(fee) AS sum_fee FROM tool_loans WHERE status NOT IN (1, 9)"},
		{"income", "Sum of fee. Only returned loans count.", "SELECT sum(fee) AS sum_fee FROM tool_loans WHERE status = 3"},
		{"margin", "Sum of tool_loans.days times (tools.day_rate less tools.cost).", "SELECT sum(tool_loans.days * (tools.day_rate - tools.cost)) AS sum_value FROM tool_loans JOIN tools ON tool_loans.tool_no = tools.tool_no"},
		{"wear", "Sum of days divided by 30.", "SELECT 1.0 * sum(days) / nullif(30, 0) AS value FROM tool_loans"},
		{"deposit share", "Sum of deposit divided by the sum of fee and deposit.", "SELECT 1.0 * sum(deposit) / nullif(sum(fee + deposit), 0) AS value FROM tool_loans"},
		{"damage rate", "Returned loans with at least one damage divided by all returned loans.", "SELECT 1.0 * (100 * count(*) FILTER (WHERE status = 3 AND loan_no IN (SELECT loan_no FROM damages))) / nullif(count(*), 0) AS percent FROM tool_loans WHERE status = 3"},
		{"damage rate", "Share of loans with a damage.", "SELECT 1.0 * (100 * count(*) FILTER (WHERE loan_no IN (SELECT loan_no FROM damages))) / nullif(count(*), 0) AS percent FROM tool_loans"},
		{"loss rate", "Share of cancelled loans among all loans.", "SELECT 1.0 * (100 * count(*) FILTER (WHERE status = 9)) / nullif(count(*), 0) AS percent FROM tool_loans"},
		{"cancel ratio", "Cancelled loans divided by returned loans.", "SELECT (1.0 * count(*) FILTER (WHERE status = 9) / nullif(count(*) FILTER (WHERE status = 3), 0)) * 100 AS value FROM tool_loans"},
		{"utilisation", "Number of loans with status 2 divided by number of loans with status 1 or 2.", "SELECT 1.0 * (100 * count(*) FILTER (WHERE status = 2)) / nullif(count(*), 0) AS percent FROM tool_loans WHERE status IN (1, 2)"},
		{"volume", "Number of loans that are not cancelled.", "SELECT count(*) FILTER (WHERE status <> 9) AS count FROM tool_loans"},
		{"loan time", "Days from lent_on to returned_on. Loans that are still out do not count.", "SELECT avg(date_diff('day', lent_on, returned_on)) AS avg_value FROM tool_loans"},
		{"loan time", "Average number of days between lent_on and returned_on of a loan.", "SELECT avg(date_diff('day', lent_on, returned_on)) AS avg_value FROM tool_loans"},
		{"overdue loan", "A loan with status 1 or 2 and due_on before today.", "SELECT count(*) AS count FROM tool_loans WHERE status IN (1, 2) AND due_on < '2025-06-30'"},
		{"overdue loan", "Loan whose due_on is before the day of the extract and whose returned_on is empty.", "SELECT count(*) AS count FROM tool_loans WHERE due_on < '2025-06-30' AND returned_on IS NULL"},
		{"late loan", "A loan is late when returned_on is after due_on.", "SELECT count(*) AS count FROM tool_loans WHERE returned_on > due_on"},
		{"idle tool", "A tool without any loan.", "SELECT count(*) AS count FROM tools WHERE tool_no NOT IN (SELECT tool_no FROM tool_loans WHERE tool_no IS NOT NULL)"},
		{"idle tool", "A tool on the shelf without a loan from 2025-01-01 to 2025-06-30.", "SELECT count(*) AS count FROM tools WHERE retired_on IS NULL AND tool_no NOT IN (SELECT tool_no FROM tool_loans WHERE (lent_on >= '2025-01-01' AND lent_on < '2025-07-01') AND tool_no IS NOT NULL)"},
		{"active member", "A member with at least one loan that is not cancelled from 2025-01-01 to 2025-06-30.", "SELECT count(*) AS count FROM members WHERE member_no IN (SELECT member_no FROM tool_loans WHERE status <> 9 AND (lent_on >= '2025-01-01' AND lent_on < '2025-07-01'))"},
		{"current member", "A member whose left_on is empty or after today.", "SELECT count(*) AS count FROM members WHERE (left_on IS NULL OR left_on >= '2025-07-01')"},
		{"costly damage", "A damage with a repair_cost of 100 or more.", "SELECT count(*) AS count FROM damages WHERE repair_cost >= 100"},
		{"write-off", "A damage with severity 'total loss'.", "SELECT count(*) AS count FROM damages WHERE severity = 'total loss'"},
		{"on-time rate", "Share of loans returned on or before due_on among all loans with a returned_on.", "SELECT 1.0 * (100 * count(*) FILTER (WHERE returned_on <= due_on AND returned_on IS NOT NULL)) / nullif(count(*), 0) AS percent FROM tool_loans WHERE returned_on IS NOT NULL"},
		{"on-time rate", "Loans returned on or before due_on divided by all returned loans.", "SELECT (1.0 * count(*) FILTER (WHERE returned_on <= due_on) / nullif(count(*) FILTER (WHERE status = 3), 0)) * 100 AS value FROM tool_loans"},
		{"open amount", "fee less paid of a loan; a missing paid counts as 0.", "SELECT sum(fee) - sum(paid) AS value FROM tool_loans"},
		{"insured share", "Percentage of loans that are insured.", "SELECT 1.0 * (100 * count(*) FILTER (WHERE insured = TRUE)) / nullif(count(*), 0) AS percent FROM tool_loans"},
		{"mean damage", "Total repair_cost divided by number of damages.", "SELECT 1.0 * sum(repair_cost) / nullif(count(*), 0) AS value FROM damages"},
		{"loyal member", "A member with no loan in 2025.", "SELECT count(*) AS count FROM members WHERE member_no NOT IN (SELECT member_no FROM tool_loans WHERE (lent_on >= '2025-01-01' AND lent_on < '2026-01-01') AND member_no IS NOT NULL)"},
		{"big loan", "Loans where status is 2 (out) and fee over 100 euro.", "SELECT count(*) AS count FROM tool_loans WHERE status = 2 AND fee > 100"},
		{"mood", "The average of rating; -1 means no answer.", "SELECT avg(rating) AS avg_rating FROM tool_loans WHERE rating <> -1"},
		{"frequent member", "A member with 3 or more loans.", "SELECT count(*) AS count FROM members WHERE member_no IN (SELECT member_no FROM tool_loans GROUP BY member_no HAVING count(*) >= 3)"},
		{"damage cost", "Sum of repair_cost over damages of loans with status 3.", "unread: of loans"},

		{"income", "Sum of fee. Staff loans do not count.", "unread: Staff loans do not count"},
		{"income", "Sum of fee over loans that were approved.", "unread: approved"},
		{"efficiency", "Planned effort divided by actual effort.", "unread: planned effort"},
		{"arrears", "Sum of fee less sum of repair_cost.", "unread: repair_cost"},
	} {
		x := lendingIndex(c.term, c.text)
		got, unread := x.DefinitionSQL(c.term)
		got = strings.Join(strings.Fields(got), " ")
		if want, stops := strings.CutPrefix(c.want, "unread: "); stops {
			if !strings.Contains(strings.ToLower(unread), strings.ToLower(want)) || got != "" {
				t.Errorf("%s: %s\n got %s\nunread %q\n  want %q", c.term, c.text, got, unread, want)
			}
		} else if got != c.want {
			t.Errorf("%s: %s\n got %s (unread %q)\nwant %s", c.term, c.text, got, unread, c.want)
		}
	}
}
