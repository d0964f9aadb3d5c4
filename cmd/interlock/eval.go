package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	_ "modernc.org/sqlite" // runs the gold queries

	"interlock/internal/catalog"
	"interlock/internal/demo"
	"interlock/internal/engine"
	"interlock/internal/eval"
	"interlock/internal/fault"
	"interlock/internal/llm"
	"interlock/internal/source"
)

func (a *app) evalCommand() *cobra.Command {
	e := evaluation{app: a}
	cmd := &cobra.Command{
		Use: "eval [DIR]", Short: "Ask questions with known answers through the whole system and score it", Args: cobra.MaximumNArgs(1),
		Long: "DIR holds questions.json ([{db, question, gold_sql}]) and a <db>.sqlite for each database.\n" +
			"Without DIR the golden queries of the datasets in --data are asked.\n" +
			"Printed together: right of all (EX), answered of all (coverage), right of answered (precision), asked back and declined.",
		Example: "  interlock eval ./questions --limit 50\n  interlock eval --data ./demo",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return e.questions(cmd.Context(), args[0])
			}
			return e.golden(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&e.machine, "machine", "pipeline", "the machine that answers")
	cmd.Flags().IntVar(&e.limit, "limit", 0, "ask only so many")
	cmd.Flags().StringVar(&e.resume, "resume", "", "file that keeps what was asked, so that a broken-off run goes on")
	return cmd
}

// evaluation asks questions one after the other, each in a thread of its own.
type evaluation struct {
	*app
	machine string
	limit   int
	resume  string
	s       *system
}

// questions scores a folder of questions over SQLite databases.
func (e *evaluation) questions(ctx context.Context, dir string) (err error) {
	cases, err := eval.Load(dir)
	if err != nil {
		return fault.Wrap(err, fault.BadRequest, "%v", err).Suggest("DIR holds questions.json and a <db>.sqlite for each database.")
	}
	if e.limit > 0 {
		cases = cases[:min(e.limit, len(cases))]
	}
	if e.cfg.Model == llm.Offline {
		e.cfg.Provider, e.cfg.Model = llm.Offline, ""
	}
	e.cfg.Data = nil
	state, err := os.MkdirTemp("", "interlock-eval-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	e.cfg.State = state
	if e.s, err = e.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.s.close()) }()
	if err := e.connect(ctx, dir, cases); err != nil {
		return err
	}
	records, err := e.earlier()
	if err != nil {
		return err
	}
	for _, c := range cases[min(len(records), len(cases)):] {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r := e.ask(ctx, dir, c)
		records = append(records, r)
		if err := e.keep(r); err != nil {
			return err
		}
		e.progress(len(records), len(cases))
	}
	sum := eval.Summarise(records)
	if e.json {
		e.printJSON(sum)
		return nil
	}
	fmt.Fprint(e.out, sum.String())
	return nil
}

// connect makes a dataset of each database that the cases name.
func (e *evaluation) connect(ctx context.Context, dir string, cases []eval.Case) error {
	var known []string
	for _, c := range cases {
		if slices.Contains(known, c.DB) {
			continue
		}
		known = append(known, c.DB)
		path, err := filepath.Abs(c.Database(dir))
		if err != nil {
			return err
		}
		if err := e.s.catalog.Add(ctx, catalog.Connection{Alias: c.DB, URL: "sqlite:" + path}, source.Secret{}); err != nil {
			return err
		}
	}
	return nil
}

func (e *evaluation) progress(n, of int) {
	if isTerminal(e.errw) {
		fmt.Fprintf(e.errw, "\r%d of %d", n, of)
		if n == of {
			fmt.Fprintln(e.errw)
		}
	}
}

// earlier reads what a broken-off run has kept.
func (e *evaluation) earlier() ([]eval.Record, error) {
	if e.resume == "" {
		return nil, nil
	}
	f, err := os.Open(e.resume)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []eval.Record
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r eval.Record
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			break // the last line of a killed run
		}
		out = append(out, r)
	}
	return out, lines.Err()
}

