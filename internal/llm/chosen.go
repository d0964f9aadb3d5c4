package llm

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"interlock/internal/fault"
)

// A LocalModel is a model of a server on this machine that a person agreed to use.
type LocalModel struct {
	URL       string     `json:"url" doc:"Base address of its server."`
	Model     string     `json:"model"`
	AgreedAt  time.Time  `json:"agreed_at"`
	AgreedBy  string     `json:"agreed_by,omitempty"`
	Abilities *Abilities `json:"abilities,omitempty" doc:"What was found out about it."`
}

// ChosenModels is what people chose while the server runs: the key of a provider, or a model
// on this machine that may be used, with what was found out about each that was asked.
type ChosenModels struct {
	Key   *GivenKey            `json:"key,omitempty"`
	Use   *LocalModel          `json:"use,omitempty"`
	Known map[string]Abilities `json:"known,omitempty"` // by address and name with a space between
}

// maxChosenModels bounds the file.
const maxChosenModels = 1 << 20

// ReadChosenModels reads the file; one that does not exist holds nothing. An address that
// is not on this machine is an error: no edit of the file sends data elsewhere.
func ReadChosenModels(path string) (ChosenModels, error) {
	var l ChosenModels
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return l, nil
	}
	if err == nil && len(raw) > maxChosenModels {
		err = errors.New("it is too long")
	}
	if err == nil {
		err = json.Unmarshal(raw, &l)
	}
	if err == nil && l.Use != nil {
		err = CheckLocalURL(l.Use.URL)
	}
	if err != nil {
		return ChosenModels{}, fault.Wrap(err, fault.BadSetting, "the file %s cannot be used: %v", path, err).Suggest("Remove it, and choose the model again: `interlock model use URL MODEL`.")
	}
	if l.Use != nil {
		if a, ok := l.Known[l.Use.key()]; ok {
			l.Use.Abilities = &a
		}
	}
	return l, nil
}

// Write replaces the file, whole or not at all. Only the user of the server can read it.
func (l ChosenModels) Write(path string) error {
	if l.Use != nil {
		use := *l.Use
		use.Abilities = nil // they stand under Known
		l.Use = &use
	}
	raw, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".models-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Choose makes a model the one that is used.
func (l *ChosenModels) Choose(m LocalModel) {
	if m.Abilities != nil {
		if l.Known == nil {
			l.Known = map[string]Abilities{}
		}
		l.Known[m.key()] = *m.Abilities
	}
	l.Use = &m
}

func (m LocalModel) key() string { return m.URL + " " + m.Model }
