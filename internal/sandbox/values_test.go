package sandbox_test

import (
	"fmt"
	"testing"

	"interlock/internal/sandbox"
)

// valueCases are results of code, each with the columns and rows that tell the truth of it.
var valueCases = []struct{ name, code, table string }{
	{"infinity", `[[float('inf')], [float('-inf')], [float('nan')], [1.5]]`, `[0 DOUBLE] [["Infinity"],["-Infinity"],[null],[1.5]]`},
	{"infinity in a column", `pd.DataFrame({'f': np.array([1.0, np.inf, np.nan], dtype='f4')})`, `[f FLOAT] [[1.0],["Infinity"],[null]]`},
	{"infinity in a list", `[[[1.5, float('inf')]]]`, `[0 JSON] [[[1.5,"Infinity"]]]`},
	{"a series by year", `pd.Series({2024: 5, 2025: 6})`, `[index BIGINT value BIGINT] [[2024,5],[2025,6]]`},
	{"a frame by year", `pd.DataFrame({'n': {2024: 5, 2025: 6}})`, `[index BIGINT n BIGINT] [[2024,5],[2025,6]]`},
	{"a count of small numbers", `pd.Series([0, 1, 1], name='x').value_counts()`, `[index BIGINT x BIGINT] [[1,2],[0,1]]`},
	{"a named index", `pd.DataFrame({'n': [7]}, index=pd.Index([3], name='id'))`, `[id BIGINT n BIGINT] [[3,7]]`},
	{"several levels", `pd.DataFrame({'a': [1, 1], 'b': ['x', 'y'], 'n': [5, 6]}).set_index(['a', 'b'])`, `[a BIGINT b VARCHAR n BIGINT] [[1,"x",5],[1,"y",6]]`},
	{"a plain range", `pd.DataFrame({'n': [5, 6]})`, `[n BIGINT] [[5],[6]]`},
	{"rows that were sorted", `pd.DataFrame({'n': [5, 6, 4]}).sort_values('n')`, `[n BIGINT] [[4],[5],[6]]`},
	{"rows that were chosen", `(lambda df: df[df.n > 4])(t)`, `[n BIGINT] [[5],[6]]`},
	{"days", `pd.DataFrame({'d': pd.to_datetime(['2024-02-29', None])})`, `[d DATE] [["2024-02-29"],[null]]`},
	{"moments", `pd.DataFrame({'d': pd.to_datetime(['2024-02-29', '2024-03-01 00:00:01'])})`, `[d TIMESTAMP] [["2024-02-29 00:00:00"],["2024-03-01 00:00:01"]]`},
	{"nanoseconds", `pd.DataFrame({'d': [pd.Timestamp('2024-01-01 00:00:00.123456789')]})`, `[d TIMESTAMP_NS] [["2024-01-01 00:00:00.123456789"]]`},
	{"zones", `pd.DataFrame({'z': pd.to_datetime(['2024-07-02 10:00']).tz_localize('Europe/Berlin')})`, `[z TIMESTAMP WITH TIME ZONE] [["2024-07-02 08:00:00+00"]]`},
	{"times", `[[datetime.time(10, 0, 0, 500000)], [datetime.time(1, 2)]]`, `[0 TIME] [["10:00:00.5"],["01:02:00"]]`},
	{"times with a zone", `[[datetime.time(10, 0, 0, 500000, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))]]`, `[0 TIME WITH TIME ZONE] [["10:00:00.5+02:00"]]`},
	{"no time", `pd.DataFrame({'t': [pd.NaT, pd.Timestamp('2024-01-01 10:00')]})`, `[t TIMESTAMP] [[null],["2024-01-01 10:00:00"]]`},
	{"spans", `pd.DataFrame({'s': pd.to_timedelta(['1 days 02:03:04.5', None, '-1 hours'])})`, `[s INTERVAL] [["1 day 02:03:04.5"],[null],["-01:00:00"]]`},
	{"decimals", `[[D('1.10')], [D('12345678901234567890.12')], [3]]`, `[0 DECIMAL(38,2)] [[1.1],["12345678901234567890.12"],[3]]`},
	{"a decimal with an exponent", `[[D('1E+20')]]`, `[0 DECIMAL(38,0)] [["100000000000000000000"]]`},
	{"too many digits", `[[D('1.5')], [D('1' * 40)]]`, `[0 VARCHAR] [["1.5"],["1111111111111111111111111111111111111111"]]`},
	{"infinite decimals", `[[D('1.5')], [D('Infinity')]]`, `[0 VARCHAR] [["1.5"],["Infinity"]]`},
	{"big numbers", `[[2**53 + 1], [2**63]]`, `[0 HUGEINT] [["9007199254740993"],["9223372036854775808"]]`},
	{"bigger numbers", `[[2**127], [1]]`, `[0 VARCHAR] [["170141183460469231731687303715884105728"],["1"]]`},
	{"big numbers beside floats", `[[2**53 + 1], [0.5]]`, `[0 VARCHAR] [["9007199254740993"],["0.5"]]`},
	{"nullable numbers", `pd.DataFrame({'i': pd.array([1, None, 2**62 + 1], dtype='Int64')})`, `[i BIGINT] [[1],[null],["4611686018427387905"]]`},
	{"unsigned", `pd.DataFrame({'u': np.array([2**64 - 1], dtype='u8')})`, `[u UBIGINT] [["18446744073709551615"]]`},
	{"categories", `pd.DataFrame({'c': pd.Categorical(['b', None, 'a'])})`, `[c VARCHAR] [["b"],[null],["a"]]`},
	{"categories of numbers", `pd.DataFrame({'c': pd.Categorical([2, None, 1])})`, `[c BIGINT] [[2],[null],[1]]`},
	{"nested", `[[[1, [2, None]], {'a': 1}]]`, `[0 JSON 1 JSON] [[[1,[2,null]],{"a":1}]]`},
	{"columns of one name", `pd.DataFrame([[1, 2]], columns=['a', 'a'])`, `[a BIGINT a BIGINT] [[1,2]]`},
	{"a scalar of numpy", `np.int64(2**60)`, `[value BIGINT] [["1152921504606846976"]]`},
	{"an empty frame", `pd.DataFrame({'a': pd.Series([], dtype='int64'), 'b': pd.Series([], dtype=object)})`, `[a BIGINT b VARCHAR] []`},
	{"a frame without columns", `pd.DataFrame(index=range(3))`, `[] []`},
	{"bytes", `[[b'\xff\x00a']]`, `[0 BLOB] [["\\xFF\\x00a"]]`},
}

// TestValues compares each value that code hands back with its truth.
func TestValues(t *testing.T) {
	e, err := sandbox.Open(sandbox.Config{Dir: t.TempDir(), Lean: true})
	if err != nil {
		t.Skipf("%v (package python3-pandas)", err)
	}
	t.Cleanup(func() { _ = e.Close() })
	for _, c := range valueCases {
		t.Run(c.name, func(t *testing.T) {
			o, err := e.Run(t.Context(), sandbox.Job{Code: "import datetime\nfrom decimal import Decimal as D\nt = pd.DataFrame({'n': [1, 5, 6]})\nresult_df = " + c.code})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%v %s", o.Columns, o.Rows); got != c.table {
				t.Errorf("got  %s\nwant %s", got, c.table)
			}
		})
	}
}
