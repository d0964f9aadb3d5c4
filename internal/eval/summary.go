package eval

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Score is the figures that belong together.
type Score struct {
	N         int     `json:"n"`
	Right     int     `json:"right"`
	Answered  int     `json:"answered"`
	Asked     int     `json:"asked"`
	Declined  int     `json:"declined"`
	EX        float64 `json:"ex"`        // right of all
	Coverage  float64 `json:"coverage"`  // answered of all
	Precision float64 `json:"precision"` // right of answered
}

// A Summary is a whole evaluation.
type Summary struct {
	Score
	P50        float64          `json:"p50_ms"`
	P95        float64          `json:"p95_ms"`
	ByDatabase map[string]Score `json:"by_database"`
	Bands      []Band           `json:"by_confidence,omitempty"`
	Failures   []Record         `json:"failures"`
}

// A Band is the answers whose confidence lies in [From, To).
type Band struct {
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Answered int     `json:"answered"`
	Right    int     `json:"right"`
}

func (s *Score) add(o Outcome) {
	s.N++
	switch o {
	case Right:
		s.Right++
		s.Answered++
	case Wrong:
		s.Answered++
	case Asked:
		s.Asked++
	case Declined:
		s.Declined++
	}
	s.EX = ratio(s.Right, s.N)
	s.Coverage = ratio(s.Answered, s.N)
	s.Precision = ratio(s.Right, s.Answered)
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// bands is how many the answers are parted into by their confidence.
const bands = 20

// Summarise sums records up.
func Summarise(records []Record) Summary {
	s := Summary{ByDatabase: map[string]Score{}, Failures: []Record{}}
	for i := range bands {
		s.Bands = append(s.Bands, Band{From: float64(i) / bands, To: float64(i+1) / bands})
	}
	var times []time.Duration
	for _, r := range records {
		s.add(r.Outcome)
		db := s.ByDatabase[r.DB]
		db.add(r.Outcome)
		s.ByDatabase[r.DB] = db
		times = append(times, r.Elapsed)
		if r.Outcome == Right || r.Outcome == Wrong {
			b := &s.Bands[min(max(int(r.Confidence*bands), 0), len(s.Bands)-1)]
			b.Answered++
			if r.Outcome == Right {
				b.Right++
			}
		}
		if r.Outcome != Right {
			s.Failures = append(s.Failures, r)
		}
	}
	slices.Sort(times)
	at := func(q float64) float64 {
		if len(times) == 0 {
			return 0
		}
		return float64(times[min(int(q*float64(len(times))), len(times)-1)].Microseconds()) / 1000
	}
	s.P50, s.P95 = at(0.5), at(0.95)
	s.Bands = slices.DeleteFunc(s.Bands, func(b Band) bool { return b.Answered == 0 })
	return s
}

// String is the summary as a person reads it.
func (s Summary) String() string {
	var b strings.Builder
	line := func(name string, x Score) {
		fmt.Fprintf(&b, "%-30s n %4d  right of all %5.1f %%  answered %5.1f %%  precision %5.1f %%  asked %d, declined %d\n",
			name, x.N, 100*x.EX, 100*x.Coverage, 100*x.Precision, x.Asked, x.Declined)
	}
	line("all", s.Score)
	for _, db := range slices.Sorted(maps.Keys(s.ByDatabase)) {
		line(db, s.ByDatabase[db])
	}
	for _, band := range s.Bands {
		fmt.Fprintf(&b, "confidence %.2f to %.2f: %d of %d right\n", band.From, band.To, band.Right, band.Answered)
	}
	fmt.Fprintf(&b, "p50 %.2f ms, p95 %.2f ms\n", s.P50, s.P95)
	return b.String()
}
