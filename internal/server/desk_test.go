package server_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"interlock/internal/engine"
	"interlock/internal/event"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/machine"
	"interlock/internal/store"
	"interlock/internal/tool"
	shipped "interlock/machines"
)

// deskMachine is the machine of most tests here: it answers questions, and a message
// that begins with "card" leads to a card.
const deskMachine = `
name: desk
settings:
  python:   {type: bool, default: false, label: Allow Python}
  max_rows: {type: int, default: 200, min: 1, max: 10000, label: Rows a query may return}
types:
  problem: {type: string, message: string}
  result:  {columns: list(string), rows: list(json), row_count: int, exec_time_ms: int, error: problem}
facts:
  status:       {enum: [succeeded, rejected], for: turn, default: succeeded}
  query_mode:   {enum: [chat, sql, plan, python], for: turn, default: chat}
  result:       {type: result, for: turn}
  plan_json:    {type: json, for: turn}
  compiled_sql: {type: string, for: turn}
  python_code:  {type: string, for: turn}
  recipe_draft: json
start:
  - {when: 'lower(turn.text) startsWith "card"', to: proposing}
  - {to: answering}
states:
  answering:
    kind: agent
    terminal: true
    prompt: desk.md
    tools: [list_datasets, get_dataset_schema, execute_sql, execute_query_plan, {name: execute_python, when: settings.python}]
  proposing: {kind: agent, prompt: desk.md, go: [{on: final, to: demonstration}]}
  demonstration:
    kind: ask
    card: match
    in:
      left:   '{invoice: "INV-1003", customer: "Müller GmbH", amount: 1190.0, date: "2026-03-04"}'
      right:  '{reference: "RE INV 1003", payer: "MUELLER GMBH", amount: 1190.0, date: "2026-03-06"}'
      reason: '"Same amount; the reference holds the invoice number."'
    go: [{to: inference, set: {recipe_draft: '{rules: []}'}}]
  inference: {kind: agent, terminal: true, prompt: desk.md}
tools:
  execute_sql: {in: {max_rows: settings.max_rows}}
effects:
  - {on: returned, tool: [execute_sql, execute_query_plan, execute_python], set: {result: event.result}}
  - {on: failed, tool: execute_sql, when: 'event.code == "SQL_POLICY_VIOLATION"', set: {status: '"rejected"', result: '{error: {type: event.code, message: event.message}}'}}
  - {on: [returned, failed], tool: execute_sql, set: {query_mode: '"sql"', compiled_sql: event.args.sql}}
  - {on: returned, tool: execute_query_plan, set: {query_mode: '"plan"', plan_json: event.args.plan}}
  - {on: returned, tool: execute_python, set: {query_mode: '"python"', python_code: event.args.python_code}}
cards:
  match:
    title: Is this a match?
    content: {left: json, right: json, reason: string}
    answers:
      confirm: {label: Confirm, key: y}
      reject:  {label: Reject, key: n}
      scope:   {label: Choose another period, key: s, fields: {month: string, open_only: bool}}
commands:
  other_scope: {label: Choose another scope, to: answering}
  other_rules: {label: Learn other rules, when: recipe_draft != nil, to: answering, drop: [recipe_draft]}
shortcuts:
  - {prefix: 'SQL:', tool: execute_sql, in: {dataset_id: turn.dataset, sql: event.rest}}
show:
  get_dataset_schema: {person: none, model: all}
reply:
  status:       status
  result:       'result ?? {columns: [], rows: [], row_count: 0, exec_time_ms: 0, error: event.error}'
  details:      '{dataset_id: turn.dataset, query_mode: query_mode, plan_json: plan_json, compiled_sql: compiled_sql, python_code: python_code}'
  recipe_draft: recipe_draft
outcome: 'status == "rejected" ? "refused" : nil'
`

// library holds the shipped machines, the desk under two names, and one that does not
// load.
var library = sync.OnceValue(func() *machine.Library {
	all := shipped.All()
	for _, name := range []string{"desk", "sessions"} {
		definition := strings.Replace(deskMachine, "name: desk", "name: "+name, 1)
		all[name] = fstest.MapFS{"machine.yaml": {Data: []byte(definition)}, "desk.md": {Data: []byte("Answer.")}}
	}
	all["mine"] = fstest.MapFS{"machine.yaml": {Data: []byte("name: mine\nstartt: here\n")}}
	return machine.Open(machine.LibraryConfig{Shipped: all})
})

