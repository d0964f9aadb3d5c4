package query

import (
	"encoding/binary"
	"math"
	"strconv"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// temporal sets up the types of time and the other fixed-size types with a text
// form: all are written as the engine's own cast to text would.
func (v *vector) temporal(kind duck.Type) {
	v.style = quoted
	switch kind {
	case duck.TypeDate:
		v.write = func(v *vector, dst []byte, row int) []byte { return appendDate(dst, int64(at[int32](v, row)), true) }
	case duck.TypeTimestamp:
		v.write = func(v *vector, dst []byte, row int) []byte { return appendTimestamp(dst, at[int64](v, row), 6) }
	case duck.TypeTimestampTZ:
		v.write = func(v *vector, dst []byte, row int) []byte {
			n := at[int64](v, row)
			dst = appendTimestamp(dst, n, 6)
			if n == math.MaxInt64 || n == -math.MaxInt64 {
				return dst
			}
			return append(dst, "+00"...)
		}
	case duck.TypeTimestampS:
		v.write = func(v *vector, dst []byte, row int) []byte { return appendTimestamp(dst, at[int64](v, row), 0) }
	case duck.TypeTimestampMS:
		v.write = func(v *vector, dst []byte, row int) []byte { return appendTimestamp(dst, at[int64](v, row), 3) }
	case duck.TypeTimestampNS:
		v.write = func(v *vector, dst []byte, row int) []byte { return appendTimestamp(dst, at[int64](v, row), 9) }
	case duck.TypeTime:
		v.write = func(v *vector, dst []byte, row int) []byte { return appendClock(dst, at[int64](v, row), 6) }
	case duck.TypeTimeNS:
		v.write = func(v *vector, dst []byte, row int) []byte { return appendClock(dst, at[int64](v, row), 9) }
	case duck.TypeTimeTZ:
		v.write = func(v *vector, dst []byte, row int) []byte { return appendTimeTZ(dst, at[uint64](v, row)) }
	case duck.TypeInterval:
		v.write = func(v *vector, dst []byte, row int) []byte { return appendInterval(dst, at[interval](v, row)) }
	case duck.TypeUUID:
		v.write = func(v *vector, dst []byte, row int) []byte { return appendUUID(dst, at[int128](v, row)) }
	}
}

// civil turns days since 1970-01-01 into a date of the Gregorian calendar.
func civil(days int64) (year int64, month, day int) {
	days += 719468
	era := days / 146097
	if days < 0 {
		era = (days - 146096) / 146097
	}
	doe := days - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day, month = int(doy-(153*mp+2)/5+1), int(mp+3)
	year = yoe + era*400
	if month > 12 {
		month -= 12
	}
	if month <= 2 {
		year++
	}
	return year, month, day
}

func appendTwoDigits(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// appendDate writes a date; only a bare date knows infinity.
func appendDate(dst []byte, days int64, bare bool) []byte {
	switch {
	case bare && days == math.MaxInt32:
		return append(dst, "infinity"...)
	case bare && days == -math.MaxInt32:
		return append(dst, "-infinity"...)
	}
	y, m, d := civil(days)
	before := y <= 0
	if before {
		y = 1 - y
	}
	if y < 10000 {
		dst = appendTwoDigits(appendTwoDigits(dst, int(y/100)), int(y%100))
	} else {
		dst = strconv.AppendInt(dst, y, 10)
	}
	dst = appendTwoDigits(append(appendTwoDigits(append(dst, '-'), m), '-'), d)
	if before && bare {
		dst = append(dst, " (BC)"...)
	}
	return dst
}

// appendTimestamp writes an instant counted in 10^-digits seconds.
func appendTimestamp(dst []byte, n int64, digits int) []byte {
	switch n {
	case math.MaxInt64:
		return append(dst, "infinity"...)
	case -math.MaxInt64:
		return append(dst, "-infinity"...)
	}
	perDay := 86400 * smallPowers[digits]
	days, rest := n/perDay, n%perDay
	if rest < 0 {
		days, rest = days-1, rest+perDay
	}
	dst = append(appendDate(dst, days, false), ' ')
	dst = appendClock(dst, rest, digits)
	if y, _, _ := civil(days); y <= 0 {
		dst = append(dst, " (BC)"...)
	}
	return dst
}

// appendClock writes a time of day counted in 10^-digits seconds; a fraction of
// zeros is left out.
func appendClock(dst []byte, n int64, digits int) []byte {
	unit := smallPowers[digits]
	s, fraction := n/unit, n%unit
	if h := s / 3600; h < 100 {
		dst = appendTwoDigits(dst, int(h))
	} else {
		dst = strconv.AppendInt(dst, h, 10)
	}
	dst = appendTwoDigits(append(appendTwoDigits(append(dst, ':'), int(s/60%60)), ':'), int(s%60))
	if fraction == 0 {
		return dst
	}
	dst = append(dst, '.')
	end := len(dst)
	for unit /= 10; unit > 0; unit /= 10 {
		dst = append(dst, byte('0'+fraction/unit%10))
		if dst[len(dst)-1] != '0' {
			end = len(dst)
		}
	}
	return dst[:end]
}

// appendTimeTZ: 40 bits of microseconds, 24 bits of offset counted down from the
// greatest.
func appendTimeTZ(dst []byte, bits uint64) []byte {
	dst = appendClock(dst, int64(bits>>24), 6)
	offset := 16*3600 - 1 - int(bits&0xFFFFFF)
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	dst = appendTwoDigits(append(dst, sign), offset/3600)
	if m := offset / 60 % 60; m != 0 || offset%60 != 0 {
		dst = appendTwoDigits(append(dst, ':'), m)
	}
	if s := offset % 60; s != 0 {
		dst = appendTwoDigits(append(dst, ':'), s)
	}
	return dst
}

type interval struct {
	months, days int32
	micros       int64
}

func appendInterval(dst []byte, i interval) []byte {
	start := len(dst)
	part := func(n int32, unit string) {
		if n == 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = strconv.AppendInt(dst, int64(n), 10)
		dst = append(append(dst, ' '), unit...)
		if n != 1 && n != -1 {
			dst = append(dst, 's')
		}
	}
	part(i.months/12, "year")
	part(i.months%12, "month")
	part(i.days, "day")
	if i.micros != 0 || len(dst) == start {
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		n := i.micros
		if n < 0 {
			dst, n = append(dst, '-'), -n
		}
		dst = appendClock(dst, n, 6)
	}
	return dst
}

func appendUUID(dst []byte, h int128) []byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(h.hi)^1<<63)
	binary.BigEndian.PutUint64(b[8:], h.lo)
	for i, c := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}
