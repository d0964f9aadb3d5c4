package retrieve

import (
	"math"

	"interlock/internal/embed"
)

// A curve turns what is known of a text and a question into a relevancy. The weights are set by hand
// after those that `go test -run TestCalibration -fit` prints, flatter, so that scores spread over the
// thresholds; TestCalibration holds them to labelled questions. docs/benchmarks.md has the tables.
type curve struct {
	base, cosine, words float64
	// length counts how long a passage is beside one of usual length: a short one is near to any question
	// that shares its subject, a long one only to a question that it answers.
	length float64
}

// usualLength is that of a passage, in characters.
const usualLength = 400

// relevancy is in [0, 1]. A length of 0 is not known.
func (c curve) relevancy(cosine, words float64, length int) float64 {
	sum := c.base + c.cosine*cosine + c.words*words
	if length > 0 {
		sum += c.length * math.Log(float64(length)/usualLength)
	}
	return 1 / (1 + math.Exp(-sum))
}

// roundRelevancy gives a relevancy as it is shown and compared: more digits mean nothing.
func roundRelevancy(r float64) float64 { return math.Round(r*1000) / 1000 }

// A calibration has the curves of an encoder.
type calibration struct {
	passages, tables curve
	// germanPassages are for German questions: texts that the model gets word for word are nearer to each other than
	// texts in good English.
	germanPassages curve
}

var (
	modelCalibration = calibration{passages: curve{-4.6, 12, 4, 0.5}, tables: curve{-6.3, 12, 6, 0}, germanPassages: curve{-4.8, 12, 3, 0.5}}
	wordsCalibration = calibration{passages: curve{-5.8, 6, 24, 0}, tables: curve{-5.8, 6, 24, 0}, germanPassages: curve{-5.8, 6, 24, 0}}
)

// passagesFor returns the curve of passages for a question.
func (c calibration) passagesFor(question string) curve {
	if isGerman(questionWords(question)) {
		return c.germanPassages
	}
	return c.passages
}

func calibrationOf(e embed.Encoder) calibration {
	if _, words := e.(embed.Words); words {
		return wordsCalibration
	}
	return modelCalibration
}
