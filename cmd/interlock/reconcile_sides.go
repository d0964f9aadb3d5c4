package main

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"interlock/internal/catalog"
	"interlock/internal/fault"
	"interlock/internal/query"
	"interlock/internal/recon"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// Tables of the workspace.
const (
	leftTable  = "left_rows"
	rightTable = "right_rows"
)

// openSides imports both sources into a workspace. The caller closes it.
func (c *reconciliation) openSides(ctx context.Context, recipe *recon.Recipe) (*query.Workspace, error) {
	o := &c.options
	leftScope, err := parseWhere(o.leftWhere)
	if err != nil {
		return nil, err
	}
	rightScope, err := parseWhere(o.rightWhere)
	if err != nil {
		return nil, err
	}
	if recipe != nil {
		if o.left == "" {
			o.left, o.right = recipe.Left.Source, recipe.Right.Source
		}
		if leftScope == nil && rightScope == nil {
			leftScope, rightScope = recipe.Left.Scope, recipe.Right.Scope
		}
	}
	if o.left == "" || o.right == "" {
		return nil, usageError{errors.New("a reconciliation has two sources: name a left and a right one")}
	}
	c.scope = [2][]schema.Condition{leftScope, rightScope}
	var inputs []query.Input
	var parts []catalog.Part
	for i, side := range []struct {
		name, key, table string
		scope            []schema.Condition
		report           *recon.SourceReport
	}{{o.left, o.leftKey, leftTable, leftScope, &c.report.Left}, {o.right, o.rightKey, rightTable, rightScope, &c.report.Right}} {
		*side.report = recon.SourceReport{Name: side.name, Scope: whereWords(side.scope)}
		c.tables[i] = side.table
		if !isFile(side.name) {
			parts = append(parts, catalog.Part{Table: side.table, Alias: side.name, Conditions: side.scope})
			continue
		}
		in, hash, err := c.importFile(ctx, side.table, side.name, side.key, side.scope)
		if err != nil {
			return nil, err
		}
		side.report.Hash = hash
		inputs = append(inputs, in)
	}
	if c.previous != nil {
		for table, path := range map[string]string{leftTable: c.previous.OpenLeft, rightTable: c.previous.OpenRight} {
			in, _, err := c.importFile(ctx, table+"_open", path, "", nil)
			if err != nil {
				return nil, err
			}
			inputs = append(inputs, in)
		}
	}
	return c.openWorkspace(ctx, inputs, parts)
}

// openWorkspace opens a workspace with imported files and parts of the catalog.
func (c *reconciliation) openWorkspace(ctx context.Context, inputs []query.Input, parts []catalog.Part) (*query.Workspace, error) {
	found, selects, err := c.system.catalog.WorkspaceInputs(ctx, parts)
	if fault.Is(err, fault.SourceNotRegistered) {
		return nil, fault.Wrap(err, fault.SourceNotRegistered, "%s, and no such file exists.", fault.From(err).Message).
			Suggest("Name a file, or a table that `interlock sources list` shows.")
	}
	if err != nil {
		return nil, err
	}
	space, err := c.system.query.OpenWorkspace(ctx, query.WorkspaceConfig{
		Inputs: append(inputs, found...), User: c.cfg.Owner, MemoryMB: max(c.cfg.SQLMemory, reconcileMemory), DiskMB: c.cfg.DatasetDisk,
	})
	if err != nil {
		return nil, err
	}
	for i, s := range selects {
		if parts[i].Table == leftTable {
			c.tables[0] = s.Table
		} else {
			c.tables[1] = s.Table
		}
		if s.SQL == "" {
			continue
		}
		if err := space.Create(ctx, s.Table, s.SQL, s.Args...); err != nil {
			return nil, errors.Join(err, space.Close())
		}
	}
	return space, nil
}

// reconcileMemory is what the worker of a reconciliation may use, in MB, unless more is set.
const reconcileMemory = 4096

