package sqlpolicy

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"interlock/internal/dialect"
	"interlock/internal/fault"
)

// decideByTokens decides about a statement for an engine whose grammar has no parser in
// this program. The text is cut into tokens, and the tokens are printed twice: for the
// embedded engine's parser, whose tree is walked with the functions and types of the
// dialect, and for the engine that runs the statement. Neither gets the original text.
func (p *Policy) decideByTokens(ctx context.Context, parser Parser, scope Scope, rules *Rules, sql string) (Decision, error) {
	tokens, err := rules.tokenize(sql)
	if err == nil {
		err = rules.checkWords(tokens)
	}
	if err != nil {
		return Decision{}, err
	}
	r, text, err := p.walkTokens(ctx, parser, scope, rules, tokens)
	if err != nil {
		return Decision{}, err
	}
	if len(r.edits) > 0 || len(r.with) > 0 {
		if tokens, err = rules.dropAlias(tokens, text, scope.Alias, r.edits); err != nil {
			return Decision{}, err
		}
		if tokens, err = rules.renameWith(tokens, scope, r.with); err != nil {
			return Decision{}, err
		}
		scope.Alias = ""
		if r, text, err = p.walkTokens(ctx, parser, scope, rules, tokens); err != nil {
			return Decision{}, err
		}
	}
	return Decision{
		SQL: emit(tokens, rules.engineText).text, Touches: p.remoteTouches(ctx, parser, scope, text.text, r),
		Functions: r.functionNames(), Volatile: r.volatile, HasLimit: r.limit, Limit: r.limitRows, HasOrder: r.order, Lineage: r.lineage,
	}, nil
}

// walkTokens prints the tokens for the embedded engine's parser and walks its tree.
// Positions in refusals are those of the original statement.
func (p *Policy) walkTokens(ctx context.Context, parser Parser, scope Scope, rules *Rules, tokens []token) (*reading, emitted, error) {
	text := emit(tokens, rules.parserText)
	r, err := p.walkText(ctx, parser, scope, text.text)
	if denied, ok := errors.AsType[*denial](err); ok {
		if i := text.token(denied.at); i >= 0 {
			denied.at = tokens[i].at
		} else {
			denied.at = -1
		}
		return nil, text, denied
	}
	if f := fault.From(err); err != nil && f.Code == fault.SQLError {
		return nil, text, f.Suggest("Say it with SQL that most systems share: a statement for %s runs only if it can be read here first.", scope.Dialect.Title())
	}
	return r, text, err
}

// remoteTouches lists the tables and columns that a statement reads. The embedded
// engine's binder resolves the names over empty tables of the same columns. Where it
// does not know a function of the other engine, every column of a table that the
// statement names anywhere counts as read.
func (p *Policy) remoteTouches(ctx context.Context, parser Parser, scope Scope, text string, r *reading) []Touch {
	if plan, err := parser.Plan(ctx, text); err == nil {
		if touches, err := checkPlan(string(plan), text, scope, r); err == nil {
			return touches
		}
	}
	var out []Touch
	for _, t := range scope.Tables {
		if !r.tables[scope.tableKey(t.Name)] {
			continue
		}
		touch := Touch{Table: t.Name, Columns: []string{}}
		for _, c := range t.Columns {
			if r.star || r.columns[fold(c)] {
				touch.Columns = append(touch.Columns, c)
			}
		}
		slices.Sort(touch.Columns)
		out = append(out, touch)
	}
	slices.SortFunc(out, func(a, b Touch) int { return strings.Compare(a.Table, b.Table) })
	return out
}

// tableKey returns the same text for all spellings of one table's name.
func (s Scope) tableKey(name string) string {
	if s.Dialect.Lexis().Names == dialect.IgnoresCase {
		return fold(name)
	}
	return name
}

// remote says that another engine runs the statements.
func (s Scope) remote() bool { return s.Dialect != dialect.DuckDB }

func (w *walker) tableKey(name string) string { return w.scope.tableKey(name) }

// ownSchema says that a schema is the one that the tables are in.
func (w *walker) ownSchema(name string) bool {
	if !w.scope.remote() {
		return fold(name) == "main"
	}
	return w.scope.Schema != "" && w.tableKey(name) == w.tableKey(w.scope.Schema)
}

// syntaxFunctions are functions that the parser makes of syntax (EXTRACT, AT TIME ZONE, lists,
// rows), with schema main in front.
var syntaxFunctions = names(`date_part timezone list_value row overlay position substring trim ltrim rtrim like_escape
	not_like_escape ilike_escape not_ilike_escape regexp_full_match`)

// foreignSchema says that a function is called with a schema other than the engine's
// own. In the embedded engine the schema of `column.f()` is a column.
func (w *walker) foreignSchema(schema, function string) bool {
	if w.scope.remote() {
		return schema != "" && (schema != "main" || !syntaxFunctions[function])
	}
	switch schema {
	case "information_schema", "pg_catalog", "system", "temp":
		return true
	}
	return false
}

func (v vocabulary) listTableFunctions() string {
	list := slices.Sorted(maps.Keys(v.tableFunctions))
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
