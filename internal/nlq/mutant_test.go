package nlq_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// A mutant is a plan with one fault, as people and models make them.
type mutant struct {
	kind string
	plan *queryplan.Plan
}

// mutants are the plans that differ from p in one part each.
func mutants(p *queryplan.Plan, d schema.Dataset) []mutant {
	var out []mutant
	add := func(kind string, change func(*queryplan.Plan) bool) {
		raw, err := json.Marshal(p)
		if err != nil {
			panic(err)
		}
		c := new(queryplan.Plan)
		if err := json.Unmarshal(raw, c); err != nil {
			panic(err)
		}
		if change(c) {
			out = append(out, mutant{kind, c})
		}
	}
	for i, f := range p.Filters {
		add("lost filter", func(c *queryplan.Plan) bool { c.Filters = slices.Delete(c.Filters, i, i+1); return true })
		if o, ok := turned[f.Operator]; ok && f.Plan == nil {
			add("turned comparison", func(c *queryplan.Plan) bool { c.Filters[i].Operator = o; return true })
		}
		if v, kind := otherValue(f.Value); v != nil {
			add(kind, func(c *queryplan.Plan) bool { c.Filters[i].Value = v; return true })
		}
	}
	for i, f := range p.Having {
		add("lost filter", func(c *queryplan.Plan) bool { c.Having = slices.Delete(c.Having, i, i+1); return true })
		if o, ok := turned[f.Operator]; ok {
			add("turned comparison", func(c *queryplan.Plan) bool { c.Having[i].Operator = o; return true })
		}
		if v, kind := otherValue(f.Value); v != nil {
			add(kind, func(c *queryplan.Plan) bool { c.Having[i].Value = v; return true })
		}
	}
	if p.Distinct {
		add("lost distinct", func(c *queryplan.Plan) bool { c.Distinct = false; return true })
	}
	for i, e := range p.Select {
		if e.Function == queryplan.CountDistinct {
			add("lost distinct", func(c *queryplan.Plan) bool { c.Select[i].Function = queryplan.Count; return true })
		}
		if o, ok := otherAggregate[e.Function]; ok && (e.Column != "" || e.Of != nil) {
			add("wrong aggregate", func(c *queryplan.Plan) bool { c.Select[i].Function = o; return true })
		}
		if other := siblingOf(p, d, e.Column); other != "" {
			add("wrong column", func(c *queryplan.Plan) bool { c.Select[i].Column = other; return true })
		}
	}
	for i, g := range p.GroupBy {
		if other := siblingOf(p, d, g.Column); other != "" {
			add("wrong group", func(c *queryplan.Plan) bool {
				for k := range c.Select {
					if c.Select[k].Column == g.Column && c.Select[k].Function == "" {
						c.Select[k].Column = other
					}
				}
				c.GroupBy[i].Column = other
				return true
			})
		}
	}
	for i, j := range p.Joins {
		if len(j.On) == 0 {
			continue
		}
		if other := siblingOf(p, d, j.On[0].Left); other != "" {
			add("wrong join", func(c *queryplan.Plan) bool { c.Joins[i].On[0].Left = other; return true })
		}
	}
	if len(p.Joins) > 0 {
		j := p.Joins[len(p.Joins)-1]
		if raw, _ := json.Marshal(struct {
			S []queryplan.Expr
			F []queryplan.Filter
			G []queryplan.Term
			O []queryplan.Order
		}{p.Select, p.Filters, p.GroupBy, p.OrderBy}); !strings.Contains(string(raw), j.Table+".") {
			add("lost join", func(c *queryplan.Plan) bool { c.Joins = c.Joins[:len(c.Joins)-1]; return true })
		}
	}
	if p.Limit > 0 {
		add("lost limit", func(c *queryplan.Plan) bool { c.Limit = 0; return true })
		add("wrong limit", func(c *queryplan.Plan) bool { c.Limit += 2; return true })
	}
	for i, o := range p.OrderBy {
		add("turned order", func(c *queryplan.Plan) bool {
			c.OrderBy[i].Direction = map[queryplan.Direction]queryplan.Direction{queryplan.Desc: queryplan.Asc}[o.Direction]
			if c.OrderBy[i].Direction == "" {
				c.OrderBy[i].Direction = queryplan.Desc
			}
			return true
		})
	}
	return out
}

var turned = map[queryplan.Operator]queryplan.Operator{
	queryplan.Gt: queryplan.Lt, queryplan.Lt: queryplan.Gt, queryplan.Ge: queryplan.Le, queryplan.Le: queryplan.Ge,
	queryplan.Eq: queryplan.Ne, queryplan.Ne: queryplan.Eq, queryplan.In: queryplan.NotIn, queryplan.NotIn: queryplan.In,
}

var otherAggregate = map[queryplan.Function]queryplan.Function{
	queryplan.Avg: queryplan.Sum, queryplan.Sum: queryplan.Count, queryplan.Max: queryplan.Min, queryplan.Min: queryplan.Max, queryplan.CountDistinct: queryplan.Sum,
}

// otherValue is a value near the one of a filter.
func otherValue(raw json.RawMessage) (json.RawMessage, string) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil, ""
	}
	switch v := v.(type) {
	case float64:
		if v >= 1900 && v < 2100 && v == float64(int(v)) {
			return queryplan.Literal(v - 1), "wrong year"
		}
		return queryplan.Literal(v + 10), "wrong value"
	case string:
		if len(v) >= 4 && strings.HasPrefix(v, "20") && strings.Trim(v[:4], "0123456789") == "" {
			return queryplan.Literal(fmt.Sprintf("%04d", atoi(v[:4])-1) + v[4:]), "wrong year"
		}
	}
	return nil, ""
}

func atoi(s string) (n int) {
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
}

// siblingOf is another column of the same table and kind.
func siblingOf(p *queryplan.Plan, d schema.Dataset, ref string) string {
	i := strings.LastIndexByte(ref, '.')
	name, owner := ref[i+1:], p.Table
	if i > 0 {
		owner = ref[:i]
	}
	t, ok := d.Table(owner)
	if !ok || name == "" {
		return ""
	}
	c, ok := t.Column(name)
	if !ok {
		return ""
	}
	for _, o := range t.Columns {
		if !strings.EqualFold(o.Name, name) && queryplan.KindOf(o.Type) == queryplan.KindOf(c.Type) {
			return ref[:i+1] + o.Name
		}
	}
	return ""
}
