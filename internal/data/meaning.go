package data

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"interlock/internal/catalog"
	"interlock/internal/fault"
	"interlock/internal/meaning"
	"interlock/internal/schema"
)

// Meanings are the semantic models of a deployment's datasets.
type Meanings struct{ Catalog *catalog.Catalog }

// A DatasetMeaning is the semantic model of a dataset, with what is wrong with it.
type DatasetMeaning struct {
	DatasetID string           `json:"dataset_id"`
	File      string           `json:"file"`
	Version   string           `json:"version"` // "" where there is none
	Text      string           `json:"text"`
	Findings  meaning.Findings `json:"findings"`
	Meaning   *schema.Meaning  `json:"meaning,omitempty"` // what of it fits the tables
}

// Show gives the semantic model of a dataset, checked against its tables.
func (m Meanings) Show(ctx context.Context, id string) (DatasetMeaning, error) {
	f, err := m.Catalog.Meaning(ctx, id)
	if err != nil {
		return DatasetMeaning{}, err
	}
	out := DatasetMeaning{DatasetID: id, File: f.Path, Version: f.Version, Text: string(f.Text), Findings: meaning.Findings{}}
	if f.Text == nil {
		return out, nil
	}
	checked, found, err := m.check(ctx, id, f.Path, f.Text)
	if err != nil {
		return out, err
	}
	if checked != nil {
		out.Meaning = &checked.Meaning
	}
	out.Findings = append(out.Findings, found...)
	return out, nil
}

// Check compares a text with the tables of a dataset, as if it were its semantic model.
func (m Meanings) Check(ctx context.Context, id, file string, text []byte) (meaning.Findings, error) {
	_, found, err := m.check(ctx, id, file, text)
	return found, err
}

func (m Meanings) check(ctx context.Context, id, file string, text []byte) (*meaning.Checked, meaning.Findings, error) {
	s, err := Datasets{Catalog: m.Catalog}.tables(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	doc, found := meaning.Read(file, text)
	if doc == nil {
		return nil, found, nil
	}
	checked, more := meaning.Check(doc, s)
	return checked, append(found, more...), nil
}

// Replace stores a text as the semantic model of a dataset in the place of the one of that
// version. Who may is asked before the text is read; one with errors is refused, with all of them.
func (m Meanings) Replace(ctx context.Context, id, version, user string, text []byte) (DatasetMeaning, error) {
	if err := m.Catalog.CheckMeaningChange(ctx, id, version, user); err != nil {
		return DatasetMeaning{}, err
	}
	found, err := m.Check(ctx, id, meaning.File, text)
	if err != nil {
		return DatasetMeaning{}, err
	}
	if errs := found.Errors(); len(errs) > 0 {
		return DatasetMeaning{}, fault.New(fault.BadMeaning, "the semantic model has %d errors; the first is in line %d: %s", len(errs), errs[0].Line, errs[0].Message).With(found)
	}
	if _, err := m.Catalog.ReplaceMeaning(ctx, id, version, user, text); err != nil {
		return DatasetMeaning{}, err
	}
	return m.Show(ctx, id)
}

// apply gives a dataset with its semantic model. What of that does not fit the tables is left
// out, and said among the problems.
func (m Meanings) apply(ctx context.Context, s schema.Dataset) (schema.Dataset, error) {
	f, err := m.Catalog.Meaning(ctx, s.ID)
	name := filepath.Base(f.Path)
	if err != nil {
		s.Problems = append(s.Problems, schema.Problem{Path: name, Message: fault.From(err).Message})
		return s, nil
	}
	if f.Text == nil {
		return s, nil
	}
	doc, found := meaning.Read(name, f.Text)
	if doc != nil {
		checked, more := meaning.Check(doc, s)
		s, found = checked.Apply(s), append(found, more...)
	}
	if errs := found.Errors(); len(errs) > 0 {
		p := schema.Problem{Path: name, Message: fmt.Sprintf("The semantic model has %d errors, and what they are about is not used; the first, in line %d: %s. `interlock meaning check %s` lists all.", len(errs), errs[0].Line, errs[0].Message, s.ID)}
		s.Problems, s.Broken = append(s.Problems, p), &schema.BrokenMeaning{File: name, Version: f.Version, Text: string(f.Text)}
	}
	return s, nil
}

// AddProblems adds what is wrong with the semantic model of a dataset to its problems. Of one
// that nobody imported only the form is checked: its columns are not known.
func (m Meanings) AddProblems(ctx context.Context, d *schema.Dataset) {
	f, err := m.Catalog.Meaning(ctx, d.ID)
	if err == nil && f.Text == nil {
		return
	}
	s := schema.Dataset{ID: d.ID}
	if slices.ContainsFunc(d.Tables, func(t schema.Table) bool { return len(t.Columns) > 0 }) {
		if s, err = (Datasets{Catalog: m.Catalog}).tables(ctx, d.ID); err != nil {
			return // those of the tables say what is wrong
		}
	} else if doc, _ := meaning.Read(meaning.File, f.Text); err == nil && doc != nil {
		return
	}
	before := len(s.Problems)
	if s, err = m.apply(ctx, s); err == nil {
		d.Problems = append(d.Problems, s.Problems[before:]...)
	}
}

// versionSuffix tells versions of a dataset apart whose data are the same and whose meaning is not.
func (m Meanings) versionSuffix(ctx context.Context, id string) string {
	f, err := m.Catalog.Meaning(ctx, id)
	if err != nil || f.Version == "" {
		return ""
	}
	return "+" + f.Version
}

// Meaning implements server.Meanings. It names the file without its folder.
func (m Meanings) Meaning(ctx context.Context, id string) (any, error) {
	out, err := m.Show(ctx, id)
	out.File = filepath.Base(out.File)
	for i := range out.Findings {
		out.Findings[i].File = out.File
	}
	return out, err
}

// ReplaceMeaning implements server.Meanings.
func (m Meanings) ReplaceMeaning(ctx context.Context, id, version, user, text string) (any, error) {
	if _, err := m.Replace(ctx, id, version, user, []byte(text)); err != nil {
		return nil, err
	}
	return m.Meaning(ctx, id)
}
