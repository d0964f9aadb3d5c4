package toolbox_test

import (
	"strings"
	"testing"

	"interlock/internal/toolbox"
)

// The description has what a model would otherwise ask for: types, spellings, ranges,
// relations, meanings and terms.
func TestDescribeDataset(t *testing.T) {
	f := newFake()
	f.answers["min(amount), max(amount)"] = `[[1,5,0,1,2,0,10.5,99,1,null,null,2]]`
	got := must[toolbox.Description](t, f, "describe_dataset", map[string]any{"max_chars": 8000})
	for _, want := range []string{
		"Dataset `shop`", "## orders (5 rows): One row an order.", "- id BIGINT, key\n",
		"- customer_id BIGINT, refers to customers.id\n", "- amount DOUBLE, 10.5 to 99, 1 of them NULL: In euro.\n",
		"- status VARCHAR, one of 'Open', 'open', 'paid', 2 of them NULL\n", "- turnover: total amount of orders",
	} {
		if !strings.Contains(got.About, want) {
			t.Errorf("the description lacks %q:\n%s", want, got.About)
		}
	}
	if !got.Complete || got.DatasetID != "shop" {
		t.Errorf("%+v", got)
	}
}

// Where not all tables fit, those come that the question is about, and the others by name.
func TestDescribeDatasetInPart(t *testing.T) {
	got := must[toolbox.Description](t, newFake(), "describe_dataset", map[string]any{"max_chars": 330, "question": "Which city has most customers?"})
	if got.Complete || !strings.Contains(got.About, "## customers") || strings.Contains(got.About, "## orders") || !strings.Contains(got.About, "orders") {
		t.Errorf("complete %t:\n%s", got.Complete, got.About)
	}
}
