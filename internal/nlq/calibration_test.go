package nlq_test

import (
	"flag"
	"math"
	"testing"
	"time"

	"interlock/internal/eval"
	"interlock/internal/nlq"
)

var fit = flag.Bool("fit", false, "log the weights of the confidence, fitted on all questions")

// A sample is the features of one plan and whether it was right.
type sample struct {
	db    string
	x     []float64
	right bool
}

// TestCalibration fits the weights of the confidence on all databases but one and
// measures on that one, for each in turn: what was learned must hold on data that it
// was not learned from. Known answers that give nothing are left out.
func TestCalibration(t *testing.T) {
	dir := benchDir(t)
	cases, err := eval.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	bases := map[string]*base{}
	var samples []sample
	for _, c := range cases {
		b := bases[c.DB]
		if b == nil {
			b = open(t, c.Database(dir))
			bases[c.DB] = b
		}
		_, r := answer(b, c)
		if v := nlq.FeatureValues(b.index, c.Question, time.Time{}); v != nil && r.Outcome != eval.Declined && r.Note != emptyGold {
			samples = append(samples, sample{c.DB, v, r.Outcome == eval.Right})
		}
	}
	answered, right := 0, 0
	var bands [10][2]int
	for db := range bases {
		var train []sample
		for _, s := range samples {
			if s.db != db {
				train = append(train, s)
			}
		}
		w, bias := regress(train)
		for _, s := range samples {
			if s.db != db {
				continue
			}
			p := logistic(w, bias, s.x)
			band := &bands[min(int(p*10), 9)]
			band[0]++
			if s.right {
				band[1]++
			}
			if p >= 0.75 {
				answered++
				if s.right {
					right++
				}
			}
		}
	}
	for i, b := range bands {
		t.Logf("left out, confidence %.1f to %.1f: %d of %d right", float64(i)/10, float64(i+1)/10, b[1], b[0])
	}
	ex, precision := float64(right)/float64(len(cases)), float64(right)/float64(answered)
	t.Logf("left out, from 0.75 on: right of all %.3f, precision %.3f", ex, precision)
	if ex < 0.45 || precision < 0.85 {
		t.Errorf("on databases left out: right of all %.3f, precision %.3f; to reach 0.45 and 0.85", ex, precision)
	}
	if *fit {
		w, bias := regress(samples)
		t.Logf("bias %.2f", bias)
		for i, name := range nlq.FeatureNames() {
			t.Logf("%-30s %.2f", name, w[i])
		}
	}
}

func logistic(w []float64, bias float64, x []float64) float64 {
	z := bias
	for i := range w {
		z += w[i] * x[i]
	}
	return 1 / (1 + math.Exp(-z))
}

// regress fits a logistic regression by gradient descent on scaled features, with a
// little shrinkage. A feature is a doubt: its weight stays between -3 and 0.
func regress(samples []sample) ([]float64, float64) {
	n, k := float64(len(samples)), len(samples[0].x)
	scale := make([]float64, k)
	for j := range k {
		var sum, square float64
		for _, s := range samples {
			sum += s.x[j]
			square += s.x[j] * s.x[j]
		}
		scale[j] = math.Sqrt(max(square/n-sum/n*sum/n, 0)) + 1e-9
	}
	w, bias := make([]float64, k), 0.0
	for range 600 {
		g, gb := make([]float64, k), 0.0
		for _, s := range samples {
			y := 0.0
			if s.right {
				y = 1
			}
			d := logistic(w, bias, s.x) - y
			gb += d
			for j, x := range s.x {
				if x != 0 {
					g[j] += d * x / scale[j]
				}
			}
		}
		bias -= 0.5 * gb / n
		for j := range w {
			w[j] -= 0.5 * (g[j]/n + w[j]*scale[j]/n) / scale[j]
			w[j] = min(max(w[j], -3), 0)
		}
	}
	return w, bias
}
