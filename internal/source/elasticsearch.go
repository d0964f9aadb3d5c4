package source

import (
	"encoding/json"
	"strings"

	"interlock/internal/schema"
)

// Elasticsearch translates the filter into a query document: a bool.filter of term,
// terms, range and wildcard. A column of the type "text" is searched by its exact
// sub-field, because its words are not what Eq compares.
func Elasticsearch(f schema.Filter, columns []schema.Column) (json.RawMessage, error) {
	predicates, err := bindFilter(f, columns)
	if err != nil {
		return nil, err
	}
	filters := make([]any, 0, len(predicates))
	for _, p := range predicates {
		filters = append(filters, elasticsearchClause(p))
	}
	return json.Marshal(object{"query": object{"bool": object{"filter": filters}}})
}

type object = map[string]any

func elasticsearchClause(p predicate) object {
	field := p.column.Name
	exists := object{"exists": object{"field": field}}
	if p.column.Native == "text" {
		field += ".keyword"
	}
	switch p.form {
	case never:
		return object{"match_none": object{}}
	case present:
		return exists
	}
	values := make([]any, len(p.values))
	for i, v := range p.values {
		values[i] = elasticsearchValue(p.column.Type, v)
	}
	span := func(bounds object) object {
		switch p.column.Type.Kind {
		case schema.Date:
			bounds["format"] = "strict_date"
		case schema.Timestamp, schema.TimestampTZ:
			bounds["format"] = "strict_date_optional_time_nanos"
		}
		return object{"range": object{field: bounds}}
	}
	switch p.op {
	case schema.Eq:
		return object{"term": object{field: object{"value": values[0]}}}
	case schema.Neq: // must_not alone would match documents without the field
		return object{"bool": object{"filter": []any{exists}, "must_not": []any{object{"term": object{field: object{"value": values[0]}}}}}}
	case schema.In:
		return object{"terms": object{field: values}}
	case schema.Between:
		return span(object{"gte": values[0], "lte": values[1]})
	case schema.Like:
		return object{"wildcard": object{field: object{"value": wildcardPattern.Replace(p.values[0].(string)), "case_insensitive": false}}}
	}
	return span(object{string(p.op): values[0]})
}

func elasticsearchValue(t schema.Type, value any) any {
	switch t.Kind {
	case schema.Uint, schema.Decimal:
		return json.Number(value.(string))
	case schema.Timestamp, schema.TimestampTZ:
		return strings.Replace(value.(string), " ", "T", 1) + "Z"
	}
	return value
}

var wildcardPattern = strings.NewReplacer("%", "*", "_", "?", "*", `\*`, "?", `\?`, `\`, `\\`)
