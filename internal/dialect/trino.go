package dialect

var trino = engine{
	name: "trino", title: "Trino", quote: doubleQuotes, text: standardText,
	keywords: words(`cube current_path deallocate execute extract json_array json_exists json_object json_query json_table json_value
		listagg normalize prepare rollup skip trim uescape unnest`),
}
