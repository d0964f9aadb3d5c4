package sqlpolicy

import (
	_ "embed"
	"maps"
	"slices"

	"interlock/internal/dialect"
)

// Rules are what the policy knows about an engine in which whole statements run: which
// functions and types they may name, and who reads them.
type Rules struct {
	dialect  dialect.Dialect
	words    vocabulary
	grammar  grammar // the engine's own; nil: the statement is read token by token
	byEngine bool    // the engine itself decides, see [Judge]
	inTables bool    // x IN name reads the table of that name
}

// A grammar parses statements as the engine itself would and judges the tree. The SQL
// of its decision is printed from that tree, so that nothing else can run.
type grammar interface {
	judge(scope Scope, sql string, limits Limits) (Decision, error)
}

// A vocabulary is what a statement may call and cast to.
type vocabulary struct {
	functions, tableFunctions, types, volatile map[string]bool

	operators map[string]bool // where the grammar of the engine judges them by name
}

// embedded is the vocabulary of the embedded engine.
var embedded = vocabulary{functions: allowedFunctions, tableFunctions: allowedTableFunctions, types: typeNames, volatile: volatileFunctions}

var (
	//go:embed functions/common.txt
	commonText string
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
	//go:embed functions/snowflake.txt
	snowflakeText string
)

// mysqlWords are MySQL's functions; its grammar knows the types.
var mysqlWords = vocabulary{functions: names(mysqlFunctions), volatile: remoteVocabulary(``, ``, ``).volatile}

// postgresWords are the functions and types of PostgreSQL.
var postgresWords = func() vocabulary {
	v := remoteVocabulary(postgresText, `unnest generate_series generate_subscripts json_each json_each_text jsonb_each jsonb_each_text
		json_array_elements json_array_elements_text jsonb_array_elements jsonb_array_elements_text json_object_keys jsonb_object_keys
		jsonb_path_query regexp_matches regexp_split_to_table string_to_table`, ``)
	v.types, v.operators = postgresTypes, postgresOperators
	return v
}()

// remoteRules has the rules of every engine in which whole statements run.
var remoteRules = []*Rules{
	{dialect: dialect.PostgreSQL, words: postgresWords, grammar: postgresGrammar{postgresWords}},
	{dialect: dialect.MySQL, words: mysqlWords, grammar: mysqlGrammar{mysqlWords}},
	{dialect: dialect.SQLite, words: remoteVocabulary(sqliteText, `json_each json_tree`, `any none`), byEngine: true},
	{
		dialect:  dialect.ClickHouse,
		words:    remoteVocabulary(clickhouseText, `numbers`, `datetime64 date32 decimal32 decimal64 decimal128 fixedstring int256 uint256 float32 float64`),
		inTables: true,
	},
	{dialect: dialect.Trino, words: remoteVocabulary(trinoText, `unnest`, `ipaddress hyperloglog`)},
	{dialect: dialect.Snowflake, words: remoteVocabulary(snowflakeText, ``, `number timestamp_ntz timestamp_ltz timestamp_tz object byteint`)},
}

// RulesFor gives the rules for whole statements in an engine, if they may run there.
func RulesFor(d dialect.Dialect) (*Rules, bool) {
	for _, r := range remoteRules {
		if r.dialect == d {
			return r, true
		}
	}
	return nil, false
}

// Functions lists what statements in this dialect may call, sorted.
func (r *Rules) Functions() []string { return slices.Sorted(maps.Keys(r.words.functions)) }

// ByEngine says that the engine itself decides about statements, see [Judge].
func (r *Rules) ByEngine() bool { return r.byEngine }

// TableFunctions lists what statements in this dialect may read from, sorted.
func (r *Rules) TableFunctions() []string {
	return slices.Sorted(maps.Keys(r.words.tableFunctions))
}

// Volatile says that a function may answer differently in another run.
func (r *Rules) Volatile(function string) bool { return r.words.volatile[function] }

// Operators lists the operators that may be used in this dialect, sorted, if its grammar
// judges them by name.
func (r *Rules) Operators() []string { return slices.Sorted(maps.Keys(r.words.operators)) }

// Types lists the types that a cast may name, sorted.
func (r *Rules) Types() []string { return slices.Sorted(maps.Keys(r.words.types)) }

// remoteVocabulary is what statements for an engine may name: what all engines share,
// and what it adds.
func remoteVocabulary(functions, tableFunctions, types string) vocabulary {
	v := vocabulary{functions: names(commonText), tableFunctions: names(tableFunctions), types: maps.Clone(typeNames), volatile: maps.Clone(volatileFunctions)}
	maps.Copy(v.functions, names(functions))
	maps.Copy(v.types, names(types))
	maps.Copy(v.volatile, names(`rand rand32 rand64 clock_timestamp statement_timestamp sysdate curdate curtime utc_date utc_time utc_timestamp localtime
		localtimestamp unix_timestamp yesterday current_datetime generate_uuid generateuuidv4 uuid_string uniform shuffle`))
	return v
}
