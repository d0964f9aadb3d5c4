package embed

import (
	"context"
	"hash/fnv"
)

// Words is the encoder of a program without weights: it compares the words of texts and the groups
// of three letters in them, and knows nothing of meaning.
type Words struct{}

// Name implements [Encoder].
func (Words) Name() string { return "words-1" }

// wholeWord is how much a word counts beside one of its groups of letters.
const wholeWord = 3

// Embed implements [Encoder].
func (Words) Embed(ctx context.Context, texts []string) ([]Vector, error) {
	out := make([]Vector, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := make(Vector, Dimensions)
		for word := range basicTokens(normalise(text)) {
			v.addFeature(word, wholeWord)
			framed := "^" + word + "$"
			for j := 0; j+3 <= len(framed); j++ {
				v.addFeature(framed[j:j+3], 1)
			}
		}
		v.normalise()
		out[i] = v
	}
	return out, nil
}

// addFeature adds weight at the place and with the sign that the feature's hash gives.
func (v Vector) addFeature(feature string, weight float32) {
	h := fnv.New32a()
	h.Write([]byte(feature))
	sum := h.Sum32()
	if sum&(1<<31) != 0 {
		weight = -weight
	}
	v[sum%Dimensions] += weight
}
