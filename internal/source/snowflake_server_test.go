package source_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A snowflakeServer is no Snowflake. It speaks what the driver needs of the HTTP
// protocol (login, queries with bound values, results as JSON, errors, aborting) and
// runs what it receives in SQLite, after taking out what SQLite does not know.
type snowflakeServer struct {
	http   *httptest.Server
	tables standIn

	mu      sync.Mutex
	session map[string]any // parameters of the last login
	failure int            // the code with which the table broken fails
	aborted chan struct{}
}

// snowflakeTypes are the types of columns by their names, in all tables.
var snowflakeTypes = map[string]string{
	"id": "NUMBER(18,0)", "name": "TEXT", "qty": "NUMBER(18,0)", "price": "NUMBER(12,2)", "ratio": "FLOAT", "paid": "BOOLEAN", "day": "DATE",
	"made": "TIMESTAMP_NTZ", "seen": "TIMESTAMP_TZ", "key": "TEXT", "count(*)": "NUMBER(18,0)", "note": "TEXT",
	"wide": "FLOAT", "deep": "NUMBER(38,3)", "at": "TIME", "fixed": "TEXT", "away": "TEXT",
}

const snowflakePassword = "open sesame"

func newSnowflakeServer(t testing.TB) *snowflakeServer {
	s := &snowflakeServer{tables: newStandIn(t, snowflakeTypes, " +00:00'"), aborted: make(chan struct{}, 10)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /session/v1/login-request", s.login)
	mux.HandleFunc("POST /queries/v1/query-request", s.query)
	mux.HandleFunc("POST /queries/v1/abort-request", func(w http.ResponseWriter, _ *http.Request) {
		s.aborted <- struct{}{}
		answer(w, object{"success": true})
	})
	mux.HandleFunc("POST /", func(w http.ResponseWriter, _ *http.Request) { answer(w, object{"success": true}) })
	s.http = httptest.NewServer(mux)
	t.Cleanup(s.http.Close)
	return s
}

func (s *snowflakeServer) address(table string) string {
	return "snowflake://reader@" + s.http.Listener.Addr().String() + "/lake/shop?protocol=http&warehouse=small" + table
}

func (s *snowflakeServer) login(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Data struct {
			Password   string         `json:"PASSWORD"`
			Parameters map[string]any `json:"SESSION_PARAMETERS"`
		} `json:"data"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if asked.Data.Password != snowflakePassword {
		answer(w, object{"success": false, "code": "390100", "message": "Incorrect username or password was specified.", "data": object{}})
		return
	}
	s.mu.Lock()
	s.session = asked.Data.Parameters
	s.mu.Unlock()
	answer(w, object{"success": true, "data": object{
		"token": "t", "masterToken": "m", "sessionId": 1, "validityInSeconds": 3600, "masterValidityInSeconds": 3600,
		"parameters": []object{{"name": "TIMEZONE", "value": "UTC"}}, "sessionInfo": object{"databaseName": "lake", "schemaName": "shop"},
	}})
}

var (
	snowflakeCast    = regexp.MustCompile(`CAST\(\? AS (?:DATE|TIME\(6\)|TIMESTAMP_NTZ\(6\)|TIMESTAMP_TZ\(6\))\)`)
	snowflakeCollate = regexp.MustCompile(`COLLATE\(("[^"]*"), ''\)`)
)

func (s *snowflakeServer) query(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Text  string `json:"sqlText"`
		Bound map[string]struct {
			Type  string `json:"type"`
			Value any    `json:"value"`
		} `json:"bindings"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	failure := s.failure
	s.mu.Unlock()
	switch {
	case strings.Contains(asked.Text, "forever"): // until somebody gives up
		<-r.Context().Done()
		return
	case strings.Contains(asked.Text, `"broken"`) && failure != 0:
		snowflakeError(w, failure, "it broke")
		return
	}
	args := make([]any, len(asked.Bound))
	for name, b := range asked.Bound {
		n, _ := strconv.Atoi(name)
		args[n-1] = b.Value
		if b.Type == "FIXED" {
			args[n-1], _ = strconv.ParseInt(fmt.Sprint(b.Value), 10, 64)
		}
		if b.Type == "BOOLEAN" {
			args[n-1] = fmt.Sprint(b.Value) == "true"
		}
	}
	db, err := s.tables.open()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer db.Close()
	text := snowflakeCollate.ReplaceAllString(snowflakeCast.ReplaceAllString(asked.Text, "?"), "$1")
	rows, err := db.Query(text, args...)
	if err != nil {
		snowflakeError(w, 1003, err.Error())
		return
	}
	defer rows.Close()
	names, _ := rows.Columns()
	types := make([]object, len(names))
	values, into := make([]any, len(names)), make([]any, len(names))
	for i, name := range names {
		into[i] = &values[i]
		types[i] = snowflakeColumn(name)
	}
	set := [][]*string{}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			snowflakeError(w, 1, err.Error())
			return
		}
		row := make([]*string, len(values))
		for i, v := range values {
			if v != nil {
				row[i] = new(snowflakeValue(types[i]["type"].(string), v))
			}
		}
		set = append(set, row)
	}
	if err := rows.Err(); err != nil {
		snowflakeError(w, 1, err.Error())
		return
	}
	answer(w, object{"success": true, "data": object{
		"rowtype": types, "rowset": set, "total": len(set), "returned": len(set), "queryId": "01b0-0000",
		"queryResultFormat": "json", "statementTypeId": 4096, "parameters": []object{},
	}})
}

func snowflakeError(w http.ResponseWriter, code int, message string) {
	answer(w, object{"success": false, "code": fmt.Sprintf("%06d", code), "message": message, "data": object{"sqlState": "42000", "queryId": "01b0-0000"}})
}

func snowflakeColumn(name string) object {
	kind, width, scale := snowflakeTypes[name], 0, 0
	if n, _ := fmt.Sscanf(kind, "NUMBER(%d,%d)", &width, &scale); n == 2 {
		kind = "fixed"
	}
	kind = map[string]string{"": "text", "FLOAT": "real"}[kind] + map[bool]string{true: strings.ToLower(kind)}[kind != "" && kind != "FLOAT"]
	return object{"name": name, "type": kind, "precision": width, "scale": scale, "nullable": true}
}

// snowflakeValue writes a value the way the protocol does: dates as days, times as seconds.
func snowflakeValue(kind string, v any) string {
	at, isTime := v.(time.Time)
	switch {
	case kind == "date" && isTime:
		return strconv.FormatInt(at.Unix()/86400, 10)
	case kind == "timestamp_ntz" && isTime:
		return fmt.Sprintf("%d.%09d", at.Unix(), at.Nanosecond())
	case kind == "timestamp_tz":
		if !isTime {
			at, _ = time.Parse("2006-01-02 15:04:05 -07:00", fmt.Sprint(v))
		}
		return fmt.Sprintf("%d.%09d 1440", at.Unix(), at.Nanosecond())
	case kind == "time":
		at, _ = time.Parse("15:04:05", fmt.Sprint(v))
		return fmt.Sprintf("%d.%09d", at.Hour()*3600+at.Minute()*60+at.Second(), at.Nanosecond())
	case kind == "boolean":
		return map[bool]string{true: "1", false: "0"}[fmt.Sprint(v) == "true" || fmt.Sprint(v) == "1"]
	case kind == "fixed":
		if f, ok := v.(float64); ok {
			return strconv.FormatFloat(f, 'f', 2, 64)
		}
	}
	return fmt.Sprint(v)
}
