package tool

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

type address struct {
	City string `json:"city"`
}

type sample struct {
	address
	Name    string            `json:"name" jsonschema:"what it is called"`
	Count   int               `json:"count,omitempty"`
	Ratio   *float64          `json:"ratio,omitzero"`
	Live    bool              `json:"live"`
	Tags    []string          `json:"tags"`
	Labels  map[string]string `json:"labels"`
	Anybody any               `json:"anybody"`
	Raw     json.RawMessage   `json:"raw" jsonschema:"rows"`
	When    time.Time
	Home    *address `json:"home"`
	Secret  string   `json:"-"`
	private string
}

func TestInferSchema(t *testing.T) {
	const want = `{"additionalProperties":false,"properties":{` +
		`"When":{"type":"string"},"anybody":{},"city":{"type":"string"},"count":{"type":"integer"},` +
		`"home":{"additionalProperties":false,"properties":{"city":{"type":"string"}},"required":["city"],"type":["null","object"]},` +
		`"labels":{"additionalProperties":{"type":"string"},"type":"object"},"live":{"type":"boolean"},` +
		`"name":{"description":"what it is called","type":"string"},"ratio":{"type":["null","number"]},"raw":{"description":"rows"},` +
		`"tags":{"items":{"type":"string"},"type":["null","array"]}},` +
		`"required":["city","name","live","tags","labels","anybody","raw","When","home"],"type":"object"}`
	if got := string(mustInferSchema[sample]("x")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// What encoding/json writes fits the schema, embedded and null values included.
	var value map[string]any
	raw, err := json.Marshal(sample{private: "hidden"})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	value["labels"] = map[string]any{}
	entry, err := newEntry(New(Spec{Name: "x", Effect: Reads}, func(_ context.Context, in sample) (sample, error) { return in, nil }))
	if err != nil {
		t.Fatal(err)
	}
	if f := entry.Validate(value); f != nil {
		t.Errorf("%s does not fit its own schema: %v", raw, f)
	}
	value["secret"] = "x"
	if entry.Validate(value) == nil {
		t.Error("an argument that is no field was let through")
	}
}

func TestInferSchemaRefuses(t *testing.T) {
	type loop struct {
		Next *struct{ Again []*loop }
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[loop](), reflect.TypeFor[func()](), reflect.TypeFor[[]byte](),
		reflect.TypeFor[map[int]string](), reflect.TypeFor[struct{ C chan int }](),
	} {
		if schema, err := inferSchema(typ, nil); err == nil {
			t.Errorf("%s has the schema %v, want an error", typ, schema)
		}
	}
}
