package sqlpolicy

import (
	"slices"
	"strings"

	"interlock/internal/dialect"
)

// An emitted text is printed tokens, with the byte at which each begins.
type emitted struct {
	text   string
	starts []int
}

// emit prints tokens with a blank between them, except around points, commas and
// brackets. checkNeighbours has made sure that no two of them run together.
func emit(tokens []token, write func(token) string) emitted {
	var (
		out strings.Builder
		e   emitted
	)
	for i, t := range tokens {
		if i > 0 {
			last := tokens[i-1]
			called := t.is("(") && t.touching && last.kind == wordToken
			if !t.is(".") && !last.is(".") && !t.is(",") && !t.is(")") && !last.is("(") && !called {
				out.WriteByte(' ')
			}
		}
		e.starts = append(e.starts, out.Len())
		out.WriteString(write(t))
	}
	e.text = out.String()
	return e
}

// token finds the token at a byte of the text, -1 if none begins there.
func (e emitted) token(at int) int { return slices.Index(e.starts, at) }

// parserText prints a token for the embedded engine's parser.
func (r *Rules) parserText(t token) string {
	switch {
	case t.kind == textToken:
		return dialect.DuckDB.Text(t.text)
	case t.kind == nameToken:
		return dialect.DuckDB.Quote(t.text)
	case t.kind == wordToken && r.dialect.Lexis().Names == dialect.FoldsToUpper:
		return strings.ToUpper(t.text)
	}
	return t.text
}

// backslashQuotes writes a text on one line where a backslash escapes.
var backslashQuotes = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// engineText prints a token for the engine that runs the statement.
func (r *Rules) engineText(t token) string {
	switch {
	case t.kind == textToken && r.dialect.Lexis().Backslash:
		return "'" + backslashQuotes.Replace(t.text) + "'"
	case t.kind == textToken:
		return r.dialect.Text(t.text)
	case t.kind == nameToken:
		return r.dialect.Quote(t.text)
	}
	return t.text
}

// forbiddenWords write, lock or change how a statement runs in some engine, while the
// embedded engine's parser may take them for names.
var forbiddenWords = names(`into outfile dumpfile settings format procedure`)

// checkWords refuses words that mean more to the engine than to the parser.
func (r *Rules) checkWords(tokens []token) error {
	for i, t := range tokens {
		word, called := fold(t.text), i+1 < len(tokens) && tokens[i+1].is("(")
		switch {
		case t.kind != wordToken:
		case forbiddenWords[word] && !(called && r.words.functions[word]):
			return r.refuse(t.at, strings.ToUpper(word), "Leave it out, or put it in quotes if it is a name.")
		case word == "in" && r.inTables && namesTable(tokens[i+1:]):
			return r.refuse(t.at, "IN with a name", "Write IN (SELECT … FROM …), or IN with a list of values.")
		}
	}
	return nil
}

// namesTable says that what follows IN may be the name of a table: a name, with a
// schema before it or not, in brackets or not.
func namesTable(tokens []token) bool {
	open := 0
	for len(tokens) > 0 && tokens[0].is("(") {
		tokens, open = tokens[1:], open+1
	}
	if len(tokens) == 0 || open == 0 {
		return true
	}
	for len(tokens) > 2 && tokens[0].isName() && tokens[1].is(".") {
		tokens = tokens[2:]
	}
	return tokens[0].isName() && (len(tokens) == 1 || tokens[1].is(")"))
}

// withPrefix begins the names of WITH in the text for the engine. Engines differ in
// where such a name is visible; where it is not, no table has that name either.
const withPrefix = "interlock_with_"

// renameWith adds the prefix to the names of WITH, except behind a point.
func (r *Rules) renameWith(tokens []token, scope Scope, given []string) ([]token, error) {
	same := func(a, b string) bool { return fold(a) == fold(b) }
	out := slices.Clone(tokens)
	for _, name := range given {
		taken := r.words.functions[fold(name)]
		for _, t := range scope.Tables {
			taken = taken || same(t.Name, name) || slices.ContainsFunc(t.Columns, func(c string) bool { return same(c, name) })
		}
		for i, t := range out {
			if !t.isName() || !same(t.text, name) || strings.HasPrefix(t.text, withPrefix) || i > 0 && out[i-1].is(".") {
				continue
			}
			if taken {
				return nil, r.refuse(t.at, "WITH under the name of a table, a column or a function", "Give it another name.")
			}
			out[i].text = withPrefix + t.text
		}
	}
	return out, nil
}

// dropAlias removes the dataset's name and its point at every edit.
func (r *Rules) dropAlias(tokens []token, e emitted, alias string, edits []edit) ([]token, error) {
	drop := map[int]bool{}
	for _, edit := range edits {
		i := e.token(edit.at)
		if i < 0 || i+2 >= len(tokens) || !tokens[i].isName() || fold(tokens[i].text) != fold(alias) || !tokens[i+1].is(".") {
			return nil, deny(RuleTable, -1, "Write the table names without the dataset's name.", "The dataset's name before a table cannot be taken away here.")
		}
		drop[i], drop[i+1] = true, true
	}
	var out []token
	for i, t := range tokens {
		if !drop[i] {
			out = append(out, t)
		}
	}
	return out, nil
}
