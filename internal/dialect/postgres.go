package dialect

import "interlock/internal/schema"

var postgres = engine{
	name: "postgres", title: "PostgreSQL", quote: doubleQuotes, text: standardText, lexis: Lexis{Names: FoldsToLower},
	types: map[string]schema.Kind{
		"bool": schema.Bool, "int2": schema.Int, "int4": schema.Int, "int8": schema.Int, "oid": schema.Int,
		"float4": schema.Float, "float8": schema.Float, "numeric": schema.Decimal, "money": schema.Decimal,
		"date": schema.Date, "time": schema.Time, "timestamp": schema.Timestamp, "timestamptz": schema.TimestampTZ,
		"uuid": schema.UUID, "bytea": schema.Bytes, "json": schema.JSON, "jsonb": schema.JSON,
	},
	casts: map[schema.Kind]string{
		schema.Bool: "boolean", schema.Int: "bigint", schema.Uint: "numeric", schema.Decimal: "numeric", schema.Float: "double precision",
		schema.Date: "date", schema.Time: "time", schema.Timestamp: "timestamp", schema.TimestampTZ: "timestamptz", schema.UUID: "uuid",
	},
	otherCast: "text",
	keywords: words(`authorization binary bigint bit boolean char character coalesce current_catalog dec decimal float greatest inout
		int integer interval json json_array json_arrayagg json_object json_objectagg least merge_action national nchar none normalize
		nullif numeric out overlay position precision real session_user setof smallint substring system_user time timestamp treat trim
		varchar verbose xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`),
}
