package machine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/machine"
)

func TestTypeOfSchema(t *testing.T) {
	for name, c := range map[string]struct {
		schema, want string
		required     []string
	}{
		"nothing":    {"", "json", nil},
		"true":       {"true", "json", nil},
		"text":       {`{"type": "string"}`, "string", nil},
		"time":       {`{"type": "string", "format": "date-time"}`, "time", nil},
		"whole":      {`{"type": ["null", "integer"]}`, "int", nil},
		"either":     {`{"type": ["string", "integer"]}`, "json", nil},
		"list":       {`{"type": "array", "items": {"type": "number"}}`, "list(float)", nil},
		"enum":       {`{"enum": ["a", "b"]}`, "{enum: [a, b]}", nil},
		"mixed enum": {`{"enum": ["a", 1]}`, "json", nil},
		"open":       {`{"type": "object"}`, "json", nil},
		"record":     {`{"type": "object", "properties": {"x": {"type": "boolean"}}, "required": ["x"]}`, "a record", []string{"x"}},
		"reference":  {`{"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}`, "list(int)", nil},
		"itself":     {`{"$ref": "#/$defs/n", "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}}`, "list(list(list(list(json))))", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, required, err := machine.TypeOfSchema([]byte(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != c.want {
				t.Errorf("type %s, want %s", got, c.want)
			}
			if diff := cmp.Diff(c.required, required); diff != "" {
				t.Errorf("required (-want +got):\n%s", diff)
			}
		})
	}
	if _, _, err := machine.TypeOfSchema([]byte(`{"type":`)); err == nil {
		t.Error("a broken schema gives no error")
	}
}
