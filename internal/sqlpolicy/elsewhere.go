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

// decideByTokens decides about a statement that an engine elsewhere will run, for whose
// grammar there is no parser. Its text is cut into tokens, and those are written twice:
// for the parser here, whose tree is walked like any other with the functions and types
// of the dialect, and for the engine. Neither gets the text as it came.
func (p *Policy) decideByTokens(ctx context.Context, parser Parser, scope Scope, rules *Rules, sql string) (Decision, error) {
	tokens, err := rules.tokenize(sql)
	if err == nil {
		err = rules.checkWords(tokens)
	}
	if err != nil {
		return Decision{}, err
	}
	r, text, err := p.readTokens(ctx, parser, scope, rules, tokens)
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
		if r, text, err = p.readTokens(ctx, parser, scope, rules, tokens); err != nil {
			return Decision{}, err
		}
	}
	return Decision{
		SQL: emit(tokens, rules.sent).text, Touches: p.touchesElsewhere(ctx, parser, scope, text.text, r),
		Functions: r.functionNames(), Volatile: r.volatile, HasLimit: r.limit, HasOrder: r.order,
	}, nil
}

// readTokens parses and walks the tokens as they are written for the parser here. Places
// in refusals are places in the statement as it came.
func (p *Policy) readTokens(ctx context.Context, parser Parser, scope Scope, rules *Rules, tokens []token) (*reading, emitted, error) {
	text := emit(tokens, rules.judged)
	r, err := p.read(ctx, parser, scope, text.text)
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

// touchesElsewhere asks the binder here what the names mean, over tables of the same
// columns. It does not know every function of other engines; then each table is said
// to be read with all of its columns that the statement names.
func (p *Policy) touchesElsewhere(ctx context.Context, parser Parser, scope Scope, text string, r *reading) []Touch {
	if plan, err := parser.Plan(ctx, text); err == nil {
		if touches, err := checkPlan(string(plan), text, scope, r); err == nil {
			return touches
		}
	}
	var out []Touch
	for _, t := range scope.Tables {
		if !r.tables[scope.same(t.Name)] {
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

// same gives names that mean one table the same text. Text for the parser here has them
// in the case that the engine gives them.
func (s Scope) same(name string) string {
	if s.Dialect.Lexis().Names == dialect.IgnoresCase {
		return fold(name)
	}
	return name
}

// remote says that another engine runs the statements.
func (s Scope) remote() bool { return s.Dialect != dialect.DuckDB }

func (w *walker) same(name string) string { return w.scope.same(name) }

// ownSchema says that a schema is the one that the tables are in.
func (w *walker) ownSchema(name string) bool {
	if !w.scope.remote() {
		return fold(name) == "main"
	}
	return w.scope.Schema != "" && w.same(name) == w.same(w.scope.Schema)
}

// made are functions that the parser makes of syntax (EXTRACT, AT TIME ZONE, lists,
// rows), with schema main in front.
var made = names(`date_part timezone list_value row overlay position substring trim ltrim rtrim like_escape
	not_like_escape ilike_escape not_ilike_escape regexp_full_match`)

// foreignSchema says that what stands before a function makes it another's. In the
// embedded engine `column.f()` puts a column there.
func (w *walker) foreignSchema(schema, function string) bool {
	if w.scope.remote() {
		return schema != "" && (schema != "main" || !made[function])
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
