package retrieve

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// A TableSet is all tables of one source of data.
type TableSet struct {
	// Owner is who may find them; "" is everybody.
	Owner string
	// Source is the id of the dataset or connection. Required.
	Source string
	// Dialect is that of the SQL in which the tables are queried.
	Dialect string
	// Version is that of the source when its tables were looked at. See [Index.TableVersions].
	Version string
	Tables  []TableText
}

// A TableText is what the index learns of a table.
type TableText struct {
	Name        string // as a statement names it
	Description string
	Columns     []schema.Column
	ColumnTexts map[string]string // descriptions by column name
	Terms       []string          // of the glossary, with their definitions, that are about the table
	Samples     []string          // values: found by their words, not by meaning
}

// A TableQuery asks for tables.
type TableQuery struct {
	Owner string
	// Sources are those to look into. Empty is all that the owner may see.
	Sources []string
	// Text is a question. Required.
	Text string
	// Limit is how many tables are returned at most. Default 10, at most 100.
	Limit int
}

// A Table is one that was found.
type Table struct {
	Name      string          `json:"fully_qualified_name"`
	Source    string          `json:"source_id"`
	Dialect   string          `json:"sql_dialect"`
	Relevancy float64         `json:"relevancy"`
	Columns   []schema.Column `json:"columns"`
}

const (
	maxMeaning = 1200 // bytes of the text that is embedded
	maxSamples = 4000 // bytes of values
)

// SyncTables makes the index know exactly these tables of a source. Tables that have not changed cost
// nothing; the others are embedded before it returns.
func (x *Index) SyncTables(ctx context.Context, set TableSet) error {
	if err := x.StoreTables(ctx, set); err != nil {
		return err
	}
	return x.EmbedTables(ctx)
}

// StoreTables is SyncTables without embedding: the tables are found by their words at once, and by
// meaning after [Index.EmbedTables].
func (x *Index) StoreTables(ctx context.Context, set TableSet) error {
	if set.Source == "" {
		return fault.New(fault.BadRequest, "the tables have no source")
	}
	err := x.change(ctx, func(tx *sql.Tx) error { return storeTables(ctx, tx, set) })
	return storeFault(err, "indexing the tables of "+set.Source)
}

// EmbedTables embeds the tables that have not been. If it is cancelled, the next call goes on.
func (x *Index) EmbedTables(ctx context.Context) error {
	return storeFault(x.embedTables(ctx), "embedding tables")
}

// TableVersions returns the version of each source of the owner as of its last SyncTables.
func (x *Index) TableVersions(ctx context.Context, owner string) (map[string]string, error) {
	out := map[string]string{}
	err := eachRow(ctx, x.db, func(rows *sql.Rows) error {
		var name, version string
		err := rows.Scan(&name, &version)
		out[name] = version
		return err
	}, "SELECT name, version FROM schema_sources WHERE owner = ?", owner)
	return out, storeFault(err, "listing the sources of tables")
}

// RemoveTables forgets a source and its tables.
func (x *Index) RemoveTables(ctx context.Context, owner, source string) error {
	err := x.change(ctx, func(tx *sql.Tx) error {
		if err := storeTables(ctx, tx, TableSet{Owner: owner, Source: source}); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM schema_sources WHERE owner = ? AND name = ?", owner, source)
		return err
	})
	return storeFault(err, "forgetting the tables of "+source)
}

func storeTables(ctx context.Context, tx *sql.Tx, set TableSet) error {
	var source int64
	err := tx.QueryRowContext(ctx, "INSERT INTO schema_sources (owner, name, dialect, version) VALUES (?,?,?,?) ON CONFLICT (owner, name) DO UPDATE SET dialect = excluded.dialect, version = excluded.version RETURNING id", set.Owner, set.Source, set.Dialect, set.Version).Scan(&source)
	if err != nil {
		return err
	}
	known, err := knownTables(ctx, tx, source)
	if err != nil {
		return err
	}
	changed := false
	for _, t := range set.Tables {
		row, err := t.row()
		if err != nil {
			return err
		}
		old, there := known[t.Name]
		delete(known, t.Name)
		if there && old.hash == row.hash {
			continue
		}
		changed = true
		if there {
			if err := deleteTable(ctx, tx, old.id); err != nil {
				return err
			}
		}
		if err := row.insert(ctx, tx, source); err != nil {
			return err
		}
	}
	for _, gone := range known {
		changed = true
		if err := deleteTable(ctx, tx, gone.id); err != nil {
			return err
		}
	}
	if !changed {
		return nil
	}
	return raiseGeneration(ctx, tx, "tables")
}

type knownTable struct {
	id   int64
	hash string
}

func knownTables(ctx context.Context, tx *sql.Tx, source int64) (map[string]knownTable, error) {
	out := map[string]knownTable{}
	err := eachRow(ctx, tx, func(rows *sql.Rows) error {
		var name string
		var k knownTable
		err := rows.Scan(&name, &k.id, &k.hash)
		out[name] = k
		return err
	}, "SELECT name, id, hash FROM schema_tables WHERE source = ?", source)
	return out, err
}

func deleteTable(ctx context.Context, tx *sql.Tx, id int64) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM table_words WHERE rowid = ?", id); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM schema_tables WHERE id = ?", id)
	return err
}

