package sqlpolicy

import (
	"context"
	"maps"
	"slices"
	"strings"

	"interlock/internal/fault"
)

// decideElsewhere decides about a statement that an engine elsewhere will run, in
// its dialect. Its text is brought into the quoting of the parser here, place by
// place, and the tree of that is walked like any other, with the functions and
// types of the dialect. The engine elsewhere gets the text as it was written.
func (p *Policy) decideElsewhere(ctx context.Context, parser Parser, scope Scope, sql string) (Decision, error) {
	masked, err := scope.Dialect.mask(sql)
	if err != nil {
		return Decision{}, err
	}
	masked = trim(masked)
	sql = sql[:len(masked)]
	r, err := p.readElsewhere(ctx, parser, scope, masked)
	if err != nil {
		return Decision{}, err
	}
	if len(r.edits) > 0 {
		bare, ok := apply(sql, masked, scope.Alias, r.edits)
		if !ok {
			return Decision{}, deny(RuleTable, r.edits[0].at, "Write the table names without the dataset's name.", "The dataset's name before a table cannot be taken away here.")
		}
		scope.Alias = ""
		return p.decideElsewhere(ctx, parser, scope, bare)
	}
	return Decision{
		SQL: sql, Touches: p.touchesElsewhere(ctx, parser, scope, masked, r), Functions: r.functionNames(), Volatile: r.volatile, HasLimit: r.limit, HasOrder: r.order,
	}, nil
}

func (p *Policy) readElsewhere(ctx context.Context, parser Parser, scope Scope, masked string) (*reading, error) {
	r, err := p.read(ctx, parser, scope, masked)
	if f := fault.From(err); err != nil && f.Code == fault.SQLError {
		return nil, f.Suggest("Say it with SQL that most systems share: a statement for %s runs only if it can be read here first.", scope.Dialect.Name)
	}
	return r, err
}

// touchesElsewhere asks the binder here what the names mean, over tables of the same
// columns. It does not know every function of other engines; then each table is said
// to be read with all of its columns that the statement names.
func (p *Policy) touchesElsewhere(ctx context.Context, parser Parser, scope Scope, masked string, r *reading) []Touch {
	if plan, err := parser.Plan(ctx, masked); err == nil {
		if touches, err := checkPlan(string(plan), masked, scope, r); err == nil {
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

// same gives names that mean one table the same text. Masked text has them in the
// case that the engine gives them.
func (s Scope) same(name string) string {
	if s.Dialect != nil && !s.Dialect.lexis.anyCase {
		return name
	}
	return fold(name)
}

func (w *walker) same(name string) string { return w.scope.same(name) }

// ownSchema says that a schema is the one that the tables are in.
func (w *walker) ownSchema(name string) bool {
	if w.scope.Dialect == nil {
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
	if w.scope.Dialect != nil {
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
