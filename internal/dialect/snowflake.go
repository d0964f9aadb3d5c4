package dialect

import "interlock/internal/schema"

var snowflake = engine{
	name: "snowflake", title: "Snowflake", quote: doubleQuotes, text: backslashText,
	lexis: Lexis{Backslash: true, SlashComments: true, Names: FoldsToUpper},
	types: map[string]schema.Kind{
		"BOOLEAN": schema.Bool, "FLOAT": schema.Float, "REAL": schema.Float, "DOUBLE": schema.Float, "DATE": schema.Date, "TIME": schema.Time,
		"TIMESTAMP_NTZ": schema.Timestamp, "TIMESTAMP_LTZ": schema.TimestampTZ, "TIMESTAMP_TZ": schema.TimestampTZ,
		"BINARY": schema.Bytes, "TEXT": schema.Text,
	},
	casts: map[schema.Kind]string{
		schema.Float: "DOUBLE", schema.Uint: "NUMBER(20,0)", schema.Decimal: "NUMBER(%d,%d)", schema.Date: "DATE", schema.Time: "TIME(6)",
		schema.Timestamp: "TIMESTAMP_NTZ(6)", schema.TimestampTZ: "TIMESTAMP_TZ(6)",
	},
	keywords: words(`account connection gscluster increment issue minus organization regexp revoke rlike sample schema start trigger`),
}
