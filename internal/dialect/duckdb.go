package dialect

// duckdb is the embedded engine, in which files are read and most plans run. Its types
// are those of package schema.
var duckdb = engine{name: "duckdb", title: "DuckDB", quote: doubleQuotes, text: standardText}
