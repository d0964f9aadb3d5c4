package dialect

import "interlock/internal/schema"

var clickhouse = engine{
	name: "clickhouse", title: "ClickHouse", quote: escapedBackticks, text: backslashText,
	lexis: Lexis{Backslash: true, Backticks: true, Names: KeepsCase},
	types: map[string]schema.Kind{
		"Bool": schema.Bool, "Int8": schema.Int, "Int16": schema.Int, "Int32": schema.Int, "Int64": schema.Int,
		"UInt8": schema.Int, "UInt16": schema.Int, "UInt32": schema.Int, "UInt64": schema.Uint,
		"Float32": schema.Float, "Float64": schema.Float, "Decimal": schema.Decimal, "Date": schema.Date, "Date32": schema.Date,
		"DateTime": schema.TimestampTZ, "DateTime64": schema.TimestampTZ, "UUID": schema.UUID,
		"Array": schema.Other, "Tuple": schema.Other, "Map": schema.Other, "Nested": schema.Other, "JSON": schema.Other,
	},
	casts: map[schema.Kind]string{
		schema.Bool: "Bool", schema.Int: "Int64", schema.Uint: "UInt64", schema.Float: "Float64", schema.Decimal: "Decimal(%d, %d)",
		schema.Date: "Date32", schema.Timestamp: "DateTime64(6, 'UTC')", schema.TimestampTZ: "DateTime64(6, 'UTC')", schema.UUID: "UUID",
	},
	otherCast: "String",
	keywords: words(`apply array date day div extract final first format global hour inf interval last mod month nan prewhere quarter sample
		second settings substring timestamp trim week year`),
}
