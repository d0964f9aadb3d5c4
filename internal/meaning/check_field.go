package meaning

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// field checks a field and gives it where it is a column of the table.
func (c *checker) field(d Dataset, t *schema.Table, f Field, path string) (schema.FieldMeaning, bool) {
	out := schema.FieldMeaning{Label: f.Label, Description: f.Description, Instructions: f.Context.Instructions, Synonyms: f.Context.Synonyms}
	text, at := f.Expression.ansi()
	if at < 0 {
		c.warn("not-used", path+".expression", "add the expression in ANSI_SQL", "the field %s has no expression in ANSI_SQL", f.Name)
		return out, false
	}
	place := fmt.Sprintf("%s.expression.dialects[%d].expression", path, at)
	e, err := queryplan.ParseField(text)
	if err != nil {
		c.warn("unsupported-field", place, "name a column or arithmetic of columns", "the field %s is not used: %v", f.Name, err)
		return out, false
	}
	known := true
	e = queryplan.MapColumns(e, func(e queryplan.Expr) queryplan.Expr {
		name := e.Column
		if _, whole := t.Column(name); !whole {
			if _, after, dotted := strings.Cut(name, "."); dotted {
				name = after
			}
		}
		col, ok := c.column(t, name, place)
		known = known && ok
		e.Column = t.Name + "." + col
		return e
	})
	if !known {
		return out, false
	}
	key := strings.ToLower(d.Name + "." + f.Name)
	c.fields[key] = e
	if e.Column == "" {
		return out, false // a computed field serves metrics
	}
	out.Column = strings.TrimPrefix(e.Column, t.Name+".")
	if !strings.EqualFold(f.Name, out.Column) {
		out.Synonyms = append([]string{f.Name}, out.Synonyms...)
	}
	c.fieldExtension(&out, t, f, path)
	return out, true
}

func (c *checker) fieldExtension(out *schema.FieldMeaning, t *schema.Table, f Field, path string) {
	var ours struct {
		Unknown    []any              `json:"unknown"`
		IgnoreCase bool               `json:"ignore_case"`
		Same       []schema.SameValue `json:"same"`
	}
	c.extension(f.Extensions, path, "field", &ours)
	at := path + ".custom_extensions"
	col, _ := t.Column(out.Column)
	kind := queryplan.KindOf(col.Type)
	for _, v := range ours.Unknown {
		switch v := v.(type) {
		case json.Number:
			if kind == queryplan.Date || kind == queryplan.Bool {
				c.add("wrong-type", at, "write a value of the column's type", "%v cannot be a value of %s.%s, which is %s", v, t.Name, col.Name, col.Type)
				continue
			}
			if number, err := v.Float64(); err == nil {
				out.Unknown = append(out.Unknown, number)
			}
		case string:
			if kind == queryplan.Number || kind == queryplan.Bool {
				c.add("wrong-type", at, "write a value of the column's type", "%q cannot be a value of %s.%s, which is %s", v, t.Name, col.Name, col.Type)
				continue
			}
			out.Unknown = append(out.Unknown, v)
		}
	}
	if (ours.IgnoreCase || len(ours.Same) > 0) && kind != queryplan.Text && kind != queryplan.Unknown {
		c.add("wrong-type", at, "leave it out", "%s.%s is %s: only texts have spellings", t.Name, col.Name, col.Type)
		return
	}
	out.IgnoreCase, out.Same = ours.IgnoreCase, ours.Same
	owner := map[string]string{}
	for _, s := range ours.Same {
		for _, spelling := range s.Spellings {
			if o, taken := owner[spelling]; taken && o != s.Value {
				c.add("name-taken", at, "keep it in one of them", "%q is both %q and %q", spelling, o, s.Value)
			}
			owner[spelling] = s.Value
		}
	}
}

