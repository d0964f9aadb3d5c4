package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"interlock/internal/schema"
)

// A type keeps the name that it was parsed from, and its kind is known.
func TestTypesKeepTheirNames(t *testing.T) {
	for name, want := range map[string]schema.Type{
		"BIGINT":                   {Kind: schema.Int},
		"INTEGER":                  {Kind: schema.Int},
		"HUGEINT":                  {Kind: schema.Decimal, Width: 38},
		"DECIMAL(10, 2)":           {Kind: schema.Decimal, Width: 10, Scale: 2},
		"timestamp with time zone": {Kind: schema.TimestampTZ},
		"VARCHAR[]":                {Kind: schema.List, Elem: &schema.Type{Kind: schema.Text}},
		"INTEGER[][]":              {Kind: schema.List, Elem: &schema.Type{Kind: schema.List, Elem: &schema.Type{Kind: schema.Int}}},
		`STRUCT("a b" INTEGER)`:    {Kind: schema.Other},
	} {
		got := schema.ParseType(name)
		if plain := got.Plain(); plain.Kind != want.Kind || plain.String() != want.String() {
			t.Errorf("%q is %v %s, want %v %s", name, plain.Kind, plain, want.Kind, want)
		}
		raw, err := json.Marshal(schema.Column{Name: "c", Type: got})
		var back schema.Column
		if err != nil || json.Unmarshal(raw, &back) != nil || !back.Type.Equal(got) {
			t.Errorf("%q comes back as %q from %s, %v", name, back.Type, raw, err)
		}
		if got.String() != name {
			t.Errorf("%q is written %q", name, got)
		}
	}
}

// A name from a stranger costs no stack, however deep its lists are.
func TestDeepListsAreOther(t *testing.T) {
	name := "INTEGER" + strings.Repeat("[]", 1_000_000)
	if got := schema.ParseType(name); got.Kind != schema.List || got.String() != name {
		t.Errorf("the type has the kind %v and a name of %d bytes", got.Kind, len(got.String()))
	}
}

func TestParseConditions(t *testing.T) {
	list, err := schema.ParseConditions([]byte(`[{"column": "id", "op": "in", "value": [12345678901234567890, "x"]}]`))
	if err != nil || len(list) != 1 || list[0].Value.([]any)[0] != json.Number("12345678901234567890") {
		t.Errorf("the conditions are %v, %v", list, err)
	}
	for _, none := range []string{"", "null"} {
		if list, err := schema.ParseConditions([]byte(none)); list != nil || err != nil {
			t.Errorf("%q gives %v, %v", none, list, err)
		}
	}
	for _, wrong := range []string{`{}`, `[{"column": "id", "operator": "eq"}]`, `[`} {
		if _, err := schema.ParseConditions([]byte(wrong)); err == nil || !strings.Contains(err.Error(), "conditions") {
			t.Errorf("%q gives %v", wrong, err)
		}
	}
}
