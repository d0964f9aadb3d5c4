package meaning

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"interlock/internal/fault"
	"interlock/internal/schema"
)

// ChoiceID names a remembered choice, so that it can be removed.
func ChoiceID(c schema.Choice) string {
	sum := sha256.Sum256([]byte(strings.ToLower(c.Term + "\x00" + c.Reading)))
	return "c" + hex.EncodeToString(sum[:6])
}

// maxChoices is how many choices a file may hold, as its schema says.
const maxChoices = 500

// AddChoice gives the text of a semantic model with one more remembered choice. An empty text is
// a model that nobody wrote yet. The rest of the text, its comments too, stays as it is.
func AddChoice(file string, text []byte, d schema.Dataset, c schema.Choice) ([]byte, error) {
	c.Term, c.Reading = strings.Join(strings.Fields(c.Term), " "), strings.Join(strings.Fields(c.Reading), " ")
	if c.Term == "" || c.Reading == "" || strings.ContainsFunc(c.Term+c.Reading, unicode.IsControl) {
		return nil, fault.New(fault.BadRequest, "a choice is a term with its reading, each a short text").Suggest(`Name both, as "when" and "the order date of orders".`)
	}
	if len(text) == 0 {
		text = bareModel(d)
	}
	return changeChoices(file, text, d, func(list []schema.Choice) ([]schema.Choice, error) {
		list = slices.DeleteFunc(list, func(o schema.Choice) bool { return o.Excludes(c) })
		if len(list) >= maxChoices {
			return nil, fault.New(fault.TooLarge, "%d choices are remembered already", len(list)).Suggest("Forget some first.")
		}
		return append(list, c), nil
	})
}

// RemoveChoice gives the text without the choice of that id.
func RemoveChoice(file string, text []byte, d schema.Dataset, id string) ([]byte, error) {
	return changeChoices(file, text, d, func(list []schema.Choice) ([]schema.Choice, error) {
		kept := slices.DeleteFunc(slices.Clone(list), func(c schema.Choice) bool { return ChoiceID(c) == id })
		if len(kept) == len(list) {
			return nil, fault.New(fault.NotFound, "no remembered choice of %q has the id %.40q", d.ID, id).Suggest("List them with `interlock meaning choices %s`.", d.ID)
		}
		return kept, nil
	})
}

// changeChoices puts another list of choices into the extension of the model.
func changeChoices(file string, text []byte, d schema.Dataset, change func([]schema.Choice) ([]schema.Choice, error)) ([]byte, error) {
	return changeList(file, text, d, "chosen", change)
}

// changeList puts another list under a key of the extension of the model; an empty one takes the key out.
func changeList[T any](file string, text []byte, d schema.Dataset, key string, change func([]T) ([]T, error)) ([]byte, error) {
	doc, found := Read(file, text)
	if doc == nil || len(doc.Models) == 0 {
		return nil, fault.New(fault.BadMeaning, "the semantic model %s cannot be read", file).With(found).Suggest("Correct it first: `interlock meaning check %s` names every error.", d.ID)
	}
	at := doc.modelOf(d.ID)
	ours := map[string]json.RawMessage{}
	for _, e := range doc.Models[at].Extensions {
		if e.Vendor == vendor {
			if err := json.Unmarshal([]byte(e.Data), &ours); err != nil {
				return nil, fault.New(fault.BadMeaning, "the extension of the model in %s is not JSON: %v", file, err).Suggest("Correct it first.")
			}
			break
		}
	}
	var list []T
	if raw := ours[key]; raw != nil {
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fault.New(fault.BadMeaning, "what stands under %s in %s cannot be read: %v", key, file, err).Suggest("Correct it first.")
		}
	}
	list, err := change(list)
	if err != nil {
		return nil, err
	}
	delete(ours, key)
	if len(list) > 0 {
		ours[key] = json.RawMessage(jsonText(list))
	}
	return writeExtension(file, text, at, jsonText(ours))
}

// bareModel is the text of a model that says nothing yet.
func bareModel(d schema.Dataset) []byte {
	return Draft{Name: d.ID, Head: []string{"What " + d.ID + " means; docs/meaning.md says what can stand here."}, Tables: bareTables(d)}.yaml()
}

// modelOf is the place of the model that is used for a dataset: the one of its name, else the first.
func (d *Document) modelOf(id string) int {
	return max(0, slices.IndexFunc(d.Models, func(m Model) bool { return strings.EqualFold(m.Name, id) }))
}
