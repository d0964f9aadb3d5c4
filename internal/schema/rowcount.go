package schema

import "fmt"

// RowsShown says how many rows of a result are shown, of those that were given. total is how
// many the result has, as far as that is known; atLeast says that it may have more.
func RowsShown(shown, given, total int, atLeast bool) string {
	switch {
	case total > given: // the rest is known to exist
		return fmt.Sprintf("the first %d of %d rows", shown, total)
	case atLeast:
		return fmt.Sprintf("the first %d of more than %d rows", shown, total)
	case shown < total:
		return fmt.Sprintf("the first %d of %d rows", shown, total)
	case total == 1:
		return "1 row"
	}
	return fmt.Sprintf("%d rows", total)
}
