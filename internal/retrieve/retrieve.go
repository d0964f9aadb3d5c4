// Package retrieve finds passages of documents and tables of databases by what they mean and by their
// words. An [Index] is one SQLite file: texts, a full-text index (FTS5) and vectors. A search takes the
// best of both, gives each candidate a relevancy in [0, 1] and orders by it. Relevancy is calibrated, so
// that a threshold means the same for every collection (relevancy.go).
//
//	files --document--> parts --chunks--> texts and words (searchable at once) --embed--> vectors
//
// Everything has an owner. What belongs to nobody ("") is the operator's and everybody sees it. An Index
// may be used by several goroutines and its file by several processes at once. The package starts no
// goroutines.
package retrieve

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"modernc.org/sqlite"

	"interlock/internal/document"
	"interlock/internal/embed"
	"interlock/internal/fault"
)

// Config says where an index is and what it may hold.
type Config struct {
	// Path of the index file. Required. Its folder is made if it is missing.
	Path string
	// Encoder makes vectors. Default: the one of this program.
	Encoder embed.Encoder
	// Documents bounds what reading one document may cost.
	Documents document.Config
	// MaxChunks bounds the passages of all documents. Default 500,000.
	MaxChunks int
	// MaxFiles bounds the documents of one folder. Default 20,000.
	MaxFiles int
}

// An Index holds documents and tables.
type Index struct {
	// fixed at creation
	cfg     Config
	db      *sql.DB
	encoder embed.Encoder
	curves  calibration

	writing sync.Mutex // one writer of this process at a time

	mu        sync.Mutex
	passages  *vectorTable // of the chunks, as of its generation
	tables    *vectorTable
	questions map[string]embed.Packed // vectors of questions that were asked last
}

// Open opens an index, and makes the file if it is missing.
func Open(c Config) (*Index, error) {
	if c.Path == "" {
		return nil, fault.New(fault.BadSetting, "an index needs the path of a file")
	}
	c.MaxChunks = cmp.Or(c.MaxChunks, 500_000)
	c.MaxFiles = cmp.Or(c.MaxFiles, 20_000)
	if c.Encoder == nil {
		c.Encoder = embed.Open()
	}
	x := &Index{cfg: c, encoder: c.Encoder, curves: calibrationOf(c.Encoder)}
	if _, words := c.Encoder.(embed.Words); !words {
		x.encoder = glossing{c.Encoder}
	}
	if err := x.openFile(); err != nil {
		return nil, fault.Wrap(err, fault.StoreFailed, "the index of documents %s cannot be opened: %v", c.Path, err).
			Suggest("Remove the file: `interlock docs add` makes it anew.")
	}
	return x, nil
}

// Close closes the file.
func (x *Index) Close() error { return x.db.Close() }

// schemaVersion is raised when the tables below change. An index of the version before it is brought up to date, an older
// one is refused: it can be made anew.
const schemaVersion = 3

// chunkWordsSQL makes the full-text index of passages. A gloss is a German passage in English.
const chunkWordsSQL = `CREATE VIRTUAL TABLE chunk_words USING fts5 (content, heading, gloss, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');`

const insertWords = "INSERT INTO chunk_words (rowid, content, heading, gloss) VALUES (?,?,?,?)"

const tablesSQL = `
CREATE TABLE documents (
	id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, collection TEXT NOT NULL, thread TEXT NOT NULL,
	folder TEXT NOT NULL, file TEXT NOT NULL, title TEXT NOT NULL, hash TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
	pages INTEGER NOT NULL, notes TEXT NOT NULL, problem TEXT NOT NULL, added INTEGER NOT NULL,
	UNIQUE (owner, collection, thread, folder, file)
);
CREATE TABLE chunks (
	id INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
	number INTEGER NOT NULL, place TEXT NOT NULL, content TEXT NOT NULL, heading TEXT NOT NULL DEFAULT ''
);
CREATE INDEX chunks_of_document ON chunks (document, number);
CREATE TABLE chunk_vectors (id INTEGER PRIMARY KEY REFERENCES chunks(id) ON DELETE CASCADE, encoder TEXT NOT NULL, vector BLOB NOT NULL);
` + chunkWordsSQL + `
CREATE TABLE schema_sources (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, dialect TEXT NOT NULL, version TEXT NOT NULL, UNIQUE (owner, name));
CREATE TABLE schema_tables (
	id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES schema_sources(id) ON DELETE CASCADE, name TEXT NOT NULL,
	columns TEXT NOT NULL, meaning TEXT NOT NULL, hash TEXT NOT NULL, UNIQUE (source, name)
);
CREATE TABLE table_vectors (id INTEGER PRIMARY KEY REFERENCES schema_tables(id) ON DELETE CASCADE, encoder TEXT NOT NULL, vector BLOB NOT NULL);
CREATE VIRTUAL TABLE table_words USING fts5 (name, columns, about, samples, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
CREATE TABLE generations (of TEXT PRIMARY KEY, number INTEGER NOT NULL);
INSERT INTO generations VALUES ('documents', 1), ('tables', 1);
`