const (
	revenueSQL  = "SELECT region, sum(amount) AS revenue, count(*) AS orders\nFROM orders\nWHERE order_date >= DATE '2026-01-01'\nGROUP BY region\nORDER BY revenue DESC"
	revenueText = "Revenue is highest in **North** with `1,204,300.50`.\n\n- North: 812 orders\n- South: 77 orders\n\n| region | share |\n|---|---|\n| North | 69 % |\n\n![pixel](https://evil.example/x.png) <b>not bold</b>"
	floodBytes  = 8 << 20 // more than a connection holds whose client does not read
)

// A clerk is the model and the data behind the desk. The first word of the message says
// which script the model follows.
type clerk struct {
	pace   time.Duration // between words, for people who watch
	resume chan struct{} // each receive lets one answer of the script "pause" go on
}

func (*clerk) Name() string { return "scripted/clerk" }

// Reply speaks the line of the script that is due, word by word. The script "wait" says
// a word and then nothing more until it is stopped; the script "pause" stops in the middle
// of its answer until it may go on.
func (c *clerk) Reply(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		script := scriptOf(req)
		line := nextLine(script, req)
		words := 0
		for delta, err := range llm.Script(line).Reply(ctx, req) {
			if words++; script == "pause" && len(line.Calls) == 0 && words == 3 {
				select {
				case <-c.resume:
				case <-ctx.Done():
				}
			}
			if script == "wait" && delta.Reply != nil {
				<-ctx.Done()
				delta, err = llm.Delta{}, ctx.Err()
			}
			c.pause(ctx, 1)
			if !yield(delta, err) {
				return
			}
		}
	}
}

func (c *clerk) pause(ctx context.Context, words int) {
	if c.pace == 0 {
		return
	}
	select {
	case <-time.After(time.Duration(words) * c.pace):
	case <-ctx.Done():
	}
}

// scriptOf is the first word of what the person said in this turn.
func scriptOf(req llm.Request) string {
	word, _, _ := strings.Cut(lastSaid(req), " ")
	return strings.ToLower(word)
}

// lastSaid is what the person said in this turn.
func lastSaid(req llm.Request) string {
	for _, m := range req.Messages {
		if m.Role == llm.User {
			return m.Text
		}
	}
	return ""
}

// nextLine is the reply that a script has for this call of its run.
func nextLine(script string, req llm.Request) llm.Line {
	var lines []llm.Line
	switch script {
	case "reject":
		lines = []llm.Line{ask("I will delete it.", "execute_sql", map[string]string{"sql": "drop table orders"}), say("That is not possible.")}
	case "decline", "question":
		line := say("I cannot say.")
		line.Stop = map[string]string{"decline": "refusal", "question": "question"}[script]
		lines = []llm.Line{line}
	case "fail":
		lines = []llm.Line{{Fault: fault.New(fault.ModelFailed, "overloaded")}}
	case "card":
		lines = []llm.Line{say("Do these two rows belong together?"), say("Noted. That makes **3 confirmed pairs**.")}
	case "echo":
		_, said, _ := strings.Cut(lastSaid(req), " ")
		lines = []llm.Line{say(said)}
	case "tool": // whose name is markup, as a foreign server may give it
		lines = []llm.Line{ask("", `<img src=x onerror="window.hacked=1">`, map[string]string{"<b onclick=1>": "x"}), say("There is no such tool.")}
	case "wait":
		lines = []llm.Line{say("Thinking ")}
	default:
		query := map[string]string{"dataset_id": "shop", "sql": revenueSQL}
		lines = []llm.Line{
			ask("Let me look at the schema first.", "get_dataset_schema", map[string]string{"dataset_id": "shop"}),
			ask("", "execute_sql", query),
			ask("", "execute_sql", query),
			ask("", "execute_python", map[string]string{"dataset_id": "shop", "python_code": "print(open('/etc/passwd').read())"}),
			say(revenueText),
		}
	}
	line := lines[req.Tag.Number-1]
	for i := range line.Calls {
		line.Calls[i].ID = "call-" + req.Tag.Call
	}
	return line
}

func say(text string) llm.Line {
	line := llm.Line{Usage: event.Usage{Input: 1200, Output: 80}}
	for word := range strings.SplitAfterSeq(text, " ") {
		if word != "" {
			line.Text = append(line.Text, word)
		}
	}
	return line
}

func ask(text, name string, args map[string]string) llm.Line {
	line := say(text)
	line.Calls = []llm.Call{{Name: name, Args: string(event.EncodeValue(args).JSON)}}
	return line
}

