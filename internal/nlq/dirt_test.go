package nlq_test

import (
	"strings"
	"testing"

	"interlock/internal/dialect"
	"interlock/internal/nlq"
	"interlock/internal/schema"
)

// dirtyIndex is guests whose countries have two spellings each, some of them in capitals, and whose
// ratings have numbers that are no ratings.
func dirtyIndex(foldCase bool) *nlq.Index {
	s := schema.Dataset{Tables: []schema.Table{{Name: "guests", Rows: 50, Key: []string{"guest_id"}, Columns: []schema.Column{
		{Name: "guest_id", Type: schema.ParseType("BIGINT")}, {Name: "country", Type: schema.ParseType("VARCHAR")}, {Name: "rating", Type: schema.ParseType("BIGINT")}, {Name: "mileage", Type: schema.ParseType("BIGINT")},
	}}}, Meaning: &schema.Meaning{Tables: []schema.TableMeaning{{Table: "guests", Fields: []schema.FieldMeaning{{Column: "country", IgnoreCase: foldCase, Same: []schema.SameValue{{Value: "Germany", Spellings: []string{"DE"}}, {Value: "Italy", Spellings: []string{"IT", "Italia"}}}}}}}}}
	return nlq.NewIndex(s, []nlq.ColumnValues{{Table: "guests", Column: "country", Values: []string{"Germany", "DE", "Italy", "IT", "Italia", "Malta"}, Complete: true}},
		schema.Dictionary{Tables: map[string]schema.TableText{"guests": {Columns: map[string]string{"rating": "1 to 5 stars; 99 means no answer", "mileage": "-1 is unknown, -2 = not asked"}}}})
}

// TestSameValuesGroupTogether gives values that are declared one a row in common, in every dialect,
// and says so.
func TestSameValuesGroupTogether(t *testing.T) {
	t.Parallel()
	x := dirtyIndex(false)
	a := nlq.Plan(nlq.Question{Text: "How many guests per country?", Index: x})
	if !a.Sure() || !strings.Contains(a.Explain, "DE is counted as Germany") {
		t.Fatalf("%+v", a)
	}
	for _, d := range dialect.All() {
		sql, err := a.Plan.SQLFor(d, x.Schema())
		if err != nil {
			t.Fatalf("%s: %v", d, err)
		}
		_, grouped, _ := strings.Cut(sql, "GROUP BY ")
		if !strings.Contains(grouped, "IN ('DE') THEN 'Germany'") || !strings.Contains(grouped, "IN ('IT', 'Italia') THEN 'Italy' ELSE") {
			t.Errorf("%s: %s", d, sql)
		}
	}
	folded := nlq.Plan(nlq.Question{Text: "How many guests per country?", Index: dirtyIndex(true)})
	if !folded.Sure() || !strings.Contains(folded.SQL, "GROUP BY lower(CASE WHEN country IN ('DE')") || !strings.Contains(folded.Explain, "differ only in case") {
		t.Errorf("%+v", folded)
	}
}

// TestNumbersThatMeanUnknown are left out of averages, whatever number a description names.
func TestNumbersThatMeanUnknown(t *testing.T) {
	t.Parallel()
	x := dirtyIndex(false)
	for question, want := range map[string]string{
		"average rating of guests per country": "rating NOT IN (99)",
		"average mileage of guests":            "mileage NOT IN (-1, -2)",
		"average mileage reading by country":   "mileage NOT IN (-1, -2)", // a word that nothing names
	} {
		if got := sqlOf(t, nlq.Question{Text: question, Index: x}); !strings.Contains(got, want) {
			t.Errorf("%s: %s", question, got)
		}
	}
}
