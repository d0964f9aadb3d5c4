package source

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"time"

	"interlock/internal/schema"
)

// putText stores a value that its system gave as text.
func (b *Batch) putText(v *vector, p []byte) error {
	if p == nil {
		v.putNull()
		return nil
	}
	return codecs[v.column.Type.Kind].parse(b, v, p)
}

func parseUUID(canonical string) (u [16]byte, err error) {
	digits := canonical[:8] + canonical[9:13] + canonical[14:18] + canonical[19:23] + canonical[24:]
	_, err = hex.Decode(u[:], []byte(digits))
	return u, err
}

// putDecimal reads digits with a point, exactly.
func (b *Batch) putDecimal(v *vector, p []byte) error {
	t := v.column.Type
	if fitsInt64(t) {
		if n, ok := narrowUnits(p, t.Scale); ok && n < pow10[t.Width] && n > -pow10[t.Width] {
			v.putInt(n)
			return nil
		}
	}
	r, ok := new(big.Rat).SetString(string(p))
	if !ok || len(p) > 200 || !numeralForm.Match(p) {
		return fmt.Errorf("%s is not a number", describeValue(string(p)))
	}
	down, up := neighbours(r, t.Scale)
	if down.Cmp(up) != 0 {
		return fmt.Errorf("%s has more digits than %s", p, t)
	}
	return b.putUnits(v, down)
}

var pow10 = func() (p [19]int64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// narrowUnits reads an everyday decimal without big numbers; not ok means "read it the long way".
func narrowUnits(p []byte, scale int) (n int64, ok bool) {
	if len(p) == 0 || len(p) > 18 {
		return 0, false
	}
	negative := p[0] == '-'
	if negative {
		p = p[1:]
	}
	after := -1
	for _, c := range p {
		switch {
		case c == '.' && after < 0:
			after = 0
		case c >= '0' && c <= '9':
			n = n*10 + int64(c-'0')
			if after >= 0 {
				after++
			}
		default:
			return 0, false
		}
	}
	missing := scale - max(after, 0)
	if len(p) == 0 || missing < 0 || missing+len(p) > 18 {
		return 0, false
	}
	n *= pow10[missing]
	if negative {
		n = -n
	}
	return n, true
}

// parseDate stores a day.
func parseDate(_ *Batch, v *vector, p []byte) error {
	if len(p) == 10 {
		if days, ok := parseDay(p); ok {
			v.putInt(days)
			return nil
		}
	}
	t, ok := parseTime(string(p))
	if !ok || t != t.Truncate(24*time.Hour) {
		return fmt.Errorf("%s is not a date", describeValue(string(p)))
	}
	v.putInt(floorDiv(t.Unix(), 86400))
	return nil
}

// parseInstant reads a point in time in µs since 1970; without a zone it is UTC.
func parseInstant(p []byte) (int64, bool) {
	if len(p) >= 19 && (p[10] == ' ' || p[10] == 'T') {
		days, ok := parseDay(p[:10])
		micros, fits := parseClock(p[11:])
		if ok && fits {
			return days*86_400_000_000 + micros, true
		}
	}
	t, ok := parseTime(string(p))
	return t.UnixMicro(), ok
}

// parseClock reads HH:MM:SS with up to 6 digits after it, in µs.
func parseClock(p []byte) (int64, bool) {
	if len(p) < 8 || len(p) > 15 || p[2] != ':' || p[5] != ':' {
		return 0, false
	}
	h, m, s := parseTwoDigits(p[0:]), parseTwoDigits(p[3:]), parseTwoDigits(p[6:])
	if h < 0 || h > 23 || m < 0 || m > 59 || s < 0 || s > 59 {
		return 0, false
	}
	micros := (h*3600 + m*60 + s) * 1_000_000
	if len(p) == 8 {
		return micros, true
	}
	if p[8] != '.' || len(p) == 9 {
		return 0, false
	}
	unit := int64(100_000)
	for _, c := range p[9:] {
		if c < '0' || c > '9' {
			return 0, false
		}
		micros += int64(c-'0') * unit
		unit /= 10
	}
	return micros, true
}

// parseDay reads YYYY-MM-DD in days since 1970.
func parseDay(p []byte) (int64, bool) {
	if p[4] != '-' || p[7] != '-' {
		return 0, false
	}
	hi, lo, m, d := parseTwoDigits(p), parseTwoDigits(p[2:]), parseTwoDigits(p[5:]), parseTwoDigits(p[8:])
	if hi < 0 || lo < 0 || hi+lo == 0 || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0, false
	}
	t := time.Date(int(hi*100+lo), time.Month(m), int(d), 0, 0, 0, 0, time.UTC)
	return floorDiv(t.Unix(), 86400), t.Day() == int(d)
}

func parseTwoDigits(p []byte) int64 {
	if p[0] < '0' || p[0] > '9' || p[1] < '0' || p[1] > '9' {
		return -1
	}
	return int64(p[0]-'0')*10 + int64(p[1]-'0')
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// putAny stores a value as database/sql gives it.
func (b *Batch) putAny(v *vector, value any) error {
	kind := v.column.Type.Kind
	switch x := value.(type) {
	case nil:
		v.putNull()
	case []byte:
		if x == nil {
			x = []byte{} // a value all the same
		}
		return b.putText(v, x)
	case string:
		return b.putText(v, []byte(x))
	case bool:
		if kind == schema.Bool {
			v.putInt(map[bool]int64{true: 1}[x])
			return nil
		}
		return b.putText(v, strconv.AppendBool(nil, x))
	case int64:
		switch kind {
		case schema.Int:
			v.putInt(x)
		case schema.Float:
			v.putFloat(float64(x))
		default:
			return b.putText(v, strconv.AppendInt(nil, x, 10))
		}
	case float32:
		return b.putAny(v, float64(x)) // as wide as filters see it
	case float64:
		switch kind {
		case schema.Float:
			v.putFloat(x)
		case schema.Decimal: // the shortest text that means x, at the column's scale
			return b.putText(v, strconv.AppendFloat(nil, x, 'f', -1, 64))
		default:
			return b.putText(v, strconv.AppendFloat(nil, x, 'g', -1, 64))
		}
	case time.Time:
		switch kind {
		case schema.Date: // the day that its own zone calls it
			y, m, d := x.Date()
			v.putInt(floorDiv(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix(), 86400))
		case schema.Time:
			h, m, s := x.Clock()
			v.putInt(int64(h*3600+m*60+s)*1_000_000 + int64(x.Nanosecond()/1000))
		case schema.Timestamp, schema.TimestampTZ:
			v.putInt(x.UnixMicro())
		default:
			return b.putText(v, []byte(x.UTC().Format(time.RFC3339Nano)))
		}
	default: // decimals, UUIDs and other types of a driver's own, and plain numbers
		return b.putText(v, []byte(fmt.Sprint(x)))
	}
	return nil
}
