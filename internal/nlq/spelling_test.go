package nlq

import (
	"testing"

	"interlock/internal/schema"
)

// TestSpelling repairs slips of the finger in names, values and grammar, and leaves ordinary words as they are.
func TestSpelling(t *testing.T) {
	t.Parallel()
	column := func(name, kind string) schema.Column { return schema.Column{Name: name, Type: schema.ParseType(kind)} }
	x := NewIndex(schema.Dataset{Tables: []schema.Table{{Name: "rentals", Rows: 9, Columns: []schema.Column{column("hall", "VARCHAR"), column("meter", "BIGINT"), column("turnover", "DOUBLE"), column("part", "VARCHAR"), column("person", "VARCHAR")}}}},
		[]ColumnValues{
			{Table: "rentals", Column: "part", Values: []string{"pads", "restaurant"}, Complete: true},
			{Table: "rentals", Column: "person", Values: []string{"Leif", "Minna"}, Complete: true},
		}, schema.Dictionary{})
	for word, want := range map[string]string{
		"pass": "pass", "rest": "rest", "half": "half", "lief": "lief", "mieter": "mieter", // words as they are meant
		"minuts":  "minuts", // minutes as well as minus
		"turnovr": "turnover", "rentlas": "rental", "resturant": "restaurant", "nevver": "never", "abbove": "above", "numbr": "number", "agust": "august",
		"dental": "dental", // another word than rental
	} {
		toks, _ := x.correctSpelling(tokenise(word), false)
		if got := toks[0].lower; got != want {
			t.Errorf("%s is read as %s, want %s", word, got, want)
		}
	}
	if toks, _ := x.correctSpelling(tokenise("turnovr"), true); toks[0].lower != "turnovr" {
		t.Errorf("in a German message turnovr is read as %s", toks[0].lower)
	}
}
