package meaning

import (
	"encoding/json"
	"slices"
	"strings"

	"interlock/internal/schema"
)

// A dbtNode of manifest.json is a model, a seed, a test and others.
type dbtNode struct {
	ResourceType string                   `json:"resource_type"`
	Name         string                   `json:"name"`
	Alias        string                   `json:"alias"`
	Description  string                   `json:"description"`
	Columns      map[string]dbtNodeColumn `json:"columns"`
	ColumnName   string                   `json:"column_name"` // of a test
	Attached     string                   `json:"attached_node"`
	UniqueID     string                   `json:"unique_id"`
	TestMetadata struct {
		Name   string `json:"name"`
		Kwargs struct {
			To    string `json:"to"`
			Field string `json:"field"`
		} `json:"kwargs"`
	} `json:"test_metadata"`
}

type dbtNodeColumn struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Meta        json.RawMessage `json:"meta"`
}

// nodes takes descriptions of models, and tests: unique and not null is a key, relationships
// is a relation.
func (im *dbtImport) nodes(list []dbtNode) {
	byID := map[string]*schema.Table{}
	for _, n := range list {
		if n.ResourceType != "model" && n.ResourceType != "seed" && n.ResourceType != "snapshot" {
			continue
		}
		t, draft := im.table(n.Alias, n.Name)
		if t == nil {
			continue
		}
		byID[n.UniqueID] = t
		if draft.Description == "" {
			draft.Description = n.Description
		}
		names := make([]string, 0, len(n.Columns))
		for name := range n.Columns {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			c := n.Columns[name]
			col, ok := t.Column(name)
			known := slices.ContainsFunc(draft.Fields, func(f DraftField) bool { return ok && f.Column == col.Name })
			if ok && !known && c.Description != "" {
				draft.Fields = append(draft.Fields, DraftField{Column: col.Name, Description: c.Description, Because: []string{"its description in dbt"}})
			}
		}
	}
	im.tests(list, byID)
}

func (im *dbtImport) tests(list []dbtNode, byID map[string]*schema.Table) {
	filled := map[string]bool{}
	for _, n := range list {
		if t := byID[n.Attached]; t != nil && n.TestMetadata.Name == "not_null" {
			filled[t.Name+"."+strings.ToLower(n.ColumnName)] = true
		}
	}
	for _, n := range list {
		t := byID[n.Attached]
		if t == nil {
			continue
		}
		col, ok := t.Column(n.ColumnName)
		if !ok {
			continue
		}
		_, draft := im.table(t.Name)
		switch n.TestMetadata.Name {
		case "unique":
			if draft.Key == nil && filled[t.Name+"."+strings.ToLower(n.ColumnName)] {
				draft.Key, draft.KeyBecause = []string{col.Name}, "tests of dbt: unique and not null"
			}
		case "relationships":
			im.relationTest(n, t.Name, col.Name)
		}
	}
}

// relationTest takes a test whose `to` is written as ref('customers').
func (im *dbtImport) relationTest(n dbtNode, table, column string) {
	to := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(n.TestMetadata.Kwargs.To), "ref("), ")"), `'" `)
	t, ok := im.dataset.Table(to)
	if !ok {
		return
	}
	col, ok := t.Column(n.TestMetadata.Kwargs.Field)
	relation := schema.Relation{Table: table, Column: column, RefTable: t.Name}
	if !ok {
		return
	}
	relation.RefColumn = col.Name
	if !slices.ContainsFunc(im.draft.Relations, func(r DraftRelation) bool { return r.Relation == relation }) {
		im.draft.Relations = append(im.draft.Relations, DraftRelation{relation, "a test of dbt: relationships"})
	}
}
