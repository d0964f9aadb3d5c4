package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock/internal/query"
	"interlock/internal/schema"
	"interlock/internal/source"
)

// Relations are the keys of a dataset's tables, and the columns whose values are found in
// another table's key.
type Relations struct {
	Keys  []Key
	Links []schema.Relation
}

// A Key is a column without NULLs or duplicates that is named like one.
type Key struct{ Table, Column string }

// Bounds of the search.
const (
	keyColumns  = 12   // candidates in one table
	maxPairs    = 200  // columns compared with keys
	minCoverage = 0.85 // share of the distinct values that the key has; real data has orphans
	keyTimeout  = 20 * time.Second
)

// Relations finds primary and foreign keys by name, uniqueness and containment; those
// of a database that stays where it is are the ones that it declares.
func (c *Catalog) Relations(ctx context.Context, id string) (Relations, error) {
	found, err := c.find(ctx, id)
	if err != nil {
		return Relations{}, err
	}
	db, d, err := c.database(ctx, found)
	if err != nil {
		return Relations{}, err
	}
	if found.remote() { // what the database declares: nobody looks at all its rows
		m, _ := c.manifest(db.Path)
		r := relater{}
		r.declared(m.Declared)
		return r.found, nil
	}
	return remembered(c, "relations", db.Path, func() (Relations, error) {
		m, _ := c.manifest(db.Path)
		r := relater{engine: c.config.Engine, db: db, facts: c.loadFacts(found.id, m, db.Path)}
		for _, t := range d.Tables {
			if err := r.keys(ctx, t); err != nil {
				return Relations{}, err
			}
		}
		r.declared(m.Declared)
		targets := map[string]*schema.Table{} // of the keys; there may be hundreds of tables
		for _, key := range r.found.Keys {
			if targets[key.Table] == nil {
				targets[key.Table] = tableNamed(d.Tables, key.Table)
			}
		}
		for _, t := range d.Tables {
			if err := r.findLinks(ctx, t, targets); err != nil {
				return Relations{}, err
			}
		}
		c.storeFacts(db.Path, r.facts)
		return r.found, nil
	})
}

type relater struct {
	engine Engine
	db     query.Database
	found  Relations
	tried  int
	facts  *relationFacts
}

// queryCounts runs a statement that gives one row of counts.
func (r *relater) queryCounts(ctx context.Context, sql string) ([]int64, error) {
	result, err := r.engine.Run(ctx, query.Request{Database: r.db, SQL: sql, MaxRows: 1, Timeout: keyTimeout})
	if err != nil {
		return nil, fmt.Errorf("looking for keys: %w", err)
	}
	var rows [][]json.Number
	if err := json.Unmarshal(result.Rows, &rows); err != nil || len(rows) != 1 {
		return nil, fmt.Errorf("looking for keys: counts of another form: %.100s", result.Rows)
	}
	counts := make([]int64, len(rows[0]))
	for i, n := range rows[0] {
		if counts[i], err = n.Int64(); err != nil {
			return nil, fmt.Errorf("looking for keys: %w", err)
		}
	}
	return counts, nil
}

// keys finds the columns of a table that can be its key.
func (r *relater) keys(ctx context.Context, t schema.Table) error {
	var candidates, asks []string
	for i, col := range t.Columns {
		if likelyKey(t.Name, col, i) && len(candidates) < keyColumns {
			candidates = append(candidates, col.Name)
			asks = append(asks, fmt.Sprintf("count(DISTINCT %s), count(%[1]s)", quoteName(col.Name)))
		}
	}
	if len(candidates) == 0 || t.Rows == 0 {
		return nil
	}
	if keys, known := r.facts.keysOf(t.Name); known {
		for _, name := range keys {
			r.found.Keys = append(r.found.Keys, Key{t.Name, name})
		}
		return nil
	}
	counts, err := r.queryCounts(ctx, "SELECT "+strings.Join(asks, ", ")+" FROM "+quoteName(t.Name))
	if err != nil {
		return err
	}
	keys := []string{}
	for i, name := range candidates {
		if counts[2*i] == t.Rows && counts[2*i+1] == t.Rows {
			r.found.Keys = append(r.found.Keys, Key{t.Name, name})
			keys = append(keys, name)
		}
	}
	r.facts.noteKeys(t.Name, keys)
	return nil
}

