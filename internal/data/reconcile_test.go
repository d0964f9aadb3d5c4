package data_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"interlock/internal/artifact"
	"interlock/internal/catalog"
	"interlock/internal/data"
	"interlock/internal/document"
	"interlock/internal/fault"
	"interlock/internal/jail"
	"interlock/internal/query"
	"interlock/internal/tool"
	"interlock/internal/toolbox"
)

func TestMain(m *testing.M) {
	jail.Main()
	query.Main()
	document.Main()
	os.Exit(m.Run())
}

// A desk calls the tools of a reconciliation with real parts behind them.
type desk struct {
	t         *testing.T
	tools     *tool.Set
	artifacts *artifact.Store
	notes     []string
	opened    *atomic.Int64 // workspaces
}

// countedWorkspaces count the workspaces that are opened.
type countedWorkspaces struct {
	data.Workspaces
	opened *atomic.Int64
}

func (w countedWorkspaces) OpenWorkspace(ctx context.Context, sides []toolbox.SideRows) (toolbox.Workspace, error) {
	w.opened.Add(1)
	return w.Workspaces.OpenWorkspace(ctx, sides)
}

func newDesk(t *testing.T, files map[string]string) *desk {
	t.Helper()
	root, dir := t.TempDir(), t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	engine, err := query.New(query.Config{Dir: filepath.Join(dir, "tmp"), MemoryMB: 512})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	found, err := catalog.New(catalog.Config{Roots: []string{root}, Dir: dir, Engine: engine, Policy: engine})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = found.Close() })
	store, err := artifact.New(artifact.Config{Dir: filepath.Join(dir, "artifacts")})
	if err != nil {
		t.Fatal(err)
	}
	sessions, opened := toolbox.NewSessions(toolbox.SessionsConfig{}), &atomic.Int64{}
	t.Cleanup(func() { _ = sessions.Close() })
	return &desk{t: t, artifacts: store, opened: opened, tools: tool.NewSet(nil, toolbox.Tools(toolbox.Config{
		Sources: data.Sources{Catalog: found}, Sessions: sessions,
		Workspaces: countedWorkspaces{data.Workspaces{Catalog: found, Query: engine, Artifacts: store, Dir: dir}, opened},
	})...)}
}

