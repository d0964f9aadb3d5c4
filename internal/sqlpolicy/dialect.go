package sqlpolicy

import (
	_ "embed"
	"maps"
	"slices"
)

// A Dialect is the SQL of an engine elsewhere, as far as the policy must know it:
// how its texts and names are quoted, so that its statements can be read by the
// parser that is here, and which functions and types they may name.
type Dialect struct {
	Name    string // for people
	words   vocabulary
	lexis   lexis
	itself  bool    // the engine itself decides, see [Judge]
	grammar grammar // the engine's own; nil: the statement is read by the parser that is here
}

// A grammar is the grammar of an engine elsewhere. It judges the tree that the engine
// itself would make of a statement, and the decision's SQL is printed from that tree:
// what is not in the tree is not in the text that runs.
type grammar interface {
	judge(scope Scope, sql string, limits Limits) (Decision, error)
}

// A vocabulary is what a statement may call and cast to.
type vocabulary struct {
	functions, tableFunctions, types, volatile map[string]bool

	operators map[string]bool // where the grammar of the engine judges them by name
}

// ours is the vocabulary of the embedded engine.
var ours = vocabulary{functions: allowedFunctions, tableFunctions: allowedTableFunctions, types: typeNames, volatile: volatileFunctions}

var (
	//go:embed functions/elsewhere.txt
	everywhereText string
	//go:embed functions/postgres.txt
	postgresText string
	//go:embed functions/mysql.txt
	mysqlFunctions string
	//go:embed functions/sqlite.txt
	sqliteText string
	//go:embed functions/clickhouse.txt
	clickhouseText string
	//go:embed functions/trino.txt
	trinoText string
	//go:embed functions/bigquery.txt
	bigqueryText string
	//go:embed functions/snowflake.txt
	snowflakeText string
)

// mysqlWords are MySQL's functions; its grammar knows the types.
var mysqlWords = vocabulary{functions: names(mysqlFunctions), volatile: elsewhere(``, ``, ``).volatile}

// postgresWords are the functions and types of PostgreSQL.
var postgresWords = func() vocabulary {
	v := elsewhere(postgresText, `unnest generate_series generate_subscripts json_each json_each_text jsonb_each jsonb_each_text
		json_array_elements json_array_elements_text jsonb_array_elements jsonb_array_elements_text json_object_keys jsonb_object_keys
		jsonb_path_query regexp_matches regexp_split_to_table string_to_table`, ``)
	v.types, v.operators = postgresTypes, postgresOperators
	return v
}()

// dialects by the names that sources have.
var dialects = map[string]*Dialect{
	"postgres": {Name: "PostgreSQL", words: postgresWords, grammar: postgresGrammar{postgresWords}},
	"mysql":    {Name: "MySQL", words: mysqlWords, grammar: mysqlGrammar{mysqlWords}},
	"sqlite": {
		Name: "SQLite", words: elsewhere(sqliteText, `json_each json_tree`, `any none`),
		itself: true,
	},
	"clickhouse": {
		Name: "ClickHouse", words: elsewhere(clickhouseText, `numbers`, `datetime64 date32 decimal32 decimal64 decimal128 fixedstring int256 uint256 float32 float64`),
		lexis: lexis{backslash: true, backticks: true, quote: "`", inTables: true},
	},
	"trino": {
		Name: "Trino", words: elsewhere(trinoText, `unnest`, `ipaddress hyperloglog`),
		lexis: lexis{quote: `"`, anyCase: true},
	},
	"bigquery": {
		Name: "BigQuery", words: elsewhere(bigqueryText, `unnest`, `float64 bignumeric bytes`),
		lexis: lexis{backslash: true, doubleText: true, triple: true, backticks: true, quote: "`"},
	},
	"snowflake": {
		Name: "Snowflake", words: elsewhere(snowflakeText, ``, `number timestamp_ntz timestamp_ltz timestamp_tz object byteint`),
		lexis: lexis{backslash: true, slashes: true, quote: `"`, bare: raised},
	},
}

// DialectFor finds a dialect by the name that its sources have: postgres, mysql,
// sqlite, clickhouse, trino, bigquery or snowflake.
func DialectFor(name string) (*Dialect, bool) {
	d, ok := dialects[name]
	return d, ok
}

// Functions lists what statements in this dialect may call, sorted.
func (d *Dialect) Functions() []string { return slices.Sorted(maps.Keys(d.words.functions)) }

// Judged says that the engine itself decides about statements, see [Judge].
func (d *Dialect) Judged() bool { return d.itself }

// TableFunctions lists what statements in this dialect may read from, sorted.
func (d *Dialect) TableFunctions() []string {
	return slices.Sorted(maps.Keys(d.words.tableFunctions))
}

// Volatile says that a function may answer differently in another run.
func (d *Dialect) Volatile(function string) bool { return d.words.volatile[function] }

// Operators lists the operators that may be used in this dialect, sorted, if its grammar
// judges them by name.
func (d *Dialect) Operators() []string { return slices.Sorted(maps.Keys(d.words.operators)) }

// Types lists the types that a cast may name, sorted.
func (d *Dialect) Types() []string { return slices.Sorted(maps.Keys(d.words.types)) }

// elsewhere is the vocabulary of an engine: what all share and what it adds.
func elsewhere(functions, tableFunctions, types string) vocabulary {
	v := vocabulary{functions: names(everywhereText), tableFunctions: names(tableFunctions), types: maps.Clone(typeNames), volatile: maps.Clone(volatileFunctions)}
	maps.Copy(v.functions, names(functions))
	maps.Copy(v.types, names(types))
	maps.Copy(v.volatile, names(`rand rand32 rand64 clock_timestamp statement_timestamp sysdate curdate curtime utc_date utc_time utc_timestamp localtime
		localtimestamp unix_timestamp yesterday current_datetime generate_uuid generateuuidv4 uuid_string uniform shuffle`))
	return v
}
