package queryplan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

var plainNumber = regexp.MustCompile(`^-?[0-9]{1,38}(\.[0-9]{1,38})?([eE][-+]?[0-9]{1,3})?$`)

// A scalar is a literal of a plan.
type scalar struct {
	text   string // the string, or the number's digits
	number bool
	truth  *bool
}

const maxLiteral = 16 << 10

// readScalar reads a JSON string, number or boolean.
func readScalar(raw json.RawMessage) (scalar, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return scalar{}, errors.New("is not JSON")
	}
	switch v := v.(type) {
	case string:
		switch {
		case len(v) > maxLiteral:
			return scalar{}, fmt.Errorf("is longer than %d bytes", maxLiteral)
		case strings.ContainsRune(v, 0) || !utf8.ValidString(v):
			return scalar{}, errors.New("holds bytes that are not text")
		}
		return scalar{text: v}, nil
	case json.Number:
		if !plainNumber.MatchString(v.String()) {
			return scalar{}, errors.New("is a number outside the range of numbers")
		}
		return scalar{text: v.String(), number: true}, nil
	case bool:
		return scalar{truth: &v}, nil
	case nil:
		return scalar{}, errors.New("is null; use the operator is_null or is_not_null")
	}
	return scalar{}, errors.New("must be a string, a number or a boolean")
}

// scalarSQL writes a literal.
func (c *compiler) scalarSQL(s scalar) string {
	switch {
	case s.truth != nil:
		return c.grammar.forms[strconv.FormatBool(*s.truth)]
	case s.number:
		return s.text
	}
	return c.dialect.Text(s.text)
}
