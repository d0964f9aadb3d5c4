package sqlpolicy

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
	"github.com/pingcap/tidb/pkg/parser/types"
)

// maxDigits is how many digits an exact number can have in MySQL; the parser rounds
// what has more.
const maxDigits = 65

// literal prints a constant in one form.
func (p *mysqlPrinter) literal(v *driver.ValueExpr) string {
	if v.Type.GetFlag()&mysql.UnderScoreCharsetFlag != 0 {
		return p.refuse(unknown(-1, "a character set before a text"))
	}
	switch v.Kind() {
	case driver.KindNull:
		return "NULL"
	case driver.KindInt64:
		if v.Type.GetFlag()&mysql.IsBooleanFlag != 0 {
			return map[bool]string{true: "TRUE", false: "FALSE"}[v.GetInt64() != 0]
		}
		return strconv.FormatInt(v.GetInt64(), 10)
	case driver.KindUint64:
		return strconv.FormatUint(v.GetUint64(), 10)
	case driver.KindFloat64:
		return strconv.FormatFloat(v.GetFloat64(), 'e', -1, 64)
	case driver.KindMysqlDecimal:
		if text := v.GetMysqlDecimal().String(); len(text) < maxDigits {
			return text
		}
		return p.refuse(unknown(-1, "a number of more than %d digits", maxDigits-1))
	case driver.KindString:
		return p.text(v.GetString())
	case driver.KindBinaryLiteral:
		if v.Type.GetFlag()&mysql.UnsignedFlag == 0 {
			return p.refuse(unknown(-1, "a text of bits"))
		}
		return fmt.Sprintf("X'%x'", v.GetBytes())
	}
	return p.refuse(unknown(-1, "a constant"))
}

// mysqlText escapes so that the end of a text is in the same place whether or not a
// backslash escapes: quotes are doubled, and a backslash always has its own behind it.
var mysqlText = strings.NewReplacer(`'`, `''`, `\`, `\\`, "\x00", `\0`)

func (p *mysqlPrinter) text(s string) string {
	if !utf8.ValidString(s) {
		return p.refuse(deny(RuleEncoding, -1, "Send UTF-8 text.", "A text is not valid UTF-8."))
	}
	return "'" + mysqlText.Replace(s) + "'"
}

// charset admits the name of a character set or a collation.
func (p *mysqlPrinter) charset(name string) string {
	name = fold(name)
	for _, known := range []string{"utf8mb4", "utf8mb3", "utf8", "latin1", "ascii", "binary"} {
		if plainWord(name) && (name == known || strings.HasPrefix(name, known+"_")) {
			return name
		}
	}
	return p.refuse(unknown(-1, "the character set %s", name))
}

// cast prints CAST, for which the parser also has CONVERT and BINARY.
func (p *mysqlPrinter) cast(n *ast.FuncCastExpr, part func(ast.ExprNode) string) string {
	return "CAST(" + part(n.Expr) + " AS " + p.castType(n.Tp, n.ExplicitCharSet) + ")"
}

func (p *mysqlPrinter) castType(t *types.FieldType, charset bool) string {
	if t == nil || t.IsArray() || len(t.GetElems()) > 0 {
		return p.refuse(deny(RuleType, -1, "Use an ordinary SQL type.", "This type is not allowed in a cast."))
	}
	sized := func(name string, n int) string {
		if n < 0 {
			return name
		}
		return fmt.Sprintf("%s(%d)", name, n)
	}
	switch t.GetType() {
	case mysql.TypeVarString, mysql.TypeString, mysql.TypeVarchar:
		if t.GetCharset() == mysql.DefaultCharset || charset {
			text := sized("CHAR", t.GetFlen())
			if charset {
				text += " CHARACTER SET " + p.charset(t.GetCharset())
			}
			return text
		}
		if t.GetCharset() == "binary" {
			return sized("BINARY", t.GetFlen())
		}
	case mysql.TypeDate:
		return "DATE"
	case mysql.TypeYear:
		return "YEAR"
	case mysql.TypeDatetime:
		return sized("DATETIME", t.GetDecimal())
	case mysql.TypeDuration:
		return sized("TIME", t.GetDecimal())
	case mysql.TypeNewDecimal:
		switch {
		case t.GetFlen() < 0:
			return "DECIMAL"
		case t.GetDecimal() < 0:
			return sized("DECIMAL", t.GetFlen())
		}
		return fmt.Sprintf("DECIMAL(%d, %d)", t.GetFlen(), t.GetDecimal())
	case mysql.TypeLonglong:
		if mysql.HasUnsignedFlag(t.GetFlag()) {
			return "UNSIGNED"
		}
		return "SIGNED"
	case mysql.TypeDouble:
		return "DOUBLE"
	case mysql.TypeFloat:
		return "FLOAT"
	case mysql.TypeJSON:
		return "JSON"
	}
	return p.refuse(deny(RuleType, -1, "Use an ordinary SQL type.", "This type is not allowed in a cast."))
}