// query answers every statement with revenue by region; that of the model leaves a file
// as well.
func (c *clerk) query(ctx context.Context, in queryIn) (queryOut, error) {
	tool.In(ctx).Progress("reading orders")
	c.pause(ctx, 10)
	switch {
	case strings.HasPrefix(in.SQL, "drop"):
		return queryOut{}, fault.New(fault.SQLPolicy, "DROP may not run here")
	case in.SQL == "flood":
		return queryOut{Status: "ok", Columns: []string{"text"}, Rows: [][]any{{strings.Repeat("x", floodBytes)}}, RowCount: 1}, nil
	}
	out := queryOut{
		Status: "ok", Columns: []string{"region", "revenue", "orders"}, RowCount: 4, ExecTimeMS: 12,
		Rows: [][]any{{"North", 1204300.5, 812}, {"South", 98221, 77}, {"East", nil, 3}, {"West", 455000.25, 390}},
	}
	if in.SQL == revenueSQL {
		out.made = []event.ArtifactMade{{ID: "a_1", Name: "revenue by region.csv", Type: "csv", MIME: "text/csv", Bytes: 2048, Producer: "sql", Version: 1, CreatedAt: time.Now()}}
	}
	return out, nil
}

type queryIn struct {
	Dataset string `json:"dataset_id,omitempty"`
	SQL     string `json:"sql,omitempty"`
	Plan    any    `json:"plan,omitempty"`
	Python  string `json:"python_code,omitempty"`
	Rows    int    `json:"max_rows,omitempty"`
	Seconds int    `json:"seconds,omitempty"`
}

type queryOut struct {
	Status      string   `json:"status"`
	Columns     []string `json:"columns"`
	Rows        [][]any  `json:"rows"`
	RowCount    int      `json:"row_count"`
	ExecTimeMS  int      `json:"exec_time_ms"`
	CompiledSQL string   `json:"compiled_sql,omitempty"`

	made []event.ArtifactMade
}

func (o queryOut) Made() []event.ArtifactMade { return o.made }

type queryFunc = func(context.Context, queryIn) (queryOut, error)

type oneModel struct{ model llm.Model }

func (o oneModel) Model(string) (llm.Model, error) { return o.model, nil }

// A runningEngine is the real engine on a store of its own. Only the model and the data
// behind the tools are scripted.
type runningEngine struct {
	*engine.Engine
	store     store.Store
	artifacts string // the folder
}

func openEngine(dir string, lib *machine.Library, model llm.Model, query queryFunc) (runningEngine, error) {
	st, err := store.Open(store.Config{DSN: filepath.Join(dir, "log.db")})
	if err != nil {
		return runningEngine{}, fmt.Errorf("opening the log: %w", err)
	}
	return engineOn(st, dir, lib, model, query)
}

// engineOn runs on a store, which it closes.
func engineOn(st store.Store, dir string, lib *machine.Library, model llm.Model, query queryFunc) (runningEngine, error) {
	queries := func(name, main string) tool.Tool {
		return tool.New(tool.Spec{Name: name, Effect: tool.Reads, Main: main}, query)
	}
	tables := func(name string) tool.Tool {
		return tool.New(tool.Spec{Name: name, Effect: tool.Reads}, func(context.Context, queryIn) (map[string]any, error) {
			return map[string]any{"tables": []string{"orders"}}, nil
		})
	}
	e, err := engine.New(engine.Config{
		Store: st, Machines: lib, Models: oneModel{model},
		Tools: tool.NewSet(nil, tables("list_datasets"), tables("get_dataset_schema"),
			queries("execute_sql", "sql"), queries("execute_query_plan", ""), queries("execute_python", "python_code")),
	})
	if err != nil {
		return runningEngine{}, errors.Join(err, st.Close())
	}
	return runningEngine{e, st, filepath.Join(dir, "artifacts")}, nil
}

// Close stops the turns that run and closes the store.
func (e runningEngine) Close() error { return errors.Join(e.Engine.Close(), e.store.Close()) }

// openDesk runs the desk with its clerk.
func openDesk(dir string, pace time.Duration) (runningEngine, error) {
	c := &clerk{pace: pace}
	return openEngine(dir, library(), c, c.query)
}

// newDesk runs the desk until the test ends.
func newDesk(t *testing.T, pace time.Duration) runningEngine {
	t.Helper()
	c := &clerk{pace: pace}
	return newEngine(t, library(), c, c.query)
}

// newEngine is openEngine until the test ends.
func newEngine(t *testing.T, lib *machine.Library, model llm.Model, query queryFunc) runningEngine {
	t.Helper()
	e, err := openEngine(t.TempDir(), lib, model, query)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}
