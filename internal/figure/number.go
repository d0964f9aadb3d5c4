package figure

import (
	"math"
	"strconv"
	"strings"
)

// A reading is one way to understand a written number. "1.234" has two: English and German.
type reading struct {
	value  float64
	unit   float64 // of the last digit that is written: 0.1 for 12.3, 1e5 for 1.2 million
	digits int     // significant ones
	loose  bool    // a share in words, such as a third: people say it of what lies around it
}

// readings understands digits with separators.
func readings(text string) []reading {
	text = strings.Map(func(r rune) rune {
		switch r {
		case '\'', '’', '\u00a0', '\u202f', '\u2007', '\u2009', ' ':
			return -1 // only ever between thousands
		}
		return r
	}, text)
	if mantissa, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok { // 4.8e4
		n, err := strconv.Atoi(exponent)
		if err != nil || n < -300 || n > 300 {
			return nil
		}
		var scaled []reading
		for _, r := range readings(mantissa) {
			scaled = append(scaled, r.scaled(math.Pow10(n)))
		}
		return scaled
	}
	dots, commas := strings.Count(text, "."), strings.Count(text, ",")
	switch {
	case dots > 0 && commas > 0:
		if strings.LastIndex(text, ".") > strings.LastIndex(text, ",") {
			return decimal(strings.ReplaceAll(text, ",", ""))
		}
		return decimal(strings.ReplaceAll(strings.ReplaceAll(text, ".", ""), ",", "."))
	case dots+commas > 1:
		return decimal(strings.NewReplacer(".", "", ",", "").Replace(text))
	case dots+commas == 1:
		i := strings.IndexAny(text, ".,")
		point := decimal(text[:i] + "." + text[i+1:])
		if len(text)-i-1 != 3 || i > 3 || text[0] == '0' {
			return point
		}
		thousands := decimal(text[:i] + text[i+1:])
		if text[i] == ',' {
			return append(thousands, point...)
		}
		return append(point, thousands...)
	}
	return decimal(text)
}

func decimal(text string) []reading {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(value, 0) {
		return nil
	}
	unit, places := 1.0, 0
	if _, fraction, ok := strings.Cut(text, "."); ok {
		places = len(fraction)
		unit = math.Pow10(-places)
	}
	digits := len(strings.TrimLeft(strings.Replace(text, ".", "", 1), "0"))
	return []reading{{value: value, unit: unit, digits: max(digits, 1)}}
}

// scaled multiplies a reading, such as by a million.
func (r reading) scaled(by float64) reading {
	return reading{value: r.value * by, unit: r.unit * by, digits: r.digits}
}

// A closeness says how near a value must be to a figure.
type closeness int

const (
	rounded closeness = iota // to the digits that are written
	about                    // "about 1,200": zeros at the end are no digits
	above                    // "more than 1,000"
	below                    // "almost 1,000"
)

// fits says whether a value may be written as the reading is.
func (r reading) fits(value float64, c closeness) bool {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return false
	}
	off := value - r.value
	slack := r.unit/2 + math.Abs(r.value)*1e-9 // halves may be rounded either way
	if math.Abs(off) <= slack {
		return true
	}
	if r.loose {
		switch c {
		case above:
			return off > 0 && off <= r.value*0.25
		case below:
			return off < 0 && -off <= r.value*0.15
		}
		return math.Abs(off) <= r.value*0.1
	}
	coarse := r.coarse()
	switch c {
	case about:
		return math.Abs(off) <= coarse/2 && math.Abs(off) <= math.Abs(r.value)*0.1
	case above:
		return off > 0 && off <= coarse && off <= math.Abs(r.value)*0.25
	case below:
		return off < 0 && -off <= coarse && -off <= math.Abs(r.value)*0.25
	}
	return false
}

// isExactly says whether the reading is the value itself, with no rounding.
func (r reading) isExactly(value float64) bool {
	return math.Abs(value-r.value) <= math.Max(math.Abs(r.value), 1e-3)*1e-9
}

// coarse is the unit of the last digit that is not a zero at the end.
func (r reading) coarse() float64 {
	unit := r.unit
	n := math.Round(math.Abs(r.value) / unit)
	for n >= 10 && math.Mod(n, 10) == 0 {
		n, unit = n/10, unit*10
	}
	return unit
}
