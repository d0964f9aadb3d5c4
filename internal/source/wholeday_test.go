package source_test

import (
	"encoding/json"
	"slices"
	"testing"

	"interlock/internal/query"
)

// TestWholeDays compares moments with days, in the rows of the shop: a day means all of it.
func TestWholeDays(t *testing.T) {
	engine := newEngine(t)
	db := here(t, engine, "1969")
	plans := corpus(t)
	for name, want := range map[string][]int{
		"whole_day_eq":          {2},
		"whole_day_ne":          {1, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18},
		"whole_day_order":       {1, 2, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18},
		"whole_day_begin":       {2, 3, 6, 7, 13, 14, 17, 18},
		"whole_day_between":     {1, 2},
		"whole_day_not_between": {3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18},
		"whole_day_in":          {2, 3, 5},
		"whole_day_not_in":      {1, 3, 4, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18},
		"whole_day_not":         {1, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18},
		"whole_day_truncated":   {1, 2},
		"whole_day_other":       {1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 13, 15, 17, 18},
	} {
		sql, err := plans[name].SQL(shop)
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.Run(t.Context(), query.Request{Database: db, SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		var rows [][]int
		if err := json.Unmarshal(r.Rows, &rows); err != nil {
			t.Fatal(err)
		}
		if got := slices.Concat(rows...); !slices.Equal(got, want) {
			t.Errorf("%s gives %v, want %v\n%s", name, got, want, sql)
		}
	}
}
