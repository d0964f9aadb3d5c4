package source

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"interlock/internal/query"
	"interlock/internal/schema"
)

// A codec is how connectors treat the values of one kind: how a batch holds them, and how
// they come into it and out of it. codecs has one for each kind, and nothing else in this
// package lists all kinds.
type codec struct {
	storage storage
	// parse stores a value that its system gave as text.
	parse func(b *Batch, v *vector, text []byte) error
	// json appends a cell so that nothing is lost where numbers are doubles.
	json func(dst []byte, c cell) []byte
	// store sets a cell of a table of the embedded engine.
	store func(a *query.Appender, c cell)
	// bind reads the value of a condition as its column's type; it is nil for exact
	// numbers, whose conditions bindExact reads as a whole.
	bind func(t schema.Type, value any) (any, error)
}

// codecs is the table of kinds.
var codecs = [...]codec{
	schema.Other:       textCodec,
	schema.Bool:        {asInt, parseBool, jsonBool, storeBool, bindBool},
	schema.Int:         {asInt, parseInt, jsonInt, storeInt, nil},
	schema.Uint:        {asBytes, parseUint, jsonDigits, storeUint, nil},
	schema.Float:       {asFloat, parseFloat, jsonFloat, storeFloat, bindFloat},
	schema.Decimal:     {asInt, (*Batch).putDecimal, jsonDecimal, storeDecimal, nil},
	schema.Text:        textCodec,
	schema.Date:        {asInt, parseDate, jsonDate, storeDate, bindText(bindTime)},
	schema.Time:        {asInt, parseTimeOfDay, jsonTime, storeTime, bindText(bindTime)},
	schema.Timestamp:   {asInt, parseTimestamp, jsonTimestamp(""), storeTimestamp, bindText(bindTime)},
	schema.TimestampTZ: {asInt, parseTimestamp, jsonTimestamp("+00"), storeTimestamp, bindText(bindTime)},
	schema.UUID:        {asBytes, parseUUIDText, jsonUUID, storeUUID, bindText(bindUUID)},
	schema.Bytes:       {asBytes, parseText, jsonBlob, storeBlob, bindText(bindPlain)},
	schema.JSON:        textCodec,
	schema.List:        textCodec,
}

// textCodec is for kinds whose values travel as text.
var textCodec = codec{asBytes, parseText, jsonText, storeText, bindText(bindPlain)}

// A cell is one value of a batch, which is not NULL.
type cell struct {
	batch    *Batch
	col, row int
}

func (c cell) int() int64        { return c.batch.Int(c.col, c.row) }
func (c cell) float() float64    { return c.batch.Float(c.col, c.row) }
func (c cell) bytes() []byte     { return c.batch.Bytes(c.col, c.row) }
func (c cell) typ() *schema.Type { return &c.batch.vectors[c.col].column.Type }

// bindText makes a codec's bind of one that reads text.
func bindText(bind func(t schema.Type, text string) (any, error)) func(schema.Type, any) (any, error) {
	return func(t schema.Type, value any) (any, error) {
		text, ok := value.(string)
		if !ok {
			return nil, fmt.Errorf("the value must be a string (%s), not %s", t.Describe(), describeValue(value))
		}
		return bind(t, text)
	}
}

func parseText(b *Batch, v *vector, p []byte) error {
	b.putBytes(v, p)
	return nil
}

func jsonText(dst []byte, c cell) []byte { return appendString(dst, c.bytes()) }

func storeText(a *query.Appender, c cell) { a.Text(c.col, c.bytes()) }

func bindPlain(_ schema.Type, text string) (any, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("the text has %d bytes, at most %d are possible", len(text), maxText)
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return nil, errors.New("the text must be valid UTF-8 without NUL")
	}
	return text, nil
}

func jsonBlob(dst []byte, c cell) []byte { return appendString(dst, blobText(c.bytes())) }

func storeBlob(a *query.Appender, c cell) { a.Bytes(c.col, c.bytes()) }

func parseBool(_ *Batch, v *vector, p []byte) error {
	switch string(p) {
	case "1", "t", "true", "TRUE", "\x01":
		v.putInt(1)
	case "0", "f", "false", "FALSE", "\x00":
		v.putInt(0)
	default:
		return fmt.Errorf("%s is not true or false", describeValue(string(p)))
	}
	return nil
}

func jsonBool(dst []byte, c cell) []byte { return strconv.AppendBool(dst, c.int() != 0) }

func storeBool(a *query.Appender, c cell) { a.Bool(c.col, c.int() != 0) }

