package sqlpolicy

import (
	_ "embed"
	"strings"
)

// The reviewed lists. Together they name every function of the engine; a test
// fails when the engine grows one, so that a person looks at it.
var (
	//go:embed functions/allowed.txt
	allowedText string
	//go:embed functions/denied.txt
	deniedText string
	//go:embed functions/denied_tables.txt
	deniedTablesText string

	allowedFunctions     = names(allowedText)
	deniedFunctions      = names(deniedText)
	deniedTableFunctions = names(deniedTablesText)

	allowedTableFunctions = names(`range generate_series unnest json_each json_tree`)

	// volatileFunctions may answer differently in another run.
	volatileFunctions = names(`random gen_random_uuid uuid uuidv4 uuidv7 now today current_date current_time current_timestamp
		get_current_timestamp get_current_time transaction_timestamp current_localtime current_localtimestamp ago reservoir_quantile
		approx_count_distinct approx_quantile approx_top_k any_value arbitrary`)
)

// A Verdict says what the reviewed lists say about a function.
type Verdict string

// The verdicts.
const (
	Allowed Verdict = "allowed"
	Denied  Verdict = "denied"
	Unknown Verdict = "unknown"
)

// Function looks a scalar, aggregate or macro function up in the reviewed lists.
func Function(name string) Verdict { return lookUp(fold(name), allowedFunctions, deniedFunctions) }

// TableFunction looks a table function or table macro up.
func TableFunction(name string) Verdict {
	return lookUp(fold(name), allowedTableFunctions, deniedTableFunctions)
}

func lookUp(name string, allowed, denied map[string]bool) Verdict {
	switch {
	case allowed[name]:
		return Allowed
	case denied[name]:
		return Denied
	}
	return Unknown
}

// names reads a list of words; a # begins a comment that ends with the line.
func names(list string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(list) {
		line, _, _ = strings.Cut(line, "# ")
		for _, w := range strings.Fields(line) {
			out[w] = true
		}
	}
	return out
}
