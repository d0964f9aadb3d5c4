package query

// A Format names how rows are laid out in a file.
type Format string

// The formats. Files are read in all of them but Arrow, results are exported in all
// of them but DuckDB.
const (
	CSV     Format = "csv" // and TSV: any delimiter
	NDJSON  Format = "ndjson"
	Array   Format = "json" // one array of objects, or objects in a row
	Parquet Format = "parquet"
	Excel   Format = "xlsx"
	Arrow   Format = "arrow"
	DuckDB  Format = "duckdb"
)

// An Import is one table to be made of files of one shape.
type Import struct {
	Table   string
	Files   []string
	Format  Format // "" = by the name of the first file
	Options ImportOptions
}

// ImportOptions say what cannot be seen, or is seen wrongly, in the files. Zero
// fields are found out.
type ImportOptions struct {
	Delimiter string            `json:"delimiter,omitempty"`
	Quote     string            `json:"quote,omitempty"`
	Header    *bool             `json:"header,omitempty"`
	Encoding  string            `json:"encoding,omitempty"` // an IANA name, such as windows-1252
	Types     map[string]string `json:"types,omitempty"`    // column name to the engine's type
	Sheet     string            `json:"sheet,omitempty"`    // of a workbook; "" = the first with rows
	From      string            `json:"from,omitempty"`     // table inside a DuckDB file; "" = the same name
}

// A Report says what became of each import.
type Report struct {
	Tables []TableReport `json:"tables"`
}

// A TableReport is one table of a built database.
type TableReport struct {
	Table    string   `json:"table"`
	Columns  []Column `json:"columns,omitempty"`
	Rows     int64    `json:"rows"`
	Rejected int64    `json:"rejected,omitempty"` // rows that could not be read
	Warnings []string `json:"warnings,omitempty"`
	Error    string   `json:"error,omitempty"` // why there is no such table
}

// Progress is called while a database is built, from one goroutine.
type Progress func(table string, rows int64)
