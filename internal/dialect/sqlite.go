package dialect

import "interlock/internal/schema"

var sqlite = engine{
	name: "sqlite", title: "SQLite", quote: doubleQuotes, text: standardText,
	casts: map[schema.Kind]string{schema.Decimal: "REAL"},
}
