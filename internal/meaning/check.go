package meaning

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock/internal/fault"
	"interlock/internal/queryplan"
	"interlock/internal/schema"
)

// A Checked model is what of a document fits the tables of a dataset.
type Checked struct {
	Meaning   schema.Meaning
	Keys      map[string][]string // primary keys, by table
	Relations []schema.Relation
}

// Apply gives the dataset with its meaning, and with the keys and relations that it declares
// in the place of those that were found out.
func (c *Checked) Apply(d schema.Dataset) schema.Dataset {
	tables := make([]schema.Table, len(d.Tables))
	copy(tables, d.Tables)
	for i := range tables {
		if key, ok := c.Keys[tables[i].Name]; ok {
			tables[i].Key = key
		}
	}
	declared := schema.Dataset{Relations: c.Relations}
	relations := append([]schema.Relation{}, c.Relations...)
	for _, r := range d.Relations {
		if len(declared.Between(r.Table, r.RefTable)) == 0 {
			relations = append(relations, r)
		}
	}
	d.Tables, d.Relations = tables, relations
	meaning := c.Meaning
	d.Meaning = &meaning
	return d
}

// Check compares a document with the tables of a dataset. What has an error is left out of
// the result.
func Check(doc *Document, d schema.Dataset) (*Checked, Findings) {
	c := &checker{reader: reader{places: doc.places}, dataset: d, tables: map[string]*schema.Table{}, fields: map[string]queryplan.Expr{}, out: &Checked{Keys: map[string][]string{}}}
	if len(doc.Models) == 0 {
		c.add("wrong-form", "semantic_model", "write one semantic model", "it holds no semantic model")
		return c.out, c.found
	}
	at := doc.modelOf(d.ID)
	for i, m := range doc.Models {
		if i != at {
			c.warn("not-used", fmt.Sprintf("semantic_model[%d]", i), "keep one, or give the one that is meant the name of the dataset", "the model %q is not used: %q is", m.Name, doc.Models[at].Name)
		}
	}
	c.model(doc.Models[at], fmt.Sprintf("semantic_model[%d]", at))
	return c.out, c.found.sorted()
}

// A checker compares one model with the tables.
type checker struct {
	reader
	dataset schema.Dataset
	tables  map[string]*schema.Table  // by the name of the model's dataset, in small letters
	fields  map[string]queryplan.Expr // by dataset.field, in small letters: what is not its own column
	out     *Checked
}

func (c *checker) warn(code, path, repair, format string, args ...any) {
	c.add(code, path, repair, format, args...)
	c.found[len(c.found)-1].Severity = Warning
}

func (c *checker) model(m Model, path string) {
	out := &c.out.Meaning
	out.Name, out.Description, out.Instructions = m.Name, m.Description, m.Context.Instructions
	for i, d := range m.Datasets {
		c.bindTable(d, fmt.Sprintf("%s.datasets[%d]", path, i))
	}
	for i, d := range m.Datasets {
		c.table(d, fmt.Sprintf("%s.datasets[%d]", path, i))
	}
	for i, r := range m.Relationships {
		c.relationship(r, fmt.Sprintf("%s.relationships[%d]", path, i))
	}
	taken := map[string]bool{}
	for i, metric := range m.Metrics {
		at := fmt.Sprintf("%s.metrics[%d]", path, i)
		if name := strings.ToLower(metric.Name); taken[name] {
			c.add("name-taken", at+".name", "give it another name", "there are two metrics %q", metric.Name)
			continue
		}
		taken[strings.ToLower(metric.Name)] = true
		c.metric(metric, at)
	}
	c.words(m, path)
	c.modelExtension(m, path)
}

// bindTable finds the table that a dataset of the model stands for.
func (c *checker) bindTable(d Dataset, path string) {
	key := strings.ToLower(d.Name)
	if _, twice := c.tables[key]; twice {
		c.add("name-taken", path+".name", "give it another name", "there are two datasets %q", d.Name)
		return
	}
	source := strings.Trim(d.Source[strings.LastIndexByte(d.Source, '.')+1:], "\"`")
	c.tables[key] = nil
	for _, name := range []string{d.Source, source} {
		t, ok := c.dataset.Table(name)
		if !ok {
			continue
		}
		for other, o := range c.tables {
			if o == t {
				c.add("name-taken", path+".source", "write what is said of the table in one place", "the datasets %q and %q are both the table %s", other, d.Name, t.Name)
				return
			}
		}
		c.tables[key] = t
		return
	}
	names := make([]string, len(c.dataset.Tables))
	for i, t := range c.dataset.Tables {
		names[i] = t.Name
	}
	c.add("unknown-table", path+".source", useOneOf(source, names), "there is no table %q in %s", source, c.dataset.ID)
}

// useOneOf is a repair that names what may have been meant.
func useOneOf(name string, names []string) string {
	near := slices.Compact(fault.Nearest(name, names))
	switch {
	case len(near) == 0:
		return ""
	case len(near) > 6:
		return "use one of " + strings.Join(near[:6], ", ") + " …"
	}
	return "use one of " + strings.Join(near, ", ")
}

// column finds a column by its name in the model: a field, or the column itself.
func (c *checker) column(t *schema.Table, name, path string) (string, bool) {
	if col, ok := t.Column(name); ok {
		return col.Name, true
	}
	c.add("unknown-column", path, useOneOf(name, schema.Names(t.Columns)), "the table %s has no column %q", t.Name, name)
	return "", false
}

func (c *checker) columns(t *schema.Table, names []string, path string) ([]string, bool) {
	var out []string
	for i, name := range names {
		if col, ok := c.column(t, name, fmt.Sprintf("%s[%d]", path, i)); ok {
			out = append(out, col)
		}
	}
	return out, len(out) == len(names) && len(out) > 0
}