func (d *desk) call(name string, args map[string]any) (map[string]json.RawMessage, error) {
	d.t.Helper()
	tl, err := d.tools.Get(name)
	if err != nil {
		d.t.Fatal(err)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		d.t.Fatal(err)
	}
	ctx := tool.With(d.t.Context(), tool.Call{Owner: "ann", Thread: "t1", ID: "c1", Progress: func(note string) { d.notes = append(d.notes, note) }})
	res, err := tl.Call(ctx, raw)
	if err != nil {
		return nil, err
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal(res.JSON, &out); err != nil {
		d.t.Fatal(err)
	}
	return out, nil
}

func (d *desk) must(name string, args map[string]any) map[string]json.RawMessage {
	d.t.Helper()
	out, err := d.call(name, args)
	if err != nil {
		d.t.Fatalf("%s: %v", name, err)
	}
	return out
}

// refused calls a tool that must fail with the code and a suggestion.
func (d *desk) refused(code fault.Code, name string, args map[string]any) {
	d.t.Helper()
	_, err := d.call(name, args)
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Code != code {
		d.t.Errorf("%s: %v, want %s", name, err, code)
	} else if f.Suggestion == "" {
		d.t.Errorf("%s: no suggestion: %v", name, err)
	}
}

func decode[T any](t *testing.T, raw json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}

// shopFiles are invoices and a statement: of 60 invoices 50 are paid, 5 by one transfer
// of two, and some entries belong to nothing. The statement comes in another order.
func shopFiles() map[string]string {
	var invoices, bank strings.Builder
	invoices.WriteString("invoice_no,customer,issued,total\n")
	bank.WriteString("entry,booked,text,amount\n")
	names := []string{"Alder & Sons", "Birch Trading", "Cedar Works", "Dogwood Ltd", "Elm Partners", "Fir House", "Gorse Design"}
	for i := range 60 {
		day := 1 + i%27
		fmt.Fprintf(&invoices, "INV-%05d,%s,2025-03-%02d,%d.%02d\n", 20100+i*7, names[i%len(names)], day, 100+i*13, i%100)
	}
	for i := 59; i >= 10; i-- {
		fmt.Fprintf(&bank, "%d,2025-%02d-%02d,TRANSFER %s REF INV%d,%d.%02d\n", 900+i, 4, 1+i%27, strings.ToUpper(names[i%len(names)]), 20100+i*7, 100+i*13, i%100)
	}
	for i := range 5 {
		fmt.Fprintf(&bank, "%d,2025-05-0%d,BANK FEE,-%d.50\n", 800+i, 1+i, 3+i)
	}
	return map[string]string{"invoices.csv": invoices.String(), "bank.csv": bank.String()}
}

func TestReconcileTools(t *testing.T) {
	d := newDesk(t, shopFiles())
	left, right := d.must("get_source_preview", map[string]any{"alias": "invoices"}), d.must("get_source_preview", map[string]any{"alias": "bank"})
	loaded := d.must("load_scoped", map[string]any{"alias": "invoices", "conditions": []any{}, "limit": 20})
	scopeLeft, sampleLeft := loaded["scope"], loaded["rows"]
	if decode[toolbox.Scope](t, scopeLeft).Key != "invoice_no" {
		t.Errorf("the key of the invoices: %s", scopeLeft)
	}
	// The second sample holds the partners of the first, although the statement begins with others.
	loaded = d.must("load_scoped", map[string]any{
		"alias": "bank", "conditions": []map[string]any{{"column": "amount", "op": "gt", "value": 0}}, "limit": 20,
		"left":  map[string]any{"alias": "invoices", "schema": left["schema"], "scope": scopeLeft, "sample": sampleLeft},
		"right": map[string]any{"alias": "bank", "schema": right["schema"], "scope": nil, "sample": nil},
	})
	scopeRight, sampleRight := loaded["scope"], loaded["rows"]
	partners := 0
	for i := 10; i < 20; i++ {
		if strings.Contains(string(sampleRight), fmt.Sprintf("REF INV%d\"", 20100+i*7)) {
			partners++
		}
	}
	if partners < 9 || !strings.Contains(string(loaded["note"]), "rare values") || string(loaded["total_rows"]) != "50" {
		t.Errorf("%d of 10 partners are in the sample: %s", partners, loaded["note"])
	}
	bound := map[string]any{"left": "invoices", "right": "bank", "scope_left": scopeLeft, "scope_right": scopeRight}
	with := func(more map[string]any) map[string]any {
		all := map[string]any{}
		for _, m := range []map[string]any{bound, more} {
			for k, v := range m {
				all[k] = v
			}
		}
		return all
	}
	confirmed, rejected := []toolbox.Pair{}, []toolbox.Pair{}
	var unsure []toolbox.Pair // the first pair and the third
	asked := map[string]bool{}
	opened := d.opened.Load()
	for len(confirmed) < 3 {
		out := d.must("propose_match", with(map[string]any{"confirmed": confirmed, "rejected": rejected, "unsure": unsure}))
		p := decode[toolbox.Pair](t, out["pair"])
		if asked[p.LeftKey+p.RightKey] || len(asked) > 12 {
			t.Fatalf("%s and %s: asked twice, or too often", p.LeftKey, p.RightKey)
		}
		asked[p.LeftKey+p.RightKey] = true
		if !strings.Contains(string(p.Left), p.LeftKey) || !strings.Contains(string(p.Right), p.RightKey) {
			t.Errorf("the pair does not carry its rows: %s %s", p.Left, p.Right)
		}
		if len(asked) == 1 || len(asked) == 3 {
			unsure = append(unsure, p)
			continue
		}
		if strings.Contains(string(p.Right), strings.ReplaceAll(p.LeftKey, "-", "")) {
			confirmed = append(confirmed, p)
		} else {
			rejected = append(rejected, p)
		}
	}
	if n := d.opened.Load() - opened; n != 1 {
		t.Errorf("%d workspaces were opened for the cards of one thread", n)
	}
	named := d.must("propose_match", with(map[string]any{"left_key": "INV-20170", "right_key": "910", "reason": "same number"}))
	if !strings.Contains(string(named["agree"]), "total") || string(named["reason"]) != `"same number"` {
		t.Errorf("a named pair: %s %s", named["agree"], named["reason"])
	}
	d.refused(fault.InvalidArguments, "propose_match", with(map[string]any{"left_key": confirmed[0].LeftKey, "right_key": confirmed[0].RightKey, "reason": "again", "confirmed": confirmed}))
	d.refused(fault.InvalidArguments, "propose_match", with(map[string]any{"left_key": unsure[1].LeftKey, "right_key": unsure[1].RightKey, "unsure": unsure}))
	d.refused(fault.InvalidArguments, "propose_match", with(map[string]any{"left_key": "INV-1", "right_key": "910"}))
	d.refused(fault.InvalidArguments, "propose_match", with(map[string]any{"left_key": "INV-20170"}))
	d.refused(fault.InvalidState, "propose_match", map[string]any{"left": "invoices", "right": "bank"})

	pairs := map[string]any{"confirmed": confirmed, "rejected": rejected}
	d.refused(fault.InvalidArguments, "infer_rules", with(map[string]any{"ignore_left": []string{"nothing"}, "confirmed": confirmed}))
	d.refused(fault.InvalidArguments, "infer_rules", with(map[string]any{"ignore_left": []string{"invoice_no"}, "confirmed": confirmed}))
	inferred := d.must("infer_rules", with(pairs))
	rules := decode[[]toolbox.Rule](t, inferred["rules"])
	if len(rules) == 0 || rules[0].Sentence == "" {
		t.Fatalf("no rules: %s", inferred["note"])
	}
	ignoring := d.must("infer_rules", with(map[string]any{"ignore_left": []string{"total"}, "confirmed": confirmed}))
	if strings.Contains(string(ignoring["learned"]), `"total"`) || !strings.Contains(string(inferred["learned"]), `"total"`) {
		t.Error("a column that is to be ignored was used")
	}
	var ids []string
	for _, r := range rules {
		ids = append(ids, r.ID)
	}
	d.refused(fault.InvalidArguments, "build_recipe", with(map[string]any{"rules": []string{"r99"}, "learned": inferred["learned"]}))
	d.refused(fault.InvalidArguments, "build_recipe", with(map[string]any{"rules": ids, "cardinality": "all", "learned": inferred["learned"]}))
	d.refused(fault.InvalidState, "build_recipe", with(map[string]any{"rules": ids}))
	draft := d.must("build_recipe", with(map[string]any{"rules": ids, "cardinality": "one_to_one", "learned": inferred["learned"]}))["recipe"]
	for _, want := range []string{`"source":"invoices"`, `"key":"invoice_no"`, `"op":"gt"`, `"cardinality":"one_to_one"`} {
		if !strings.Contains(string(draft), want) {
			t.Errorf("the draft has no %s: %s", want, draft)
		}
	}
	schemas := map[string]any{"schema_left": left["schema"], "schema_right": right["schema"], "draft": draft}
	if f := decode[toolbox.Findings](t, d.must("validate_recipe", schemas)["findings"]); !f.OK {
		t.Errorf("findings: %s", f.Problems)
	}
	broken := json.RawMessage(strings.NewReplacer(`"total"`, `"sum"`, `"column":"amount"`, `"column":"amt"`).Replace(string(draft)))
	swapped := map[string]any{"schema_left": left["schema"], "schema_right": right["schema"], "recipe": broken, "draft": draft}
	if f := decode[toolbox.Findings](t, d.must("validate_recipe", swapped)["findings"]); f.OK || len(f.Problems) < 2 {
		t.Errorf("findings of a broken recipe: %s", f.Problems)
	}
	sample := d.must("run_sample", map[string]any{
		"draft": draft, "sample_left": sampleLeft, "sample_right": sampleRight, "schema_left": left["schema"], "schema_right": right["schema"], "confirmed": confirmed, "rejected": rejected,
	})
	if o := decode[toolbox.Outcome](t, sample["outcome"]); o.Matched < 9 {
		t.Errorf("the sample: %s", sample["note"])
	}
	if x := decode[toolbox.Examples](t, sample["examples"]); len(x.Matches) == 0 || len(x.OpenLeft) == 0 || x.OpenLeft[0].Reason == "" || x.Matches[0].Left == nil {
		t.Errorf("examples: %s", sample["examples"])
	}
	full := d.must("run_full", map[string]any{"draft": draft, "confirmed": confirmed, "rejected": rejected})
	o := decode[toolbox.Outcome](t, full["outcome"])
	if o.Matched != 50 || o.UnmatchedLeft != 10 || o.UnmatchedRight != 0 || o.RunID == "" {
		t.Errorf("the full run: %s", full["note"])
	}
	kept, err := d.artifacts.List(t.Context(), "ann", "t1")
	if err != nil || len(kept) < 10 {
		t.Errorf("%d artifacts: %v", len(kept), err)
	}
	if !strings.Contains(strings.Join(d.notes, "\n"), "step 3 of") {
		t.Errorf("no progress: %q", d.notes)
	}
}