// metric checks a metric: its expression is read, its columns are found, and it compiles.
func (c *checker) metric(m Metric, path string) {
	text, at := m.Expression.ansi()
	if at < 0 {
		c.add("unsupported-metric", path+".expression", "add the expression in ANSI_SQL", "the metric %s has no expression in ANSI_SQL", m.Name)
		return
	}
	place := fmt.Sprintf("%s.expression.dialects[%d].expression", path, at)
	body, err := queryplan.ParseMetric(text)
	if err != nil {
		where := ""
		if e, ok := errors.AsType[*queryplan.MetricError](err); ok && e.At > 0 && e.At < len(text) {
			where = fmt.Sprintf(" (at %q)", text[e.At:min(len(text), e.At+20)])
		}
		c.add("unsupported-metric", place, "write "+queryplan.MetricForms, "the metric %s cannot be computed: %v%s", m.Name, err, where)
		return
	}
	before := len(c.found)
	var tables []string
	body = queryplan.MapColumns(body, func(e queryplan.Expr) queryplan.Expr {
		found, table := c.metricColumn(e, m, place)
		if table != "" && !slices.Contains(tables, table) {
			tables = append(tables, table)
		}
		return found
	})
	var ours struct {
		Table string `json:"table"`
	}
	c.extension(m.Extensions, path, "metric", &ours)
	if ours.Table != "" {
		if t := c.named(ours.Table, path+".custom_extensions"); t != nil {
			tables = append([]string{t.Name}, slices.DeleteFunc(tables, func(name string) bool { return name == t.Name })...)
		}
	}
	if len(c.found) > before {
		return
	}
	switch counted := queryplan.CountedTables(body); {
	case len(counted) > 1:
		c.add("unsupported-metric", place, "write a metric of each table, and compare the two", "the metric %s adds up rows of %s: where they are joined, rows of one would count several times", m.Name, strings.Join(counted, " and of "))
		return
	case len(counted) == 1:
		tables = append(counted, slices.DeleteFunc(tables, func(name string) bool { return name == counted[0] })...)
	}
	if len(tables) == 0 {
		c.add("unsupported-metric", place, `name the rows by custom_extensions of the vendor INTERLOCK: {"table": "orders"}`, "the metric %s does not say of which table it counts the rows", m.Name)
		return
	}
	c.compile(m, queryplan.MetricText(body), tables, place)
}

// metricColumn finds the column or computed field that an expression of a metric names.
func (c *checker) metricColumn(e queryplan.Expr, m Metric, place string) (queryplan.Expr, string) {
	table, name, dotted := strings.Cut(e.Column, ".")
	if dotted {
		t := c.named(table, place)
		if t == nil {
			return e, ""
		}
		if field, ok := c.fields[strings.ToLower(e.Column)]; ok {
			return replaceColumn(e, field), t.Name
		}
		if col, ok := c.column(t, name, place); ok {
			e.Column = t.Name + "." + col
		}
		return e, t.Name
	}
	var owners []string
	for _, t := range c.tables {
		if t == nil {
			continue
		}
		if col, ok := t.Column(e.Column); ok && !slices.Contains(owners, t.Name) {
			owners, name = append(owners, t.Name), col.Name
		}
	}
	if len(owners) != 1 {
		c.add("unknown-column", place, "write it as dataset.field", "the metric %s names %q, a column of %d datasets of the model", m.Name, e.Column, len(owners))
		return e, ""
	}
	e.Column = owners[0] + "." + name
	return e, owners[0]
}

// replaceColumn puts a field's expression in the place of a column, under what is done with it.
func replaceColumn(e, field queryplan.Expr) queryplan.Expr {
	if field.Column != "" {
		e.Column = field.Column
		return e
	}
	e.Column, e.Of = "", &field
	return e
}

// compile tries a metric in a plan of its own table, joined with the others that it names.
func (c *checker) compile(m Metric, text string, tables []string, place string) {
	if text == "" {
		c.add("unsupported-metric", place, "write "+queryplan.MetricForms, "the metric %s cannot be computed", m.Name)
		return
	}
	metric := schema.Metric{Name: m.Name, Expression: text, Description: m.Description, Synonyms: m.Context.Synonyms}
	whole := c.out.Apply(c.dataset)
	var problems []queryplan.Problem
	for i := range tables { // the first table from which the others are reached without repeating its rows
		metric.Table = tables[i]
		whole.Meaning.Metrics = []schema.Metric{metric}
		plan := queryplan.Plan{Table: tables[i], Select: []queryplan.Expr{{Metric: m.Name}}}
		for k, other := range tables {
			if k != i {
				plan.Joins = append(plan.Joins, queryplan.Join{Table: other})
			}
		}
		found := plan.Validate(whole)
		if len(found) == 0 {
			c.out.Meaning.Metrics = append(c.out.Meaning.Metrics, metric)
			return
		}
		if problems == nil {
			problems = found
		}
	}
	for _, p := range problems {
		c.add("unsupported-metric", place, "correct the expression", "the metric %s: %s", m.Name, p.Message)
	}
}