func (c *checker) table(d Dataset, path string) {
	t := c.tables[strings.ToLower(d.Name)]
	if t == nil {
		return
	}
	out := schema.TableMeaning{Table: t.Name, Description: d.Description, Instructions: d.Context.Instructions, Synonyms: d.Context.Synonyms}
	if !strings.EqualFold(d.Name, t.Name) {
		out.Synonyms = append([]string{d.Name}, out.Synonyms...)
	}
	if key, ok := c.columns(t, d.PrimaryKey, path+".primary_key"); ok {
		c.out.Keys[t.Name] = key
	}
	for i, key := range d.UniqueKeys {
		if list, ok := c.columns(t, key, fmt.Sprintf("%s.unique_keys[%d]", path, i)); ok && c.out.Keys[t.Name] == nil && t.Key == nil {
			c.out.Keys[t.Name] = list
		}
	}
	taken := map[string]bool{}
	for i, f := range d.Fields {
		at := fmt.Sprintf("%s.fields[%d]", path, i)
		if name := strings.ToLower(f.Name); taken[name] {
			c.add("name-taken", at+".name", "give it another name", "%s has two fields %q", d.Name, f.Name)
			continue
		}
		taken[strings.ToLower(f.Name)] = true
		if field, ok := c.field(d, t, f, at); ok {
			out.Fields = append(out.Fields, field)
		}
	}
	var ours struct {
		MainDate string `json:"main_date"`
	}
	c.extension(d.Extensions, path, "dataset", &ours)
	if ours.MainDate != "" {
		at := path + ".custom_extensions"
		if col, ok := c.column(t, ours.MainDate, at); ok {
			if out.MainDate = col; !isDate(t, col) {
				c.add("wrong-type", at, "name a column of dates", "the main date %s of %s holds no dates", col, t.Name)
				out.MainDate = ""
			}
		}
	}
	c.out.Meaning.Tables = append(c.out.Meaning.Tables, out)
}

// isDate says that a column holds dates; a text may hold them as well.
func isDate(t *schema.Table, column string) bool {
	col, ok := t.Column(column)
	kind := queryplan.Unknown
	if ok {
		kind = queryplan.KindOf(col.Type)
	}
	return kind == queryplan.Date || kind == queryplan.Text
}

func (c *checker) relationship(r Relationship, path string) {
	from, to := c.named(r.From, path+".from"), c.named(r.To, path+".to")
	if len(r.FromColumns) != len(r.ToColumns) {
		c.add("bad-relationship", path, "name as many columns on both sides", "%d columns refer to %d", len(r.FromColumns), len(r.ToColumns))
		return
	}
	if from == nil || to == nil {
		return
	}
	left, okLeft := c.columns(from, r.FromColumns, path+".from_columns")
	right, okRight := c.columns(to, r.ToColumns, path+".to_columns")
	if !okLeft || !okRight {
		return
	}
	if len(left) > 1 {
		c.warn("not-used", path, "say in a plan which columns are equal", "a relationship of several columns is kept as a text for models; plans follow those of one column")
		c.out.Meaning.Instructions = strings.TrimSpace(c.out.Meaning.Instructions + fmt.Sprintf("\n%s (%s) refers to %s (%s).", from.Name, strings.Join(left, ", "), to.Name, strings.Join(right, ", ")))
		return
	}
	a, _ := from.Column(left[0])
	b, _ := to.Column(right[0])
	if ka, kb := queryplan.KindOf(a.Type), queryplan.KindOf(b.Type); ka != kb && ka != queryplan.Unknown && kb != queryplan.Unknown {
		c.warn("wrong-type", path, "name columns of one type", "%s.%s is %s and %s.%s is %s: they are compared as text", from.Name, left[0], ka, to.Name, right[0], kb)
	}
	c.out.Relations = append(c.out.Relations, schema.Relation{Table: from.Name, Column: left[0], RefTable: to.Name, RefColumn: right[0]})
}

// named finds a dataset of the model.
func (c *checker) named(name, path string) *schema.Table {
	t, ok := c.tables[strings.ToLower(name)]
	if !ok {
		var names []string
		for _, t := range c.tables {
			if t != nil {
				names = append(names, t.Name)
			}
		}
		c.add("unknown-table", path, useOneOf(name, names), "the model has no dataset %q", name)
	}
	return t
}

func (c *checker) modelExtension(m Model, path string) {
	var ours struct {
		Today     string                    `json:"today"`
		Ambiguous []schema.AmbiguousTerm    `json:"ambiguous"`
		Verified  []schema.VerifiedQuestion `json:"verified"`
		Chosen    []schema.Choice           `json:"chosen"`
	}
	c.extension(m.Extensions, path, "model", &ours)
	at := path + ".custom_extensions"
	if _, err := time.Parse(time.DateOnly, ours.Today); err != nil && ours.Today != "" {
		c.add("wrong-type", at, "write it as 2026-06-30", "today is %q, which is no day", ours.Today)
		ours.Today = ""
	}
	out := &c.out.Meaning
	out.Today, out.Ambiguous = ours.Today, ours.Ambiguous
	c.choices(ours.Chosen, at)
	whole := c.out.Apply(c.dataset)
	for _, q := range ours.Verified {
		plan, err := queryplan.Parse(q.Plan)
		if err == nil {
			_, err = plan.SQL(whole)
		}
		if err != nil {
			c.add("bad-plan", at, "correct the plan, or take the question out", "the plan of the verified question %q does not fit the tables: %s", q.Question, fault.From(err).Message)
			continue
		}
		out.Verified = append(out.Verified, q)
	}
}
