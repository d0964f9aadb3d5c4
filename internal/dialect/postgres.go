package dialect

var postgres = engine{
	name: "postgres", title: "PostgreSQL", quote: doubleQuotes, text: standardText, lexis: Lexis{Names: FoldsToLower},
	keywords: words(`authorization binary bigint bit boolean char character coalesce current_catalog dec decimal float greatest inout
		int integer interval json json_array json_arrayagg json_object json_objectagg least merge_action national nchar none normalize
		nullif numeric out overlay position precision real session_user setof smallint substring system_user time timestamp treat trim
		varchar verbose xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`),
}
