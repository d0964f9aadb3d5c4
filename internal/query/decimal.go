package query

import (
	"fmt"
	"math"
	"math/big"
	"unsafe"

	"interlock/internal/schema"
)

var powersOfTen = func() (p [39]*big.Int) {
	p[0] = big.NewInt(1)
	for i := 1; i < len(p); i++ {
		p[i] = new(big.Int).Mul(p[i-1], big.NewInt(10))
	}
	return p
}()

var smallPowers = func() (p [19]int64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// split128 gives v as two words, if it fits.
func split128(v *big.Int) (hi int64, lo uint64, ok bool) {
	if v.BitLen() > 127 {
		return 0, 0, false
	}
	mag := new(big.Int).Abs(v)
	lo = new(big.Int).And(mag, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	hi = int64(new(big.Int).Rsh(mag, 64).Uint64())
	if v.Sign() < 0 {
		lo = -lo
		hi = ^hi
		if lo == 0 {
			hi++
		}
	}
	return hi, lo, true
}

// DecimalInt sets a Decimal cell to unscaled / 10^scale, exactly: digits beyond the
// column's scale must be zeros.
func (a *Appender) DecimalInt(col int, unscaled int64, scale int) {
	if a.cell(col, 0, schema.Decimal) == nil {
		return
	}
	c := &a.columns[col]
	up := c.Type.Scale - scale
	if c.width <= 8 && up >= 0 && up < len(smallPowers) {
		p := smallPowers[up]
		v := unscaled * p
		limit := smallPowers[c.Type.Width]
		if v/p == unscaled && v < limit && v > -limit {
			a.storeSmall(c, v)
			return
		}
	}
	a.DecimalBig(col, big.NewInt(unscaled), scale)
}

func (a *Appender) storeSmall(c *appendColumn, v int64) {
	p := unsafe.Add(c.data, a.row*c.width)
	switch c.width {
	case 2:
		*(*int16)(p) = int16(v)
	case 4:
		*(*int32)(p) = int32(v)
	default:
		*(*int64)(p) = v
	}
}

// DecimalBig is DecimalInt for numbers of any size.
func (a *Appender) DecimalBig(col int, unscaled *big.Int, scale int) {
	if a.cell(col, 0, schema.Decimal) == nil {
		return
	}
	c := &a.columns[col]
	v, up := unscaled, c.Type.Scale-scale
	switch {
	case up > 0 && up < len(powersOfTen):
		v = new(big.Int).Mul(v, powersOfTen[up])
	case up < 0 && -up < len(powersOfTen):
		var rest big.Int
		v, _ = new(big.Int).QuoRem(v, powersOfTen[-up], &rest)
		if rest.Sign() != 0 {
			a.reportMisfit(col, decimalText(unscaled, scale))
			return
		}
	case up != 0 && unscaled.Sign() != 0:
		a.reportMisfit(col, decimalText(unscaled, scale))
		return
	}
	if new(big.Int).Abs(v).Cmp(powersOfTen[c.Type.Width]) >= 0 {
		a.reportMisfit(col, decimalText(unscaled, scale))
		return
	}
	if c.width <= 8 {
		a.storeSmall(c, v.Int64())
		return
	}
	hi, lo, _ := split128(v)
	p := unsafe.Add(c.data, a.row*16)
	*(*uint64)(p), *(*int64)(unsafe.Add(p, 8)) = lo, hi
}

func decimalText(unscaled *big.Int, scale int) string {
	if scale <= 0 {
		return fmt.Sprintf("%se%d", unscaled, -scale)
	}
	return fmt.Sprintf("%s/10^%d", unscaled, scale)
}

// DecimalText sets a Decimal cell from text like -12.50 or 1e3, exactly.
func (a *Appender) DecimalText(col int, text []byte) {
	if a.cell(col, 0, schema.Decimal) == nil {
		return
	}
	unscaled, scale, ok := parseDecimal(text)
	if !ok {
		a.reportMisfit(col, string(text[:min(len(text), 60)]))
		return
	}
	if unscaled == nil {
		unscaled = new(big.Int)
	}
	if unscaled.IsInt64() {
		a.DecimalInt(col, unscaled.Int64(), scale)
		return
	}
	a.DecimalBig(col, unscaled, scale)
}

// parseDecimal reads sign, digits, point and exponent.
func parseDecimal(text []byte) (unscaled *big.Int, scale int, ok bool) {
	digits := make([]byte, 0, 40)
	i := 0
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		if text[i] == '-' {
			digits = append(digits, '-')
		}
		i++
	}
	first, point := len(digits), false
	for ; i < len(text); i++ {
		switch ch := text[i]; {
		case ch >= '0' && ch <= '9':
			digits = append(digits, ch)
			if point {
				scale++
			}
			continue
		case ch == '.' && !point:
			point = true
			continue
		}
		break
	}
	if len(digits) == first || len(digits) > 200 {
		return nil, 0, false
	}
	if i < len(text) {
		exp, ok := parseExponent(text[i:])
		if !ok {
			return nil, 0, false
		}
		scale -= exp
	}
	if first == len(digits)-1 || len(digits)-first <= 18 {
		return big.NewInt(smallInt(digits)), scale, true
	}
	v, ok := new(big.Int).SetString(string(digits), 10)
	return v, scale, ok
}

func smallInt(digits []byte) (v int64) {
	negative := digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	for _, d := range digits {
		v = v*10 + int64(d-'0')
	}
	if negative {
		return -v
	}
	return v
}

func parseExponent(text []byte) (int, bool) {
	if len(text) < 2 || text[0]|0x20 != 'e' {
		return 0, false
	}
	text = text[1:]
	sign := 1
	if text[0] == '-' || text[0] == '+' {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	if len(text) == 0 || len(text) > 4 {
		return 0, false
	}
	n := 0
	for _, d := range text {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = n*10 + int(d-'0')
	}
	return sign * n, true
}
