package machine_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/machine"
)

func changed(t *testing.T, name string, pairs ...string) (old, new *machine.Machine) {
	t.Helper()
	files := copyOf(t, name)
	after := maps.Clone(files)
	after[machine.File] = strings.NewReplacer(pairs...).Replace(files[machine.File])
	old, err := machine.Parse(files)
	if err != nil {
		t.Fatal(err)
	}
	if new, err = machine.Parse(after); err != nil {
		t.Fatal(err)
	}
	return old, new
}

func TestDiff(t *testing.T) {
	old, new := changed(t, "reconcile",
		"min: 1, max: 50, ", "min: 2, max: 50, ",
		"tools: [list_sources, get_source_preview]", "tools: [get_source_preview]",
		"  full_result:         {type: outcome}", "  full_result:         {type: outcome}\n  remark: {type: string}",
		"reply:    {recipe_draft: recipe_draft}", "reply:    {recipe_draft: recipe_draft, remark: remark}",
	)
	var got []string
	for _, d := range machine.Diff(old, new) {
		got = append(got, d.String())
	}
	want := []string{
		`+ facts.remark: {"type":"string"}`,
		`+ reply.remark: "remark"`,
		`~ settings.pairs_needed: {"default":3,"label":"Confirmed pairs before rules are learned","max":50,"min":1,"type":"int"} -> {"default":3,"label":"Confirmed pairs before rules are learned","max":50,"min":2,"type":"int"}`,
		`~ states.intent.tools: ["list_sources","get_source_preview"] -> ["get_source_preview"]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d := machine.Diff(old, old); len(d) != 0 {
		t.Errorf("a machine differs from itself: %v", d)
	}
}

func TestBreaks(t *testing.T) {
	old, new := changed(t, "reconcile",
		"  recipe_draft:        {type: json}", "  recipe_draft:        {type: string}",
		"    requires: [len(confirmed_pairs) >= 1]", "    requires: [len(confirmed_pairs) >= 1, sources_list]")
	pair := map[string]any{"left_key": "1"}
	for name, c := range map[string]struct {
		state string
		facts map[string]any
		want  []string
	}{
		"goes on":       {"inference", map[string]any{"confirmed_pairs": []any{pair}, "sources_list": []any{}}, nil},
		"fact missing":  {"inference", map[string]any{"confirmed_pairs": []any{pair}}, []string{"state inference now requires sources_list, which does not hold"}},
		"state missing": {"gone", nil, []string{"it stands in state gone, which the new version does not have"}},
		"type changed": {"validation", map[string]any{"recipe_draft": map[string]any{"a": 1}}, []string{
			"fact recipe_draft does not fit its new type: want string, got a record", "state validation now requires recipe_draft, which does not hold",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, machine.UpgradeProblems(old, new, c.state, c.facts)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
