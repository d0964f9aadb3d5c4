package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"interlock/internal/query"
	"interlock/internal/schema"
)

// A queryRequest holds the flags of `interlock query`.
type queryRequest struct{ dataset, sql, format, out string }

func (a *app) queryCommand() *cobra.Command {
	var q queryRequest
	cmd := &cobra.Command{
		Use: "query", Short: "Run SQL on a dataset under the policy that holds for models, and print or export the rows", Args: cobra.NoArgs,
		Example: "  interlock query --dataset shop --sql 'SELECT status, count(*) FROM orders GROUP BY 1'\n" +
			"  interlock query --dataset shop --sql 'SELECT * FROM orders' --out orders.parquet",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.readData(func(s *system) error { return a.query(cmd.Context(), s, q) })
		},
	}
	cmd.Flags().StringVar(&q.dataset, "dataset", "", "the dataset; may be left out if there is only one")
	cmd.Flags().StringVar(&q.sql, "sql", "", "the statement; - reads it from standard input")
	cmd.Flags().StringVar(&q.format, "format", "", "write all rows as csv, ndjson, json, parquet, arrow or xlsx")
	cmd.Flags().StringVar(&q.out, "out", "", "the file to write; its extension gives the format")
	return cmd
}

func (a *app) query(ctx context.Context, s *system, q queryRequest) error {
	if q.sql == "-" {
		text, err := io.ReadAll(io.LimitReader(a.in, 1<<20))
		if err != nil {
			return fmt.Errorf("reading the statement: %w", err)
		}
		q.sql = string(text)
	}
	if strings.TrimSpace(q.sql) == "" {
		return usageError{errors.New("there is no statement; give one with --sql")}
	}
	if q.dataset == "" {
		list, err := s.catalog.List(ctx)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return usageError{errors.New("there is no dataset; name a folder with --data, or make the demo with `interlock demo`")}
		}
		if len(list) > 1 {
			return usageError{fmt.Errorf("there are %d datasets; name one with --dataset", len(list))}
		}
		q.dataset = list[0].ID
	}
	r := query.Request{SQL: q.sql, User: a.cfg.Owner}
	if q.format != "" || q.out != "" {
		return a.export(ctx, s, r, q)
	}
	res, err := s.catalog.Query(ctx, q.dataset, r)
	if err != nil {
		return err
	}
	return a.showRows(res)
}

// export writes the rows as a file, or to the output.
func (a *app) export(ctx context.Context, s *system, r query.Request, q queryRequest) error {
	format := query.Format(cmp.Or(q.format, strings.TrimPrefix(strings.ToLower(filepath.Ext(q.out)), ".")))
	path := q.out
	if path == "" {
		dir, err := os.MkdirTemp(s.stateDir(a.cfg, "tmp"), "query-")
		if err != nil {
			return fmt.Errorf("making a folder for the export: %w", err)
		}
		defer os.RemoveAll(dir)
		path = filepath.Join(dir, "rows")
	}
	written, err := s.catalog.Export(ctx, q.dataset, r, format, path)
	if err != nil {
		return err
	}
	a.printNotes(written.Notes)
	if q.out != "" {
		a.printDone(map[string]any{"file": q.out, "format": format, "row_count": written.Rows, "notes": append([]string{}, written.Notes...)}, "wrote %s to %s", rowsText(written.Rows), q.out)
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading the export: %w", err)
	}
	defer f.Close()
	_, err = io.Copy(a.out, f)
	return err
}

// printNotes prints what the format of an export could not keep.
func (a *app) printNotes(notes []string) {
	for _, note := range notes {
		fmt.Fprintf(a.errw, "interlock: %s\n", oneLine(note))
	}
}

// showRows prints a result as a table, or as JSON.
func (a *app) showRows(r *query.Result) error {
	head, rows, err := rowTexts(r.Columns, r.Rows)
	if err != nil {
		return err
	}
	a.printRows(map[string]any{"columns": r.Columns, "rows": r.Rows, "row_count": r.RowCount, "limited": r.Limited}, head, rows)
	if !a.json {
		more := ""
		if r.Limited {
			more = ", there are more; --out FILE writes them all"
		}
		fmt.Fprintf(a.errw, "(%d rows%s)\n", r.RowCount, more)
	}
	return nil
}

// rowTexts gives typed rows as the cells of a table on the terminal.
func rowTexts(columns []schema.Column, typed json.RawMessage) (head []string, rows [][]string, err error) {
	var cells [][]any
	if err := json.Unmarshal(typed, &cells); err != nil {
		return nil, nil, err
	}
	for _, c := range columns {
		head = append(head, c.Name)
	}
	rows = make([][]string, len(cells))
	for i, row := range cells {
		for _, v := range row {
			rows[i] = append(rows[i], cellText(v))
		}
	}
	return head, rows, nil
}
