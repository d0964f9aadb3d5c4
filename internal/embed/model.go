package embed

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"sync"
)

// modelName names the model and the package that its weights come from.
const modelName = "all-MiniLM-L6-v2 (fp16 0.1.0)"

// Files of the weights folder.
const (
	weightsFile   = "model.fp16.safetensors"
	tokenizerFile = "tokenizer.json"
)

// The shape of the model.
const (
	vocabularySize = 30522
	layerCount     = 6
	headCount      = 12
	headSize       = Dimensions / headCount
	innerSize      = 4 * Dimensions
	normEpsilon    = 1e-12
)

// A Model is all-MiniLM-L6-v2, a sentence encoder of BERT's shape. The weights of its layers are in
// memory; those of words are read where they are needed, because a text has few of them.
type Model struct {
	// fixed at creation
	tokenizer  *tokenizer
	file       io.ReaderAt
	words      int64     // where the vectors of words begin in the file
	positions  []float32 // of maxTokens places, with that of the first segment added
	inputNorm  layerNorm
	layers     [layerCount]layer
	activation activationTable

	scratch sync.Pool // of *scratch
}

type layer struct {
	attention  matrix // queries, keys and values beside each other
	output     matrix
	outputNorm layerNorm
	inner      matrix
	outer      matrix
	outerNorm  layerNorm
}

// Load reads a model from a folder with its weights and its vocabulary.
func Load(dir fs.FS) (*Model, error) { return load(dir, hasVNNI) }

// load reads a model; with bytes it computes in bytes where it can.
func load(dir fs.FS, bytes bool) (*Model, error) {
	tokenizer, err := loadTokenizer(dir)
	if err != nil {
		return nil, fmt.Errorf("loading the embedding model: %w", err)
	}
	t, err := openTensors(dir, weightsFile)
	if err != nil {
		return nil, fmt.Errorf("loading the embedding model: %w", err)
	}
	m := &Model{tokenizer: tokenizer, file: t.at, activation: newActivationTable()}
	m.scratch.New = func() any { return new(scratch) }
	if err := m.loadWeights(t, bytes); err != nil {
		return nil, fmt.Errorf("loading the embedding model: %w", err)
	}
	return m, nil
}

// Name implements [Encoder].
func (m *Model) Name() string { return modelName }

func (m *Model) loadWeights(t *tensors, bytes bool) (err error) {
	if m.words, err = t.find("embeddings.word_embeddings.weight", vocabularySize, Dimensions); err != nil {
		return err
	}
	positions, err := t.load("embeddings.position_embeddings.weight", 2*maxTokens, Dimensions)
	if err != nil {
		return err
	}
	segments, err := t.load("embeddings.token_type_embeddings.weight", 2, Dimensions)
	if err != nil {
		return err
	}
	m.positions = positions[:maxTokens*Dimensions]
	for i := range m.positions {
		m.positions[i] += segments[i%Dimensions]
	}
	if m.inputNorm, err = loadNorm(t, "embeddings.LayerNorm"); err != nil {
		return err
	}
	for i := range m.layers {
		if m.layers[i], err = loadLayer(t, bytes, fmt.Sprintf("encoder.layer.%d.", i)); err != nil {
			return err
		}
	}
	return nil
}

func loadLayer(t *tensors, bytes bool, prefix string) (l layer, err error) {
	if l.attention, err = loadMatrix(t, bytes, Dimensions, Dimensions, prefix+"attention.self.query", prefix+"attention.self.key", prefix+"attention.self.value"); err != nil {
		return l, err
	}
	if l.output, err = loadMatrix(t, bytes, Dimensions, Dimensions, prefix+"attention.output.dense"); err != nil {
		return l, err
	}
	if l.outputNorm, err = loadNorm(t, prefix+"attention.output.LayerNorm"); err != nil {
		return l, err
	}
	if l.inner, err = loadMatrix(t, bytes, Dimensions, innerSize, prefix+"intermediate.dense"); err != nil {
		return l, err
	}
	if l.outer, err = loadMatrix(t, bytes, innerSize, Dimensions, prefix+"output.dense"); err != nil {
		return l, err
	}
	l.outerNorm, err = loadNorm(t, prefix+"output.LayerNorm")
	return l, err
}

// loadMatrix packs the named weights beside each other into one matrix.
func loadMatrix(t *tensors, bytes bool, depth, columns int, names ...string) (matrix, error) {
	var weights, bias []float32
	for _, name := range names {
		w, err := t.load(name+".weight", columns, depth)
		if err != nil {
			return matrix{}, err
		}
		b, err := t.load(name+".bias", columns)
		if err != nil {
			return matrix{}, err
		}
		weights, bias = append(weights, w...), append(bias, b...)
	}
	columns *= len(names)
	if bytes {
		return matrix{bytes: packBytes(weights, bias, depth, columns)}, nil
	}
	return pack(weights, bias, depth, columns), nil
}

type layerNorm struct{ weight, bias []float32 }

func loadNorm(t *tensors, name string) (n layerNorm, err error) {
	if n.weight, err = t.load(name+".weight", Dimensions); err != nil {
		return n, err
	}
	n.bias, err = t.load(name+".bias", Dimensions)
	return n, err
}

// apply gives a row the mean 0 and the variance 1, then scales and shifts it.
func (n *layerNorm) apply(row []float32) {
	var sum, square float32
	for _, v := range row {
		sum += v
	}
	mean := sum / Dimensions
	for _, v := range row {
		square += (v - mean) * (v - mean)
	}
	inverse := float32(1 / math.Sqrt(float64(square/Dimensions)+normEpsilon))
	for i, v := range row {
		row[i] = (v-mean)*inverse*n.weight[i] + n.bias[i]
	}
}

// addNormPortable replaces a row by the norm of its sum with more.
func (n *layerNorm) addNormPortable(row, more []float32) {
	for i, v := range more {
		row[i] += v
	}
	n.apply(row)
}

// An activationTable is GELU on [-activationRange, activationRange], between whose points values
// are interpolated.
type activationTable []float32

const (
	activationRange = 8
	activationSteps = 1024 // for each 1
)

func newActivationTable() activationTable {
	t := make(activationTable, 2*activationRange*activationSteps+2)
	for i := range t {
		x := float64(i)/activationSteps - activationRange
		t[i] = float32(x / 2 * (1 + math.Erf(x/math.Sqrt2)))
	}
	return t
}

func (t activationTable) interpolate(values []float32) {
	for i, v := range values {
		switch {
		case v >= activationRange:
		case v <= -activationRange:
			values[i] = 0
		default:
			at := (v + activationRange) * activationSteps
			k := int(at)
			values[i] = t[k] + (at-float32(k))*(t[k+1]-t[k])
		}
	}
}