func (e *evaluation) keep(r eval.Record) error {
	if e.resume == "" {
		return nil
	}
	f, err := os.OpenFile(e.resume, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(r)
	if err == nil {
		_, err = f.Write(append(raw, '\n'))
	}
	return errors.Join(err, f.Close())
}

// answer is what became of a question in the system.
type answer struct {
	reply  engine.Reply
	result eval.Result
	sql    string
	asked  bool
	// confidence is what the machine's reply says of its plan; 0 is unknown.
	confidence float64
}

// put asks one question in a new thread.
func (e *evaluation) put(ctx context.Context, dataset, question string) (answer, error) {
	thread, err := e.s.engine.Open(ctx, engine.Opening{Machine: e.machine, Owner: e.cfg.Owner, Dataset: dataset, Settings: e.wide()})
	if err != nil {
		return answer{}, err
	}
	run, err := e.s.engine.Send(ctx, thread, engine.Input{User: e.cfg.Owner, Text: question, Dataset: dataset})
	if err != nil {
		return answer{}, err
	}
	if err := e.s.engine.Wait(ctx, thread); err != nil {
		return answer{}, err
	}
	a := answer{}
	if a.reply, err = e.s.engine.Reply(ctx, run); err != nil {
		return a, err
	}
	a.asked = a.reply.Card != nil
	if raw := a.reply.Fields["confidence"]; raw != nil {
		if err := json.Unmarshal(raw, &a.confidence); err != nil {
			return a, fmt.Errorf("reading the confidence of the reply: %w", err)
		}
	}
	for _, shown := range a.reply.Shown {
		if r, sql, ok := tableIn(shown.Output); ok {
			a.result, a.sql = r, sql
		}
	}
	return a, nil
}

// wide lifts the machine's row limits as far as they go: whole results are compared.
func (e *evaluation) wide() map[string]any {
	m, err := e.s.machines.Get(e.machine)
	if err != nil {
		return nil
	}
	out := map[string]any{}
	for _, s := range m.Settings {
		if strings.HasSuffix(s.Name, "_rows") && s.Max != nil {
			out[s.Name] = *s.Max
		}
	}
	return out
}

// tableIn finds the table in a result that the person sees.
func tableIn(raw json.RawMessage) (eval.Result, string, bool) {
	var r struct {
		Columns []string        `json:"columns"`
		Rows    [][]any         `json:"rows"`
		Query   string          `json:"query"`
		SQL     string          `json:"compiled_sql"`
		Result  json.RawMessage `json:"result"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return eval.Result{}, "", false
	}
	if r.Columns == nil && r.Result != nil {
		return tableIn(r.Result)
	}
	return eval.Result{Columns: r.Columns, Rows: r.Rows}, r.Query + r.SQL, r.Columns != nil
}

// ask puts a case and compares with the gold query's rows.
func (e *evaluation) ask(ctx context.Context, dir string, c eval.Case) eval.Record {
	start := time.Now()
	a, err := e.put(ctx, c.DB, c.Question)
	rec := eval.Record{Case: c, Confidence: a.confidence, SQL: a.sql, Elapsed: time.Since(start)}
	switch {
	case err != nil:
		rec.Outcome, rec.Note = eval.Wrong, err.Error()
		return rec
	case a.asked:
		rec.Outcome, rec.Note = eval.Asked, fmt.Sprint(a.reply.Card.Content.Decode())
		return rec
	case a.sql == "" && a.result.Columns == nil:
		rec.Outcome, rec.Note = eval.Declined, a.reply.Text
		return rec
	}
	gold, err := goldRows(ctx, c.Database(dir), c.GoldSQL)
	if err != nil {
		rec.Outcome, rec.Note = eval.Wrong, "the gold query failed: "+err.Error()
		return rec
	}
	rec.Outcome = eval.Wrong
	if raw := a.reply.Fields["satisfaction"]; raw != nil {
		rec.Note = "judged " + strings.Trim(string(raw), `"`)
	}
	if eval.Same(gold, a.result, eval.Ordered(c.GoldSQL)) {
		rec.Outcome = eval.Right
	}
	return rec
}

// goldRows runs a gold query on its SQLite database.
func goldRows(ctx context.Context, path, text string) (eval.Result, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return eval.Result{}, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return eval.Result{}, err
	}
	defer rows.Close()
	var r eval.Result
	if r.Columns, err = rows.Columns(); err != nil {
		return r, err
	}
	for rows.Next() {
		row := make([]any, len(r.Columns))
		into := make([]any, len(row))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return r, err
		}
		for i, v := range row {
			if b, ok := v.([]byte); ok {
				row[i] = string(b)
			}
		}
		r.Rows = append(r.Rows, row)
	}
	return r, rows.Err()
}

