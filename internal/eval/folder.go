package eval

import (
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"interlock/internal/engine"
)

// Gold is a folder of CSV files in which gold statements run.
type Gold struct{ db *sql.DB }

var (
	wholeNumber = regexp.MustCompile(`^-?\d{1,15}$`)
	anyNumber   = regexp.MustCompile(`^-?\d+(\.\d+)?$`)
)

// OpenGold loads every CSV file of a folder as a table of an SQLite database in memory. An
// empty field is NULL, true is 1.
func OpenGold(ctx context.Context, dir string) (*Gold, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no CSV files", dir)
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection would have a memory of its own
	for _, path := range files {
		if err := loadTable(ctx, db, path); err != nil {
			return nil, errors.Join(fmt.Errorf("loading %s: %w", path, err), db.Close())
		}
	}
	return &Gold{db}, nil
}

// Close closes the database.
func (g *Gold) Close() error { return g.db.Close() }

// Run runs a gold statement.
func (g *Gold) Run(ctx context.Context, text string) (Result, error) {
	return runGold(ctx, g.db, text)
}

func loadTable(ctx context.Context, db *sql.DB, path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return errors.New("it is empty")
	}
	head, body := rows[0], rows[1:]
	convert := make([]func(string) any, len(head))
	names := make([]string, len(head))
	for i, h := range head {
		convert[i] = converter(body, i)
		names[i] = `"` + strings.ReplaceAll(h, `"`, `""`) + `"`
	}
	table := `"` + strings.TrimSuffix(filepath.Base(path), ".csv") + `"`
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Commit()) }()
	if _, err := tx.ExecContext(ctx, "CREATE TABLE "+table+" ("+strings.Join(names, ",")+")"); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO "+table+" VALUES ("+strings.TrimSuffix(strings.Repeat("?,", len(head)), ",")+")")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	for _, row := range body {
		args := make([]any, len(row))
		for i, v := range row {
			if v != "" {
				args[i] = convert[i](v)
			}
		}
		if _, err := insert.ExecContext(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// converter reads the texts of a column as what all of them are.
func converter(rows [][]string, i int) func(string) any {
	all := func(ok func(string) bool) bool {
		for _, r := range rows {
			if r[i] != "" && !ok(r[i]) {
				return false
			}
		}
		return true
	}
	switch {
	case all(func(v string) bool { return v == "true" || v == "false" }):
		return func(v string) any { return v == "true" }
	case all(wholeNumber.MatchString):
		return func(v string) any { n, _ := strconv.ParseInt(v, 10, 64); return n }
	case all(anyNumber.MatchString):
		return func(v string) any { n, _ := strconv.ParseFloat(v, 64); return n }
	}
	return func(v string) any { return v }
}

// Talk opens a thread about a dataset and returns how to say something in it.
func (r Runner) Talk(ctx context.Context, dataset string) (func(text string) (Replied, error), error) {
	thread, err := r.Engine.Open(ctx, engine.Opening{Machine: r.Machine.Name, Owner: r.Owner, Dataset: dataset, Settings: widestSettings(r.Machine)})
	if err != nil {
		return nil, err
	}
	return func(text string) (Replied, error) {
		a, err := r.say(ctx, thread, dataset, text)
		if err != nil {
			return Replied{}, err
		}
		asked := a.Asked || a.Result.Columns == nil && asksBack.MatchString(a.Reply.Text)
		return Replied{Asked: asked, Result: a.Result, Text: a.Reply.Text, SQL: a.SQL}, nil
	}, nil
}

// asksBack recognises a question back in words.
var asksBack = regexp.MustCompile(`(?i)not sure what you mean|do you mean|did you mean|which (one|of these|date|reading)|answer with the number|say yes if`)
