package sqlpolicy

import (
	"strings"

	pgquery "github.com/pganalyze/pg_query_go/v6"
)

// maxPostgresChain bounds the operators that can be nested without a bracket between
// two commas (NOT NOT NOT …, 1+1+1 …). The parser is recursive C on a stack that may
// have 2 MB; a thousand levels of anything take less than half of it.
const maxPostgresChain = 1000

// checkPostgresTokens bounds how deep the tree of a statement can become, before it is
// parsed. Only the scanner has seen the text then, which does not recurse.
func checkPostgresTokens(sql string, limits Limits) error {
	scan, err := pgquery.Scan(sql)
	if err != nil {
		return postgresSyntaxError(sql, err)
	}
	chains, unions := []int{0}, 0 // chains has one element for each open bracket
	total := 0
	for _, t := range scan.GetTokens() {
		at, end := int(t.GetStart()), int(t.GetEnd())
		switch kind := t.GetToken(); kind {
		case pgquery.Token_C_COMMENT:
			if body := sql[at:end]; strings.Contains(body[2:], "/*") || strings.HasPrefix(body, "/*!") || strings.HasPrefix(body, "/*+") || strings.HasPrefix(body, "/*M!") {
				return deny(RuleUnknown, at, "Leave the comment out.", "A comment that is nested or a hint is not possible in a statement for PostgreSQL.")
			}
		case pgquery.Token_USCONST, pgquery.Token_UIDENT:
			return deny(RuleUnknown, at, "Write the characters themselves.", "U& before a quote is not possible in a statement for PostgreSQL.")
		case pgquery.Token_SQL_COMMENT, pgquery.Token_IDENT, pgquery.Token_SCONST, pgquery.Token_ICONST, pgquery.Token_FCONST, pgquery.Token_ASCII_46:
		case pgquery.Token_ASCII_40, pgquery.Token_ASCII_91, pgquery.Token_CASE:
			if len(chains) > limits.Brackets {
				return deny(RuleTooDeep, at, "Use WITH to name the inner parts.", "More than %d brackets are open at once.", limits.Brackets)
			}
			chains = append(chains, 0)
		case pgquery.Token_ASCII_41, pgquery.Token_ASCII_93, pgquery.Token_END_P:
			if last := len(chains) - 1; last > 0 {
				total -= chains[last]
				chains = chains[:last]
			}
			chains[len(chains)-1]++ // what follows may nest around it: f(x)::text, (a)[1]
			total++
		case pgquery.Token_ASCII_44:
			total -= chains[len(chains)-1]
			chains[len(chains)-1] = 0
		case pgquery.Token_UNION, pgquery.Token_INTERSECT, pgquery.Token_EXCEPT:
			if unions++; unions > limits.Brackets {
				return deny(RuleTooDeep, at, "Split the question into several smaller ones.", "More than %d queries are put together.", limits.Brackets)
			}
		default:
			chains[len(chains)-1]++
			total++
		}
		if total > maxPostgresChain {
			return deny(RuleTooDeep, at, "Use WITH to name the inner parts, or IN (...) for long lists.", "The statement has too many operators in one expression.")
		}
	}
	return nil
}
