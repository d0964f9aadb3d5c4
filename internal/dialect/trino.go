package dialect

import "interlock/internal/schema"

var trino = engine{
	name: "trino", title: "Trino", quote: doubleQuotes, text: standardText,
	types: map[string]schema.Kind{
		"boolean": schema.Bool, "tinyint": schema.Int, "smallint": schema.Int, "integer": schema.Int, "bigint": schema.Int,
		"real": schema.Float, "double": schema.Float, "decimal": schema.Decimal,
		"date": schema.Date, "time": schema.Time, "timestamp": schema.Timestamp, "uuid": schema.UUID,
		"array": schema.Other, "map": schema.Other, "row": schema.Other, "json": schema.Other, "varbinary": schema.Other,
	},
	casts: map[schema.Kind]string{
		schema.Float: "DOUBLE", schema.Uint: "DECIMAL(20,0)", schema.Decimal: "DECIMAL(%d,%d)", schema.Date: "DATE", schema.Time: "TIME(6)",
		schema.Timestamp: "TIMESTAMP(6)", schema.TimestampTZ: "TIMESTAMP(6) WITH TIME ZONE", schema.UUID: "UUID",
	},
	keywords: words(`cube current_path deallocate execute extract json_array json_exists json_object json_query json_table json_value
		listagg normalize prepare rollup skip trim uescape unnest`),
}
