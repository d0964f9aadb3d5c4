package data

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"interlock/internal/fault"
	"interlock/internal/meaning"
	"interlock/internal/schema"
)

// A RememberedChoice is a choice of a semantic model, with the name to remove it by.
type RememberedChoice struct {
	ID       string `json:"id"`
	Term     string `json:"term"`
	Reading  string `json:"reading"`
	Sentence string `json:"sentence"`
}

// DatasetChoices are the remembered choices of a dataset.
type DatasetChoices struct {
	DatasetID  string             `json:"dataset_id"`
	Version    string             `json:"version"` // of the semantic model
	Remembered *RememberedChoice  `json:"remembered,omitempty"`
	Choices    []RememberedChoice `json:"choices"`
}

// Choices lists the choices that are remembered for a dataset.
func (m Meanings) Choices(ctx context.Context, id string) (DatasetChoices, error) {
	shown, err := m.Show(ctx, id)
	out := DatasetChoices{DatasetID: id, Version: shown.Version, Choices: []RememberedChoice{}}
	if err != nil || shown.Meaning == nil {
		return out, err
	}
	for _, c := range shown.Meaning.Chosen {
		out.Choices = append(out.Choices, rememberedChoice(c))
	}
	return out, nil
}

func rememberedChoice(c schema.Choice) RememberedChoice {
	return RememberedChoice{meaning.ChoiceID(c), c.Term, c.Reading, c.Sentence()}
}

// Remember writes a choice into the semantic model of a dataset, for a person who asked for it and
// may change that model. One whose reading names nothing of the dataset is refused.
func (m Meanings) Remember(ctx context.Context, id, user string, c schema.Choice) (DatasetChoices, error) {
	added := c
	out, err := m.change(ctx, id, user, func(file string, text []byte, s schema.Dataset) ([]byte, error) {
		next, err := meaning.AddChoice(file, text, s, c)
		if err != nil {
			return nil, err
		}
		doc, _ := meaning.Read(file, next) // AddChoice has read it
		checked, _ := meaning.Check(doc, s)
		if n := len(checked.Meaning.Chosen); n > 0 {
			added = checked.Meaning.Chosen[n-1]
		}
		dict, err := Datasets{Catalog: m.Catalog}.Dictionary(ctx, id, "")
		if err != nil {
			return nil, err
		}
		if names := append(checked.Names(s), slices.Collect(maps.Keys(dict.Glossary))...); !meaning.NamesTerm(added.Reading, names) {
			return nil, fault.New(fault.BadMeaning, "the reading %q names no column, table, metric or term of %q", added.Reading, id).Suggest("Choose one of the readings of a question back.")
		}
		return next, nil
	})
	if err == nil {
		one := rememberedChoice(added)
		out.Remembered = &one
	}
	return out, err
}

// Forget takes a choice out of the semantic model of a dataset.
func (m Meanings) Forget(ctx context.Context, id, user, choice string) (DatasetChoices, error) {
	return m.change(ctx, id, user, func(file string, text []byte, s schema.Dataset) ([]byte, error) {
		if text == nil {
			return nil, fault.New(fault.NotFound, "nothing is remembered for %q", id)
		}
		return meaning.RemoveChoice(file, text, s, choice)
	})
}

// change replaces the semantic model of a dataset by what edit makes of it, and lists the choices.
func (m Meanings) change(ctx context.Context, id, user string, edit editMeaning) (DatasetChoices, error) {
	if err := m.edit(ctx, id, user, edit); err != nil {
		return DatasetChoices{}, err
	}
	return m.Choices(ctx, id)
}

// editMeaning makes another text of a semantic model; nil is one that nobody wrote yet.
type editMeaning func(file string, text []byte, s schema.Dataset) ([]byte, error)

// edit replaces the semantic model of a dataset by what edit makes of it, for a user who may.
func (m Meanings) edit(ctx context.Context, id, user string, edit editMeaning) error {
	f, err := m.Catalog.Meaning(ctx, id)
	if err != nil {
		return err
	}
	if err := m.Catalog.CheckMeaningChange(ctx, id, f.Version, user); err != nil {
		return err
	}
	s, err := Datasets{Catalog: m.Catalog}.tables(ctx, id)
	if err != nil {
		return err
	}
	text, err := edit(filepath.Base(f.Path), f.Text, s)
	if err != nil {
		return err
	}
	_, err = m.Catalog.ReplaceMeaning(ctx, id, f.Version, user, text)
	return err
}

// MeaningChoices implements server.MeaningChoices.
func (m Meanings) MeaningChoices(ctx context.Context, id string) (any, error) {
	return m.Choices(ctx, id)
}

// RememberChoice implements server.MeaningChoices.
func (m Meanings) RememberChoice(ctx context.Context, id, user, term, reading string) (any, error) {
	return m.Remember(ctx, id, user, schema.Choice{Term: term, Reading: reading})
}

// ForgetChoice implements server.MeaningChoices.
func (m Meanings) ForgetChoice(ctx context.Context, id, user, choice string) (any, error) {
	return m.Forget(ctx, id, user, choice)
}
