package dialect

import "interlock/internal/schema"

// mysql is MySQL and MariaDB; what one of the two reserves is quoted for both.
var mysql = engine{
	name: "mysql", title: "MySQL", quote: backticks, text: backslashText, lexis: Lexis{Backslash: true, Backticks: true},
	types: map[string]schema.Kind{
		"tinyint": schema.Int, "smallint": schema.Int, "mediumint": schema.Int, "int": schema.Int, "bigint": schema.Int, "year": schema.Int, "bit": schema.Int,
		"float": schema.Float, "double": schema.Float, "decimal": schema.Decimal,
		"date": schema.Date, "datetime": schema.Timestamp, "timestamp": schema.TimestampTZ, "uuid": schema.UUID, "json": schema.JSON,
		"binary": schema.Bytes, "varbinary": schema.Bytes, "tinyblob": schema.Bytes, "blob": schema.Bytes, "mediumblob": schema.Bytes, "longblob": schema.Bytes,
		"geometry": schema.Bytes, "point": schema.Bytes, "linestring": schema.Bytes, "polygon": schema.Bytes,
	},
	casts: map[schema.Kind]string{
		schema.Uint: "UNSIGNED", schema.Decimal: "DECIMAL(%d,%d)", schema.Text: "BINARY",
		schema.Date: "DATE", schema.Time: "TIME(6)", schema.Timestamp: "DATETIME(6)", schema.TimestampTZ: "DATETIME(6)", // the session's zone is UTC
	},
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
}
