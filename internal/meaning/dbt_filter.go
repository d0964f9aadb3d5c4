package meaning

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"interlock/internal/queryplan"
)

// A dbtFilter holds conditions in SQL with names in Jinja, all of which must hold.
type dbtFilter []string

// UnmarshalJSON reads the forms of the manifests: an object with where_filters, a text, or a
// list of either.
func (f *dbtFilter) UnmarshalJSON(raw []byte) error {
	var form any
	if err := json.Unmarshal(raw, &form); err != nil {
		return err
	}
	*f = filterTexts(form)
	return nil
}

func filterTexts(form any) (out []string) {
	switch v := form.(type) {
	case nil:
	case string:
		out = append(out, v)
	case []any:
		for _, part := range v {
			out = append(out, filterTexts(part)...)
		}
	case map[string]any:
		if text, ok := v["where_sql_template"]; ok {
			return filterTexts(text)
		}
		return filterTexts(v["where_filters"])
	default:
		out = append(out, "{{ … }}") // what it says is not known
	}
	return out
}

// dbtName is a name in Jinja that stands for one column.
var dbtName = regexp.MustCompile(`\{\{\s*(Dimension|TimeDimension)\(\s*['"]([A-Za-z0-9_]+)['"]\s*(?:,\s*['"]([A-Za-z]+)['"]\s*)?\)\s*\}\}`)

// filtered adds the conditions of a filter to each aggregate of a value.
func (im *dbtImport) filtered(v dbtValue, f dbtFilter) (dbtValue, error) {
	for _, template := range f {
		where, err := im.conditions(template, v.tables[0])
		if err != nil {
			return v, err
		}
		v.expr = withWhere(v.expr, where)
	}
	return v, nil
}

// conditions reads one condition of dbt; columns without a table are those of the given one.
func (im *dbtImport) conditions(template, table string) ([]queryplan.Filter, error) {
	var failed error
	text := dbtName.ReplaceAllStringFunc(template, func(name string) string {
		m := dbtName.FindStringSubmatch(name)
		column, known := im.dimensions[m[2]]
		switch grain := strings.ToLower(m[3]); {
		case !known:
			failed = notTaken("its filter names %s, which is no column of this dataset", m[2])
		case grain != "" && grain != "day":
			failed = notTaken("its filter compares a %s of %s", grain, m[2])
		}
		return queryplan.MetricText(queryplan.Col(column))
	})
	if failed == nil && (strings.Contains(text, "{{") || strings.Contains(text, "{%")) {
		failed = notTaken("its filter %q is more than names of columns in the language of dbt", template)
	}
	if failed != nil {
		return nil, failed
	}
	e, err := queryplan.ParseMetric("COUNT(*) FILTER (WHERE " + text + ")")
	if err != nil {
		return nil, notTaken("its filter %q: %s", template, err)
	}
	if e.Function != queryplan.Count || e.Column != "" || e.Of != nil || len(e.Where) == 0 { // a bracket closed what it did not open
		return nil, notTaken("its filter %q is no condition", template)
	}
	return inTable(e, table).Where, nil
}

// withWhere adds conditions to every aggregate of a value.
func withWhere(e queryplan.Expr, where []queryplan.Filter) queryplan.Expr {
	switch {
	case e.Math != nil && e.Function == "":
		m := *e.Math
		m.Left, m.Right = withWhere(m.Left, where), withWhere(m.Right, where)
		e.Math = &m
	case e.Of != nil && e.Of.Aggregate():
		of := withWhere(*e.Of, where)
		e.Of = &of
	case e.Aggregate():
		e.Where = slices.Concat(e.Where, where)
	}
	return e
}
