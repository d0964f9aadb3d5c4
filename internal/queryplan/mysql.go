package queryplan

// mysql is MySQL 8 and MariaDB. Their collations ignore case, so that texts are
// compared, grouped and sorted by code points of the character set of the
// connection, utf8mb4; blanks at their ends do not count all the same. Sums of whole
// numbers are decimals of few digits there, so that quotients are made of doubles.
var mysql = grammar{
	name: "MySQL", quote: quoted("`"), text: backslashed, escape: bang, wild: bangOnly, sets: standardSets, wrapLimits: true, aliasAlone: true,
	keywords: words(`accessible asensitive before bigint binary blob body call change char character condition continue convert cube
		cume_dist cursor databases day_hour day_microsecond day_minute day_second dec decimal declare delayed dense_rank deterministic
		distinctrow div double dual elseif elsif empty enclosed escaped exit first_value float float4 float8 force fulltext function get
		goto groups high_priority history hour_microsecond hour_minute hour_second infile inout insensitive int int1 int2 int3 int4 int8
		integer interval io_after_gtids io_before_gtids iterate json_table keys kill lag last_value lead leave library linear lines load
		lock long longblob longtext loop low_priority manual master_bind master_ssl_verify_server_cert maxvalue mediumblob mediumint
		mediumtext middleint minute_microsecond minute_second mod modifies no_write_to_binlog nth_value ntile numeric optimize
		optimizer_costs option optionally out outfile package page_checksum parallel parse_vcol_expr percent_rank period portion precision
		procedure purge raise rank read read_write reads real ref_system_id repeat require resignal return revoke rlike row_number rowcount
		rowtype schema schemas second_microsecond sensitive separator signal smallint spatial specific sql sql_big_result
		sql_calc_found_rows sql_small_result sqlexception sqlstate sqlwarning ssl starting stats_auto_recalc stats_persistent
		stats_sample_pages stored straight_join system system_time terminated tinyblob tinyint tinytext undo unlock unsigned usage use
		utc_date utc_time utc_timestamp varbinary varchar varcharacter varying versioning vector while write xor year_month zerofill`),
	forms: ansi.with(each("part", "$u($x)", parts)).
		with(each("text of", mysqlText, kinds)).
		with(forms{
			"avg": "avg(CAST($x AS DOUBLE))", "median": "", "stddev": "stddev_samp(CAST($x AS DOUBLE))",
			"share": "CAST($x AS DOUBLE) / nullif(sum($y) OVER (), 0)", "percent": "100.0 * CAST($x AS DOUBLE) / nullif(sum($y) OVER (), 0)",
			"divide": "CAST($x AS DOUBLE) / nullif($y, 0)",
			"length": "char_length($x)",
			"asc":    "$x IS NULL, $x", "asc last": "$x IS NULL, $x", "asc first": "$x", "desc last": "$x DESC", "desc first": "$x IS NULL DESC, $x DESC",
			"like": "$x LIKE $y ESCAPE '!'", "not_like": "$x NOT LIKE $y ESCAPE '!'",
			"match": "lower($x) LIKE lower($y) ESCAPE '!'", "not_match": "lower($x) NOT LIKE lower($y) ESCAPE '!'",
			"column of text": mysqlText, "key": mysqlText,

			"number of bool": "$x + 0", "whole of bool": "$x + 0",
			"text of bool":      "CASE WHEN $x THEN 'true' WHEN NOT $x THEN 'false' END",
			"number of text":    guarded("regexp_instr($x, $p) > 0", numeral, "CAST($x AS DOUBLE)"),
			"date of text":      guarded("regexp_instr($x, $p) > 0", moment, "CAST($x AS DATETIME(6))"),
			"moment of literal": "CAST($x AS DATETIME(6))",

			"part week": "week($x, 3)", "part day": "dayofmonth($x)", "part weekday": "weekday($x) + 1",
			"truncate year":    "CAST(makedate(year($x), 1) AS DATETIME)",
			"truncate quarter": "CAST(concat(year($x), '-', quarter($x) * 3 - 2, '-01') AS DATETIME)",
			"truncate month":   "CAST(subdate(date($x), dayofmonth($x) - 1) AS DATETIME)",
			"truncate week":    "CAST(subdate(date($x), weekday($x)) AS DATETIME)",
			"truncate day":     "CAST(date($x) AS DATETIME)",
			"truncate hour":    "CAST(date_format($x, '%Y-%m-%d %H:00:00') AS DATETIME)",

			"date_diff year":    "year($y) - year($x)",
			"date_diff quarter": "(year($y) - year($x)) * 4 + quarter($y) - quarter($x)",
			"date_diff month":   "(year($y) - year($x)) * 12 + month($y) - month($x)",
			"date_diff week":    "CAST(truncate(datediff($y, $x) / 7, 0) AS SIGNED)",
			"date_diff day":     "datediff($y, $x)",
			"date_diff hour":    "datediff($y, $x) * 24 + hour($y) - hour($x)",
		}),
}

const mysqlText = "CAST($x AS CHAR) COLLATE utf8mb4_bin"
