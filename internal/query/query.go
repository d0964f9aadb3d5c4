// Package query is the embedded engine: DuckDB in confined worker processes, each
// a re-exec of this binary. Nothing runs that sqlpolicy has not allowed: there is
// no other way to a worker than Engine.Run and its siblings.
package query

import (
	"encoding/json"
	"time"

	sqldialect "interlock/internal/dialect"
	"interlock/internal/schema"
	"interlock/internal/sqlpolicy"
)

// A Database is one dataset version as the engine sees it: a file that this
// program wrote, and the tables of it that a statement may touch.
type Database struct {
	Path   string // a .duckdb file, opened read-only
	Tables []sqlpolicy.Table
	Alias  string // the dataset's id: `alias.table` is read as `table`
	// Version is the dataset's version that the file holds; "" where it holds none.
	Version string
	// Attached are further files that this program wrote, whose tables a statement may name
	// as if they were in the first: earlier results. A table of the first wins.
	Attached []string
	// Remote is set if another engine has the rows. The file then has the tables without
	// rows, and statements are checked here and run there.
	Remote *Remote
}

// A Remote is the engine that has the rows of a database which was not imported.
type Remote struct {
	Dialect sqldialect.Dialect
	Schema  string // the tables' schema there; statements may write it before their names
	// Judge is the remote engine itself, if it checks statements while it prepares them.
	Judge sqlpolicy.Judge
}

// A Request is one statement to run. Zero limits are the engine's defaults.
type Request struct {
	Database Database
	SQL      string
	Args     []string // values of $1, $2 …, bound as text; never from whoever wrote the SQL
	MaxRows  int
	MaxBytes int
	MaxCell  int // bytes of one text
	Timeout  time.Duration
	CountAll bool   // where rows are cut off, say how many there are
	User     string // for fair admission
}

// A Result is rows as typed JSON: an array of arrays. Integers beyond 2^53, exact
// decimals that a float cannot hold and timestamps are text, so that nothing is lost.
type Result struct {
	Columns  []schema.Column
	Rows     json.RawMessage
	RowCount int
	Limited  bool // more rows exist than were read
	// Total is how many rows there are. AtLeast says that it is only a lower bound.
	Total   int64
	AtLeast bool
	// CopiedAt is when the rows were copied from a database; zero where they were not.
	CopiedAt      time.Time
	Cut           int // texts that were longer than allowed and end in …
	Elapsed       time.Duration
	Decision      sqlpolicy.Decision // what it touched
	Live          bool               // the rows stay in their database and may change at any time
	Version       string             // of the Database that was read
	EarlierTables []string           // the tables read that are not the dataset's own, but earlier results
}
