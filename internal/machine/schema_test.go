package machine

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"interlock/machines"
)

// TestSchemaHasTheLoadersKeys: what the loader knows, the published schema lists,
// and nothing more.
func TestSchemaHasTheLoadersKeys(t *testing.T) {
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var s struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	s.Defs["machine"] = s.object
	for kind, keys := range keysOf {
		got := slices.Sorted(maps.Keys(s.Defs[strings.ReplaceAll(kind, " ", "_")].Properties))
		if diff := cmp.Diff(slices.Sorted(slices.Values(keys)), got); diff != "" {
			t.Errorf("%s (-loader +schema):\n%s", kind, diff)
		}
	}
	for def, o := range s.Defs {
		if len(o.Properties) > 0 && keysOf[strings.ReplaceAll(def, "_", " ")] == nil {
			t.Errorf("the loader has no %s", def)
		}
	}
	var event struct {
		Defs struct {
			Event struct{ Enum []string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &event); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(eventNames, event.Defs.Event.Enum); diff != "" {
		t.Errorf("events (-loader +schema):\n%s", diff)
	}
}

func TestShippedMachinesFitTheSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("machine.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("machine.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	fits := func(source []byte) error {
		raw, err := yaml.YAMLToJSON(source)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	for name, fsys := range machines.All() {
		source, err := fs.ReadFile(fsys, File)
		if err != nil {
			t.Fatal(err)
		}
		if err := fits(source); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for what, bad := range map[string]string{"a key": "\nnonsense: 1\n", "a form": "\nlimits: 3\n"} {
			if fits(append(slices.Clone(source), bad...)) == nil {
				t.Errorf("%s: the schema lets through %s that does not exist", name, what)
			}
		}
	}
}