// goldenRow is one golden query as it went.
type goldenRow struct {
	Dataset  string `json:"dataset"`
	Question string `json:"question"`
	Outcome  string `json:"outcome"`
	Note     string `json:"note,omitempty"`
}

// readGolden reads the golden queries that lie beside a dataset's files.
func readGolden(roots []string, dataset string) ([]demo.Golden, error) {
	for _, root := range roots {
		raw, err := os.ReadFile(filepath.Join(root, dataset, "golden.json"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var list []demo.Golden
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fmt.Errorf("reading the golden queries of %s: %w", dataset, err)
		}
		return list, nil
	}
	return nil, nil
}

// judgeGolden holds an answer against what is known: status, row count, columns and,
// where given, values. Names of columns may differ; their number may not.
func judgeGolden(c demo.Check, a answer) (outcome, note string) {
	switch {
	case c.Status != "" && a.reply.Outcome != c.Status:
		return "wrong", fmt.Sprintf("status %s, not %s", a.reply.Outcome, c.Status)
	case len(c.Columns) != len(a.result.Columns):
		return "wrong", fmt.Sprintf("columns %v, not %v", a.result.Columns, c.Columns)
	case c.RowCount != nil && len(a.result.Rows) != *c.RowCount:
		return "wrong", fmt.Sprintf("%d rows, not %d", len(a.result.Rows), *c.RowCount)
	case c.Values != nil && !eval.Same(eval.Result{Columns: c.Columns, Rows: c.Values}, a.result, false):
		return "wrong", fmt.Sprintf("values %s", cutText(fmt.Sprint(a.result.Rows), 120))
	}
	return "right", ""
}

// golden asks the golden queries of the datasets in --data.
func (e *evaluation) golden(ctx context.Context) (err error) {
	if e.s, err = e.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.s.close()) }()
	list, err := e.s.catalog.List(ctx)
	if err != nil {
		return err
	}
	var out []goldenRow
	right := 0
	for _, d := range list {
		queries, err := readGolden(e.cfg.Data, d.ID)
		if err != nil {
			return err
		}
		for _, g := range queries {
			row := goldenRow{Dataset: d.ID, Question: g.Question}
			a, err := e.put(ctx, d.ID, g.Question)
			switch {
			case err != nil:
				row.Outcome, row.Note = "failed", err.Error()
			case a.asked:
				row.Outcome, row.Note = "asked", "it asked back"
			case a.result.Columns == nil:
				row.Outcome, row.Note = "declined", a.reply.Text
			default:
				row.Outcome, row.Note = judgeGolden(g.Check, a)
			}
			if row.Outcome == "right" {
				right++
			}
			out = append(out, row)
		}
	}
	if len(out) == 0 {
		return fault.New(fault.NotFound, "no dataset has golden queries").Suggest("Make the demo with `interlock demo`, or name a folder of questions.")
	}
	rows := make([][]string, len(out))
	for i, r := range out {
		rows[i] = []string{r.Outcome, r.Dataset, r.Question, oneLine(r.Note)}
	}
	a := map[string]any{"n": len(out), "right": right, "queries": out}
	e.show(a, []string{"", "dataset", "question", "note"}, rows)
	if !e.json {
		fmt.Fprintf(e.out, "%d of %d right\n", right, len(out))
	}
	if right < len(out) {
		e.code = exitFailed
	}
	return nil
}