// importFile imports a file as a table and gives the hash of its bytes. The column that
// names the rows stays as it is written.
func (c *reconciliation) importFile(ctx context.Context, table, path, key string, scope []schema.Condition) (query.Input, string, error) {
	hash, err := hashFile(path)
	if err != nil {
		return query.Input{}, "", err
	}
	c.bar.show(progress{step: "reading " + filepath.Base(path)})
	options := query.ImportOptions{}
	if key != "" {
		options.Types = map[string]string{key: "VARCHAR"}
	}
	built := filepath.Join(c.imported, table+".duckdb")
	report, err := c.system.query.Build(ctx, built, []query.Import{{Table: table, Files: []string{path}, Options: options}}, nil)
	if err != nil {
		return query.Input{}, "", err
	}
	c.bar.end()
	t := report.Tables[0]
	for _, note := range t.Notes {
		fmt.Fprintf(c.errw, "interlock: %s: %s\n", filepath.Base(path), oneLine(note.Message))
	}
	if t.Rejected > 0 {
		fmt.Fprintf(c.errw, "interlock: %s: %d rows could not be read and are left out\n", filepath.Base(path), t.Rejected)
	}
	if len(scope) == 0 {
		return query.Input{Name: table, Path: built, Table: table}, "sha256:" + hash, nil
	}
	rows := source.NewTable(c.system.query, report.Database(built), table, t.Columns)
	return query.Input{Name: table, Write: func(ctx context.Context, w *query.Writer, table string) error {
		_, err := source.Load(ctx, rows, schema.Filter{Conditions: scope}, w, table, nil)
		return err
	}}, "sha256:" + hash, nil
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fault.Wrap(err, fault.SourceUnreadable, "%s cannot be read: %v", path, err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fault.Wrap(err, fault.SourceUnreadable, "%s cannot be read: %v", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// findRows reads the labels and the truth, finds the columns that name the rows, and
// carries open items over.
func (c *reconciliation) findRows(ctx context.Context, recipe *recon.Recipe) (truth []recon.Pair, err error) {
	o := c.options
	for _, f := range []struct {
		path string
		into *[]recon.Pair
	}{{o.pairs, &c.input.Labels.Confirmed}, {o.rejected, &c.input.Labels.Rejected}, {o.truth, &truth}} {
		if f.path == "" {
			continue
		}
		if *f.into, err = readPairs(f.path); err != nil {
			return nil, err
		}
	}
	var left, right []string
	for _, p := range append(append(append([]recon.Pair{}, c.input.Labels.Confirmed...), c.input.Labels.Rejected...), truth...) {
		left, right = append(left, p.Left), append(right, p.Right)
	}
	for _, side := range []struct {
		table, key string
		known      []string
		own        string // of the recipe
		input      *recon.Side
		report     *recon.SourceReport
		carried    int
	}{
		{c.tables[0], o.leftKey, left, recipeKey(recipe, true), &c.input.Left, &c.report.Left, 0},
		{c.tables[1], o.rightKey, right, recipeKey(recipe, false), &c.input.Right, &c.report.Right, 1},
	} {
		key := side.key
		if key == "" && recipe != nil {
			key = side.own
		} else if key == "" {
			if key, err = c.recon.FindKey(ctx, side.table, side.report.Name, side.known); err != nil {
				return nil, err
			}
		}
		*side.input = recon.Side{Table: side.table, Key: key}
		c.own[side.carried] = *side.input
		side.report.Key = key
		if side.report.Rows, err = c.recon.CountRows(ctx, *side.input); err != nil {
			return nil, err
		}
		if c.previous != nil {
			if *side.input, c.report.Carried[side.carried], err = c.recon.CarryOver(ctx, *side.input, []string{leftTable, rightTable}[side.carried]+"_open", side.table+"_all"); err != nil {
				return nil, err
			}
		}
		if side.report.Hash == "" {
			if side.report.Hash, err = c.recon.HashRows(ctx, c.own[side.carried]); err != nil {
				return nil, err
			}
		}
	}
	if c.previous != nil && c.previous.Report.Answers != nil { // what was rejected stays so
		again, err := c.recon.KnownPairs(ctx, c.input.Left, c.input.Right, c.previous.Report.Answers.Rejected)
		if err != nil {
			return nil, err
		}
		c.input.Labels.Rejected = append(c.input.Labels.Rejected, again...)
	}
	return truth, nil
}

func recipeKey(recipe *recon.Recipe, left bool) string {
	switch {
	case recipe == nil:
		return ""
	case left:
		return recipe.Left.Key
	}
	return recipe.Right.Key
}

// maxPairsFile bounds a file of pairs.
const maxPairsFile = 256 << 20

// readPairs reads a CSV file with a header and two columns.
func readPairs(path string) ([]recon.Pair, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.BadRequest, "The pairs cannot be read: %v", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxPairsFile+1))
	if err != nil {
		return nil, fault.Wrap(err, fault.BadRequest, "The pairs cannot be read: %v", err)
	}
	if len(raw) > maxPairsFile {
		return nil, fault.New(fault.TooLarge, "%s has more than %d MiB.", path, maxPairsFile>>20)
	}
	text := strings.TrimPrefix(string(raw), "\ufeff")
	r := csv.NewReader(strings.NewReader(text))
	head, _, _ := strings.Cut(text, "\n")
	for _, delimiter := range ",;\t|%" { // the one that the header has
		if strings.ContainsRune(head, delimiter) {
			r.Comma = delimiter
			break
		}
	}
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fault.Wrap(err, fault.BadRequest, "%s is no CSV: %v", path, err)
	}
	var pairs []recon.Pair
	for i, row := range rows {
		if i == 0 {
			continue
		}
		if len(row) < 2 {
			return nil, fault.New(fault.BadRequest, "Row %d of %s has no two columns.", i+1, path).
				Suggest("A file of pairs has a header and two columns: the key of a left row and that of a right row.")
		}
		pairs = append(pairs, recon.Pair{Left: strings.TrimSpace(row[0]), Right: strings.TrimSpace(row[1])})
	}
	if len(pairs) == 0 {
		return nil, fault.New(fault.BadRequest, "%s holds no pairs.", path).
			Suggest("A file of pairs has a header and two columns: the key of a left row and that of a right row.")
	}
	return pairs, nil
}
