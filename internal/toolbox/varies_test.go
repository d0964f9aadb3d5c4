package toolbox

import "testing"

// Code that chance or the clock decides is never answered with an earlier result.
func TestPythonVaries(t *testing.T) {
	for code, want := range map[string]bool{
		"import random\nresult_df = random.random()":               true,
		"import numpy as np\nx = np.random.default_rng().normal()": true,
		"result_df = orders.sample(3)":                             true,
		"import time, json\nprint(time.time())":                    true,
		"import json, time\nprint(time.time())":                    true,
		"from datetime import date\nprint(date.today())":           true,
		"result_df = pd.Timestamp('now')":                          true,
		"print(uuid4())":                                           true,
		"print(hash('a'))":                                         true,
		"result_df = orders[['id', 'date', 'time']]":               false,
		"result_df = orders.groupby('status').amount.sum()":        false,
	} {
		if got := pythonVaries(code); got != want {
			t.Errorf("%q: %v", code, got)
		}
	}
}

// A statement that chance or the clock decides, and one on rows that stay in their
// database, may give other rows the next time.
func TestQueriesVary(t *testing.T) {
	for name, tt := range map[string]struct {
		rows Rows
		want bool
	}{
		"plain": {Rows{}, false},
		"live":  {Rows{Live: true}, true},
	} {
		if got := queryOut(tt.rows).Varies(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	var random Rows
	random.Decision.Volatile = true
	if !queryOut(random).Varies() {
		t.Error("a volatile statement does not vary")
	}
}