func (x *Index) openFile() error {
	path, err := filepath.Abs(x.cfg.Path)
	if err != nil {
		return err
	}
	if err := createPrivate(path); err != nil {
		return err
	}
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(1)", "cache_size(-16384)", "secure_delete(1)"}}
	u := url.URL{Path: filepath.ToSlash(path)}
	connector, err := sqlite.NewConnector("file:" + u.EscapedPath() + "?" + q.Encode())
	if err != nil {
		return err
	}
	x.db = sql.OpenDB(connector)
	x.db.SetMaxOpenConns(4)
	if err := x.prepareTables(path); err != nil {
		return errors.Join(err, x.db.Close())
	}
	return nil
}

func createPrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// prepareTables makes the tables of an empty file.
func (x *Index) prepareTables(path string) error {
	ctx := context.Background() // opening takes no context: it waits for other processes 10 s at most
	return x.change(ctx, func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, spellingSQL); err != nil || version == schemaVersion {
			return err
		}
		finish := fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)
		switch version {
		case 0:
			_, err := tx.ExecContext(ctx, tablesSQL+finish)
			return err
		case schemaVersion - 1:
			return errors.Join(addGlosses(ctx, tx), execute(ctx, tx, finish))
		}
		return fmt.Errorf("%s was written by another version", path)
	})
}

func execute(ctx context.Context, tx *sql.Tx, statement string) error {
	_, err := tx.ExecContext(ctx, statement)
	return err
}

// addGlosses brings an index up to date that has no glosses and no headings of passages.
func addGlosses(ctx context.Context, tx *sql.Tx) error {
	if err := execute(ctx, tx, "ALTER TABLE chunks ADD COLUMN heading TEXT NOT NULL DEFAULT ''; DROP TABLE chunk_words; "+chunkWordsSQL); err != nil {
		return err
	}
	for after := int64(0); ; {
		texts := map[int64]labelledText{}
		if err := eachRow(ctx, tx, func(rows *sql.Rows) error {
			var t labelledText
			err := rows.Scan(&after, &t.title, &t.file, &t.place, &t.content)
			texts[after] = t
			return err
		}, "SELECT c.id, d.title, d.file, c.place, c.content FROM chunks c JOIN documents d ON d.id = c.document WHERE c.id > ? ORDER BY c.id LIMIT 1000", after); err != nil {
			return err
		}
		if len(texts) == 0 {
			break
		}
		for id, t := range texts {
			if _, err := tx.ExecContext(ctx, insertWords, id, t.content, t.label(), t.gloss()); err != nil {
				return err
			}
		}
	}
	return raiseGeneration(ctx, tx, "documents")
}

// change runs a transaction that writes.
func (x *Index) change(ctx context.Context, do func(*sql.Tx) error) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// DocumentsVersion changes whenever the documents of the index do.
func (x *Index) DocumentsVersion(ctx context.Context) (string, error) {
	var number int64
	err := x.db.QueryRowContext(ctx, "SELECT number FROM generations WHERE of = 'documents'").Scan(&number)
	return strconv.FormatInt(number, 10), storeFault(err, "looking up the version")
}

// storeFault wraps an error of the file, which says what was tried.
func storeFault(err error, doing string) error {
	if _, known := errors.AsType[*fault.Fault](err); known || err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.Wrap(err, fault.StoreFailed, "%s failed in the index of documents: %v", doing, err)
}

// A querier is the index's file or a transaction on it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// eachRow hands every row of a statement to scan.
func eachRow(ctx context.Context, q querier, scan func(*sql.Rows) error, statement string, args ...any) error {
	rows, err := q.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
