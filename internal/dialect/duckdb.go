package dialect

// duckdb is the embedded engine, in which files are read and most plans run.
var duckdb = engine{name: "duckdb", title: "DuckDB", quote: doubleQuotes, text: standardText}