// likelyKey goes by type, place and name.
func likelyKey(table string, col schema.Column, place int) bool {
	switch col.Type.Kind {
	case schema.Int, schema.Uint, schema.Text, schema.UUID, schema.Decimal:
	default:
		return false
	}
	name := plainName(col.Name)
	if place == 0 || name == "id" || name == "key" || name == "uuid" || name == "code" || name == plainName(table) {
		return true
	}
	for _, end := range []string{"_id", "_key", "_code", "_no", "_nr", "_number", "_ref", "_uuid", "_sku", "id"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// declared takes over the keys that a database declares: they need no proof.
func (r *relater) declared(list []schema.Relation) {
	for _, l := range list {
		r.found.Links = append(r.found.Links, l)
		if key := (Key{l.RefTable, l.RefColumn}); !slices.Contains(r.found.Keys, key) {
			r.found.Keys = append(r.found.Keys, key)
		}
	}
}

// loadDeclaredKeys reads the keys that a database declares; named gives a table's name in the
// dataset. Declarations are a help: a database whose keys cannot be read goes without.
func (m *manifest) loadDeclaredKeys(ctx context.Context, c *Catalog, conf source.Config, named func(original string) string) {
	keys, err := source.ForeignKeys(ctx, conf)
	if err != nil {
		c.config.Log.Warn("The keys of a database cannot be read.", "dataset", m.Dataset, "err", err)
		return
	}
	for _, k := range keys {
		l := schema.Relation{Table: named(k.Table), RefTable: named(k.RefTable)}
		from, to := tableNamed(m.Tables, l.Table), tableNamed(m.Tables, l.RefTable)
		if from == nil || to == nil {
			continue
		}
		l.Column, l.RefColumn = columnSpelling(*from, k.Column), columnSpelling(*to, k.RefColumn)
		if l.RefColumn == "" && k.RefColumn == "" {
			l.RefColumn = columnSpelling(*to, k.Column) // the primary key, by the same name or the first column
			if l.RefColumn == "" && len(to.Columns) > 0 {
				l.RefColumn = to.Columns[0].Name
			}
		}
		if l.Column != "" && l.RefColumn != "" {
			m.Declared = append(m.Declared, l)
		}
	}
}

// columnSpelling gives a column as the table spells it, "" if it has none of that name.
func columnSpelling(t schema.Table, name string) string {
	for _, c := range t.Columns {
		if strings.EqualFold(c.Name, name) {
			return c.Name
		}
	}
	return ""
}

// findLinks finds columns of a table that point at keys of others, or of itself.
func (r *relater) findLinks(ctx context.Context, t schema.Table, targets map[string]*schema.Table) error {
	for _, col := range t.Columns {
		for _, key := range r.found.Keys {
			to := targets[key.Table]
			link := schema.Relation{Table: t.Name, Column: col.Name, RefTable: key.Table, RefColumn: key.Column}
			if slices.Contains(r.found.Links, link) || key == (Key{t.Name, col.Name}) || to == nil || !pointsAt(t, col, *to, key.Column) {
				continue
			}
			if r.tried++; r.tried > maxPairs {
				return nil
			}
			if points, known := r.facts.pairOf(link); known {
				if points {
					r.found.Links = append(r.found.Links, link)
				}
				continue
			}
			x, k := quoteName(col.Name), quoteName(key.Column)
			counts, err := r.queryCounts(ctx, fmt.Sprintf(`SELECT count(*), count(*) FILTER (WHERE v.%[1]s IN (SELECT %[2]s FROM %[3]s))
				FROM (SELECT DISTINCT %[1]s FROM %[4]s WHERE %[1]s IS NOT NULL) AS v`, x, k, quoteName(to.Name), quoteName(t.Name)))
			if err != nil {
				continue // one pair that cannot be compared is no relation
			}
			points := counts[0] > 0 && float64(counts[1])/float64(counts[0]) >= minCoverage
			r.facts.notePair(link, points)
			if points {
				r.found.Links = append(r.found.Links, link)
			}
		}
	}
	return nil
}

// pointsAt goes by names and types: orders.customer_id at customers.id or
// customers.customer_id, and parent_id at the table's own id.
func pointsAt(t schema.Table, col schema.Column, to schema.Table, key string) bool {
	toCol := slices.IndexFunc(to.Columns, func(c schema.Column) bool { return c.Name == key })
	if toCol < 0 || !canBeEqual(col.Type, to.Columns[toCol].Type) {
		return false
	}
	name, keyName := plainName(col.Name), plainName(key)
	own := t.Name == to.Name
	if name == keyName {
		return !own && keyName != "id" && keyName != "key" && keyName != "name"
	}
	for _, noun := range []string{to.Name, singular(to.Name)} {
		for _, end := range []string{"", "_id", "id", "_" + keyName, "_key", "_code", "_no"} {
			if name == noun+end || strings.HasSuffix(name, "_"+noun+end) && !own {
				return true
			}
		}
	}
	if own {
		return strings.HasPrefix(name, "parent") || strings.HasSuffix(name, "_"+keyName) || name == "manager_id" || name == "reports_to"
	}
	return keyName != "id" && strings.HasSuffix(name, "_"+keyName)
}

// canBeEqual says whether values of two types can be equal.
func canBeEqual(a, b schema.Type) bool {
	whole := func(t schema.Type) bool {
		return t.Kind == schema.Int || t.Kind == schema.Uint || t.Kind == schema.Decimal
	}
	return a.Kind == b.Kind || whole(a) && whole(b)
}

// singular guesses the singular of an English plural.
func singular(name string) string {
	switch {
	case strings.HasSuffix(name, "ies"):
		return strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "ses"), strings.HasSuffix(name, "xes"), strings.HasSuffix(name, "ches"), strings.HasSuffix(name, "shes"):
		return strings.TrimSuffix(name, "es")
	case strings.HasSuffix(name, "ss"):
		return name
	}
	return strings.TrimSuffix(name, "s")
}
