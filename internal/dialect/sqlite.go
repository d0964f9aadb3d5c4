package dialect

var sqlite = engine{name: "sqlite", title: "SQLite", quote: doubleQuotes, text: standardText}
