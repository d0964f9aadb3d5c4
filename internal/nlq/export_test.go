package nlq

import "time"

// FeatureNames are the names of the features of a reading.
func FeatureNames() []string {
	var names []string
	for _, f := range features {
		names = append(names, f.name)
	}
	return names
}

// FeatureValues are the features of one reading, nil where there is no plan.
func FeatureValues(x *Index, text string, now time.Time) []float64 {
	g := readQuestion(x, text, now, nil)
	if g.plan == nil {
		return nil
	}
	var out []float64
	for _, f := range features {
		out = append(out, f.value(&evidence{g.r, g.plan}))
	}
	return out
}
