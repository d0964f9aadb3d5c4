package query

import (
	"math"
	"math/big"
	"strconv"
)

// An int128 is a HUGEINT or the inside of a wide decimal.
type int128 struct {
	lo uint64
	hi int64
}

func (h int128) small() (int64, bool) {
	return int64(h.lo), h.hi == 0 && h.lo <= math.MaxInt64 || h.hi == -1 && h.lo > math.MaxInt64
}

func (h int128) big() *big.Int {
	v := new(big.Int).Lsh(big.NewInt(h.hi), 64)
	return v.Add(v, new(big.Int).SetUint64(h.lo))
}

func writeHuge(v *vector, dst []byte, row int) []byte {
	h := at[int128](v, row)
	if n, ok := h.small(); ok {
		v.wide = n > safeInteger || n < -safeInteger
		return strconv.AppendInt(dst, n, 10)
	}
	v.wide = true
	return h.big().Append(dst, 10)
}

func writeUHuge(v *vector, dst []byte, row int) []byte {
	h := at[[2]uint64](v, row)
	if h[1] == 0 {
		v.wide = h[0] > safeInteger
		return strconv.AppendUint(dst, h[0], 10)
	}
	v.wide = true
	n := new(big.Int).Lsh(new(big.Int).SetUint64(h[1]), 64)
	return n.Add(n, new(big.Int).SetUint64(h[0])).Append(dst, 10)
}

// exactDigits is how many decimal digits a float always holds.
const exactDigits = 1_000_000_000_000_000

func decimalWriter(width int) func(*vector, []byte, int) []byte {
	switch width {
	case 2:
		return func(v *vector, dst []byte, row int) []byte { return v.appendDecimal(dst, int64(at[int16](v, row))) }
	case 4:
		return func(v *vector, dst []byte, row int) []byte { return v.appendDecimal(dst, int64(at[int32](v, row))) }
	case 8:
		return func(v *vector, dst []byte, row int) []byte { return v.appendDecimal(dst, at[int64](v, row)) }
	}
	return func(v *vector, dst []byte, row int) []byte {
		h := at[int128](v, row)
		if n, ok := h.small(); ok && n != math.MinInt64 && v.scale < len(smallPowers) {
			return v.appendDecimal(dst, n)
		}
		v.wide = true
		return appendPoint(dst, h.big().String(), v.scale)
	}
}

func (v *vector) appendDecimal(dst []byte, n int64) []byte {
	v.wide = n >= exactDigits || n <= -exactDigits
	if v.scale == 0 {
		return strconv.AppendInt(dst, n, 10)
	}
	if n < 0 {
		dst, n = append(dst, '-'), -n
	}
	p := smallPowers[v.scale]
	dst = strconv.AppendInt(dst, n/p, 10)
	dst = append(dst, '.')
	rest := n % p
	for p /= 10; p > 0; p /= 10 {
		dst = append(dst, byte('0'+rest/p%10))
	}
	return dst
}

// appendPoint puts the point into a whole number's text.
func appendPoint(dst []byte, s string, scale int) []byte {
	if scale == 0 {
		return append(dst, s...)
	}
	if s[0] == '-' {
		dst, s = append(dst, '-'), s[1:]
	}
	for len(s) <= scale {
		s = "0" + s
	}
	dst = append(dst, s[:len(s)-scale]...)
	dst = append(dst, '.')
	return append(dst, s[len(s)-scale:]...)
}