// A tableRow is a table as it is stored.
type tableRow struct {
	name, columns, meaning, hash    string
	nameWords, columnWords, samples string
	about                           string
}

// row makes the texts of a table. What is embedded begins with what says most.
func (t TableText) row() (tableRow, error) {
	columns, err := json.Marshal(append([]schema.Column{}, t.Columns...))
	if err != nil {
		return tableRow{}, err
	}
	nameParts := strings.Split(t.Name, ".")
	own := strings.Join(splitName(nameParts[len(nameParts)-1]), " ")
	var names, texts []string
	for _, c := range t.Columns {
		names = append(names, strings.Join(splitName(c.Name), " "))
		if text := t.ColumnTexts[c.Name]; text != "" {
			texts = append(texts, text)
		}
	}
	r := tableRow{
		name: t.Name, columns: string(columns), nameWords: strings.Join(splitName(t.Name), " "), columnWords: strings.Join(names, ", "),
		about: strings.Join(slices.Concat([]string{t.Description}, texts, t.Terms), "\n"), samples: clipBytes(strings.Join(t.Samples, "\n"), maxSamples),
	}
	meaning := own
	if t.Description != "" {
		meaning += ". " + t.Description
	}
	meaning += ": " + r.columnWords
	for _, more := range slices.Concat(t.Terms, texts) {
		meaning += ". " + more
	}
	r.meaning = clipBytes(meaning, maxMeaning)
	sum := sha256.Sum256([]byte(strings.Join([]string{r.name, r.columns, r.meaning, r.about, r.samples}, "\x00")))
	r.hash = hex.EncodeToString(sum[:])
	return r, nil
}

func clipBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

func (r tableRow) insert(ctx context.Context, tx *sql.Tx, source int64) error {
	result, err := tx.ExecContext(ctx, "INSERT INTO schema_tables (source, name, columns, meaning, hash) VALUES (?,?,?,?,?)", source, r.name, r.columns, r.meaning, r.hash)
	if err != nil {
		return err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO table_words (rowid, name, columns, about, samples) VALUES (?,?,?,?,?)", id, r.nameWords, r.columnWords, r.about, r.samples)
	return err
}

// embedTables makes the missing vectors of all tables.
func (x *Index) embedTables(ctx context.Context) error {
	next := func(ctx context.Context, after int64, n int) (out []pending, err error) {
		err = eachRow(ctx, x.db, func(rows *sql.Rows) error {
			var p pending
			err := rows.Scan(&p.id, &p.text)
			out = append(out, p)
			return err
		}, "SELECT t.id, t.meaning FROM schema_tables t WHERE t.id > ? AND NOT EXISTS (SELECT 1 FROM table_vectors v WHERE v.id = t.id AND v.encoder = ?) ORDER BY t.id LIMIT ?", after, x.encoder.Name(), n)
		return out, err
	}
	return x.embedPending(ctx, "tables", "table_vectors", next, func(int) {})
}

// SearchTables returns the tables that a question is about, the most relevant first.
func (x *Index) SearchTables(ctx context.Context, q TableQuery) ([]Table, error) {
	if strings.TrimSpace(q.Text) == "" {
		return nil, fault.New(fault.BadRequest, "the question is empty")
	}
	if q.Limit = min(q.Limit, maxLimit); q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	found, err := x.searchTables(ctx, q)
	return found, storeFault(err, "searching tables")
}

func (x *Index) searchTables(ctx context.Context, q TableQuery) ([]Table, error) {
	question, err := x.embedQuestion(ctx, q.Text)
	if err != nil {
		return nil, err
	}
	tx, err := x.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	visible, err := visibleSources(ctx, tx, q)
	if err != nil {
		return nil, err
	}
	ranked, err := x.rank(ctx, tx, ranking{
		of: "tables", kept: &x.tables, load: loadTableVectors, texts: "schema_tables", words: "table_words", weights: "1.5, 1.0, 0.8, 0.5",
		group: "SELECT source FROM schema_tables WHERE id = ?", visible: visible, curve: x.curves.tables,
	}, q.Text, question, q.Limit)
	if err != nil {
		return nil, err
	}
	out := make([]Table, 0, len(ranked))
	for _, c := range ranked {
		t := Table{Relevancy: roundRelevancy(c.relevancy)}
		var columns []byte
		err := tx.QueryRowContext(ctx, "SELECT t.name, s.name, s.dialect, t.columns FROM schema_tables t JOIN schema_sources s ON s.id = t.source WHERE t.id = ?", c.id).Scan(&t.Name, &t.Source, &t.Dialect, &columns)
		if err == nil {
			err = json.Unmarshal(columns, &t.Columns)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// visibleSources are the ids of the sources that a question may look into.
func visibleSources(ctx context.Context, tx *sql.Tx, q TableQuery) (map[int64]bool, error) {
	out := map[int64]bool{}
	err := eachRow(ctx, tx, func(rows *sql.Rows) error {
		var id int64
		var name string
		err := rows.Scan(&id, &name)
		out[id] = len(q.Sources) == 0 || slices.Contains(q.Sources, name)
		return err
	}, "SELECT id, name FROM schema_sources WHERE owner IN ('', ?)", q.Owner)
	return out, err
}
