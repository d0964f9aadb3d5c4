package main

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// whereSigns are other ways to write an operator.
var whereSigns = map[string]schema.Op{"=": schema.Eq, "!=": schema.Neq, "<>": schema.Neq, ">": schema.Gt, ">=": schema.Gte, "<": schema.Lt, "<=": schema.Lte}

// parseWhere reads conditions such as "booked between 2025-10-01,2025-10-31".
func parseWhere(texts []string) ([]schema.Condition, error) {
	var out []schema.Condition
	for _, text := range texts {
		c, ok := parseCondition(text)
		if !ok {
			return nil, fault.New(fault.BadFilter, "The condition %q cannot be read.", text).
				Suggest("Write 'column op value'; op is eq, neq, gt, gte, lt, lte, between, in or like, or =, !=, >, >=, <, <=. between and in take values with commas.")
		}
		out = append(out, c)
	}
	return out, nil
}

// parseCondition finds the first word that is an operator; a column may have spaces.
func parseCondition(text string) (schema.Condition, bool) {
	words := strings.Fields(text)
	for i := 1; i < len(words)-1; i++ {
		op, ok := whereSigns[words[i]]
		if word := schema.Op(strings.ToLower(words[i])); !ok && slices.Contains(schema.Ops, word) {
			op, ok = word, true
		}
		if !ok {
			continue
		}
		value := strings.Join(words[i+1:], " ")
		c := schema.Condition{Column: strings.Join(words[:i], " "), Op: op, Value: value}
		if op == schema.Between || op == schema.In {
			var list []any
			for part := range strings.SplitSeq(value, ",") {
				list = append(list, strings.TrimSpace(part))
			}
			c.Value = list
			if op == schema.Between && len(list) != 2 {
				return c, false
			}
		}
		return c, true
	}
	return schema.Condition{}, false
}

// whereWords say conditions in words.
func whereWords(conditions []schema.Condition) string {
	var parts []string
	for _, c := range conditions {
		value := fmt.Sprint(c.Value)
		if list, ok := c.Value.([]any); ok {
			texts := make([]string, len(list))
			for i, v := range list {
				texts[i] = fmt.Sprint(v)
			}
			value = strings.Join(texts, ", ")
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", c.Column, c.Op, value))
	}
	return strings.Join(parts, " and ")
}
