package meaning

import (
	"encoding/json"
	"slices"
	"strings"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// ImportDBT drafts a semantic model of what a dbt project knows: its semantic_manifest.json
// (semantic models, measures and metrics) or its manifest.json (descriptions, and tests as
// keys and relations). Tables that the dataset does not have are left out, and said.
func ImportDBT(file string, raw []byte, d schema.Dataset) ([]byte, error) {
	var doc dbtManifest
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fault.New(fault.BadRequest, "%s is no manifest of dbt: %v", file, err).Suggest("Name target/semantic_manifest.json or target/manifest.json of a dbt project.")
	}
	if len(doc.SemanticModels) == 0 && len(doc.Nodes) == 0 {
		return nil, fault.New(fault.BadRequest, "%s holds neither semantic models nor nodes of dbt", file).Suggest("Run `dbt parse`, and name target/semantic_manifest.json or target/manifest.json.")
	}
	im := &dbtImport{
		dataset: d, draft: Draft{Name: d.ID, Head: []string{"Taken from " + file + " of a dbt project."}},
		measures: map[string]dbtMeasure{}, byName: map[string]dbtMetric{}, tables: map[string]*schema.Table{}, dimensions: map[string]string{},
	}
	im.semanticModels(doc.SemanticModels.list())
	im.metrics(doc.Metrics.list())
	im.nodes(doc.Nodes)
	if len(im.draft.Tables) == 0 {
		return nil, fault.New(fault.BadRequest, "none of the models of %s is a table of dataset %q", file, d.ID).Suggest("The models are %s.", strings.Join(im.unknown[:min(len(im.unknown), 10)], ", "))
	}
	if len(im.unknown) > 0 {
		im.draft.Head = append(im.draft.Head, "Not tables of this dataset: "+strings.Join(im.unknown, ", ")+".")
	}
	return im.draft.Write(d), nil
}

// A dbtList is a list, or a map of which the values count: the two manifests differ.
type dbtList[T any] []T

func (l dbtList[T]) list() []T { return l }

// UnmarshalJSON reads a list or a map.
func (l *dbtList[T]) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '[' {
		return json.Unmarshal(raw, (*[]T)(l))
	}
	var byName map[string]T
	if err := json.Unmarshal(raw, &byName); err != nil {
		return err
	}
	var names []string
	for name := range byName {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		*l = append(*l, byName[name])
	}
	return nil
}

type dbtManifest struct {
	SemanticModels dbtList[dbtModel]  `json:"semantic_models"`
	Metrics        dbtList[dbtMetric] `json:"metrics"`
	Nodes          dbtList[dbtNode]   `json:"nodes"`
}

type dbtModel struct {
	Name         string `json:"name"`
	Description  string `json:"description"`
	NodeRelation struct {
		Alias string `json:"alias"`
	} `json:"node_relation"`
	Defaults struct {
		AggTimeDimension string `json:"agg_time_dimension"`
	} `json:"defaults"`
	PrimaryEntity string       `json:"primary_entity"` // where no entity is the primary one
	Entities      []dbtColumn  `json:"entities"`
	Dimensions    []dbtColumn  `json:"dimensions"`
	Measures      []dbtMeasure `json:"measures"`
}

type dbtColumn struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Expr        string `json:"expr"`
	Label       string `json:"label"`
	Description string `json:"description"`
}

// A dbtImport turns a manifest into a draft.
type dbtImport struct {
	dataset    schema.Dataset
	draft      Draft
	measures   map[string]dbtMeasure
	byName     map[string]dbtMetric
	tables     map[string]*schema.Table // by semantic model
	dimensions map[string]string        // entity__dimension: the column with its table
	unknown    []string
}

// table finds a table of the dataset and its part of the draft.
func (im *dbtImport) table(names ...string) (*schema.Table, *DraftTable) {
	for _, name := range names {
		t, ok := im.dataset.Table(name)
		if !ok || name == "" {
			continue
		}
		i := slices.IndexFunc(im.draft.Tables, func(d DraftTable) bool { return d.Name == t.Name })
		if i < 0 {
			i = len(im.draft.Tables)
			im.draft.Tables = append(im.draft.Tables, DraftTable{Name: t.Name})
		}
		return t, &im.draft.Tables[i]
	}
	if last := names[len(names)-1]; !slices.Contains(im.unknown, last) {
		im.unknown = append(im.unknown, last)
	}
	return nil, nil
}

func (im *dbtImport) semanticModels(models []dbtModel) {
	keys := map[string]schema.Relation{} // primary entities: the table and column that they name
	for _, m := range models {
		t, draft := im.table(m.NodeRelation.Alias, m.Name)
		if t == nil {
			continue
		}
		draft.Description = m.Description
		if !strings.EqualFold(m.Name, t.Name) {
			draft.Synonyms = append(draft.Synonyms, strings.ReplaceAll(m.Name, "_", " "))
		}
		entity := m.PrimaryEntity
		im.tables[m.Name] = t
		for _, e := range m.Entities {
			if e.Type == "primary" {
				entity = e.Name
			}
			if col, ok := t.Column(orName(e)); ok && e.Type == "primary" {
				draft.Key, draft.KeyBecause = []string{col.Name}, "the primary entity "+e.Name
				keys[e.Name] = schema.Relation{RefTable: t.Name, RefColumn: col.Name}
			}
		}
		for _, c := range m.Dimensions {
			im.dimension(t, draft, c)
			if col, ok := t.Column(orName(c)); ok && entity != "" {
				im.dimensions[entity+"__"+c.Name] = t.Name + "." + col.Name
			}
			if col, ok := t.Column(orName(c)); ok && c.Name == m.Defaults.AggTimeDimension {
				draft.MainDate, draft.MainDateBecause = col.Name, "the default time dimension"
			}
		}
		for _, x := range m.Measures {
			x.table, x.counted = t, x.AggTimeDimension == "" || x.AggTimeDimension == m.Defaults.AggTimeDimension
			im.measures[x.Name] = x
		}
	}
	for _, m := range models {
		t, ok := im.dataset.Table(m.NodeRelation.Alias)
		if !ok {
			if t, ok = im.dataset.Table(m.Name); !ok {
				continue
			}
		}
		for _, e := range m.Entities {
			col, ok := t.Column(orName(e))
			if key, known := keys[e.Name]; known && ok && e.Type == "foreign" {
				key.Table, key.Column = t.Name, col.Name
				im.draft.Relations = append(im.draft.Relations, DraftRelation{key, "the foreign entity " + e.Name})
			}
		}
	}
}

func orName(c dbtColumn) string {
	if c.Expr != "" {
		return c.Expr
	}
	return c.Name
}

// dimension adds a field where it says more than the column does.
func (im *dbtImport) dimension(t *schema.Table, draft *DraftTable, c dbtColumn) {
	col, ok := t.Column(orName(c))
	if !ok || c.Label == "" && c.Description == "" && strings.EqualFold(c.Name, col.Name) {
		return
	}
	f := DraftField{Column: col.Name, Label: c.Label, Description: c.Description, Because: []string{"the dimension " + c.Name}}
	if !strings.EqualFold(c.Name, col.Name) {
		f.Synonyms = []string{strings.ReplaceAll(c.Name, "_", " ")}
	}
	draft.Fields = append(draft.Fields, f)
}
