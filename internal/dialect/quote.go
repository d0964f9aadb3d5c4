package dialect

import "strings"

// A quoting is how names are quoted: the quote, and what is written for characters that
// cannot stand between two of them.
type quoting struct {
	quote  string
	escape *strings.Replacer
}

func (q quoting) write(name string) string { return q.quote + q.escape.Replace(name) + q.quote }

var (
	doubleQuotes = quoting{`"`, strings.NewReplacer(`"`, `""`)}
	backticks    = quoting{"`", strings.NewReplacer("`", "``")}
	// Engines in which a backslash escapes in names, too.
	escapedBackticks = quoting{"`", strings.NewReplacer(`\`, `\\`, "`", "\\`")}
)

// standardText writes a string literal in which only the quote is special.
func standardText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

var escapedText = strings.NewReplacer(`\`, `\\`, "'", "''")

// backslashText writes a string literal where a backslash escapes. The quote is doubled,
// so that the literal ends at the same place where a backslash does not.
func backslashText(s string) string { return "'" + escapedText.Replace(s) + "'" }