func bindBool(_ schema.Type, value any) (any, error) {
	switch v := value.(type) {
	case bool:
		return v, nil
	case string:
		if b := strings.ToLower(v); b == "true" || b == "false" {
			return b == "true", nil
		}
	}
	return nil, fmt.Errorf("the value must be true or false, not %s", describeValue(value))
}

func parseInt(_ *Batch, v *vector, p []byte) error {
	n, err := strconv.ParseInt(string(p), 10, 64)
	if err != nil {
		return fmt.Errorf("%s is not a whole number of 64 bits", describeValue(string(p)))
	}
	v.putInt(n)
	return nil
}

func jsonInt(dst []byte, c cell) []byte { return appendWhole(dst, c.int()) }

func storeInt(a *query.Appender, c cell) { a.Int(c.col, c.int()) }

func parseUint(b *Batch, v *vector, p []byte) error {
	if _, err := strconv.ParseUint(string(p), 10, 64); err != nil {
		return fmt.Errorf("%s is not a whole number of 64 bits", describeValue(string(p)))
	}
	b.putBytes(v, p)
	return nil
}

func jsonDigits(dst []byte, c cell) []byte { return appendNumber(dst, string(c.bytes())) }

func storeUint(a *query.Appender, c cell) {
	n, _ := strconv.ParseUint(string(c.bytes()), 10, 64) // parseUint has read it
	a.Uint(c.col, n)
}

func parseFloat(_ *Batch, v *vector, p []byte) error {
	f, err := strconv.ParseFloat(string(p), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%s is not a number", describeValue(string(p)))
	}
	v.putFloat(f)
	return nil
}

func jsonFloat(dst []byte, c cell) []byte { return appendFloat(dst, c.float()) }

func storeFloat(a *query.Appender, c cell) { a.Float(c.col, c.float()) }

func bindFloat(_ schema.Type, value any) (any, error) {
	text, ok := numberText(value)
	if !ok {
		return nil, fmt.Errorf("the value must be a number, not %s", describeValue(value))
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%s is beyond the range of a double", describeValue(value))
	}
	return f, nil
}

func jsonDecimal(dst []byte, c cell) []byte {
	if t := c.typ(); fitsInt64(*t) {
		return appendNumber(dst, formatUnits(strconv.FormatInt(c.int(), 10), t.Scale))
	}
	return jsonDigits(dst, c)
}

func storeDecimal(a *query.Appender, c cell) {
	if t := c.typ(); fitsInt64(*t) {
		a.DecimalInt(c.col, c.int(), t.Scale)
	} else {
		a.DecimalText(c.col, c.bytes())
	}
}

func jsonDate(dst []byte, c cell) []byte {
	days := c.int()
	return appendTime(dst, days*microsPerDay, dateText, "", days == infinityDays, days == -infinityDays)
}

func storeDate(a *query.Appender, c cell) { a.Date(c.col, int32(c.int())) }

func parseTimeOfDay(_ *Batch, v *vector, p []byte) error {
	micros, ok := parseClock(p)
	if !ok {
		return fmt.Errorf("%s is not a time of day", describeValue(string(p)))
	}
	v.putInt(micros)
	return nil
}

func jsonTime(dst []byte, c cell) []byte {
	return appendTime(dst, c.int(), "15:04:05.999999", "", false, false)
}

func storeTime(a *query.Appender, c cell) { a.TimeOfDay(c.col, c.int()) }

func parseTimestamp(_ *Batch, v *vector, p []byte) error {
	micros, ok := parseInstant(p)
	if !ok {
		return fmt.Errorf("%s is not a point in time", describeValue(string(p)))
	}
	v.putInt(micros)
	return nil
}

func jsonTimestamp(zone string) func([]byte, cell) []byte {
	return func(dst []byte, c cell) []byte {
		micros := c.int()
		return appendTime(dst, micros, "2006-01-02 15:04:05.999999", zone, micros == infinity, micros == -infinity)
	}
}

func storeTimestamp(a *query.Appender, c cell) { a.Timestamp(c.col, c.int()) }

func parseUUIDText(b *Batch, v *vector, p []byte) error {
	canonical, err := bindUUID(schema.Type{}, string(p))
	if err != nil {
		return err
	}
	raw, err := parseUUID(canonical.(string))
	if err != nil {
		return err
	}
	b.putBytes(v, raw[:])
	return nil
}

func jsonUUID(dst []byte, c cell) []byte {
	return append(append(append(dst, '"'), formatUUID([16]byte(c.bytes()))...), '"')
}

func storeUUID(a *query.Appender, c cell) { a.UUID(c.col, [16]byte(c.bytes())) }
