package source_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A trinoServer is no Trino. It speaks the protocol of Trino's clients (statements by
// POST, prepared ones in a header, pages by nextUri, errors as documents, DELETE to
// cancel) and runs what it receives in SQLite, after taking out what SQLite does not
// know: casts to types of time and the order of OFFSET and LIMIT.
type trinoServer struct {
	http   *httptest.Server
	tables standIn

	mu       sync.Mutex
	queries  map[string]*trinoQuery
	header   http.Header // of the last statement
	cancels  int
	failure  string // the error of the table broken
	started  int
	finished chan struct{}
}

type trinoQuery struct {
	db    *sql.DB
	rows  *sql.Rows
	types []string
	page  int
	fails bool
}

// trinoTypes are the types of columns by their names, in all tables.
var trinoTypes = map[string]string{
	"id": "bigint", "name": "varchar", "qty": "bigint", "price": "decimal(12,2)", "ratio": "double", "paid": "boolean", "day": "date",
	"made": "timestamp(6)", "seen": "timestamp(6) with time zone", "key": "uuid", "count(*)": "bigint", "note": "varchar(100)",
	"wide": "real", `CAST("wide" AS DOUBLE)`: "double", "deep": "decimal(23,3)", "at": "time(6)", "fixed": "char(5)", "away": "timestamp(3) with time zone",
}

func newTrinoServer(t testing.TB) *trinoServer {
	s := &trinoServer{tables: newStandIn(t, trinoTypes, " UTC'"), queries: map[string]*trinoQuery{}, finished: make(chan struct{}, 1000)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/statement", s.statement)
	mux.HandleFunc("GET /v1/statement/{id}/{page}", s.next)
	mux.HandleFunc("DELETE /v1/statement/{id}/{page}", s.cancel)
	mux.HandleFunc("DELETE /v1/query/{id}", s.cancel)
	s.http = httptest.NewServer(mux)
	t.Cleanup(s.die)
	return s
}

func (s *trinoServer) host() string { return s.http.Listener.Addr().String() }

// die ends the server in the middle of whatever it does.
func (s *trinoServer) die() {
	s.http.Listener.Close()
	s.http.CloseClientConnections()
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.queries {
		s.drop(id) // SQLite's files are of the test
	}
}

func (s *trinoServer) drop(id string) {
	if q := s.queries[id]; q != nil {
		if q.rows != nil {
			q.rows.Close()
		}
		q.db.Close()
		delete(s.queries, id)
	}
}

func (s *trinoServer) breakWith(name string) { s.mu.Lock(); s.failure = name; s.mu.Unlock() }
func (s *trinoServer) lastHeader() http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.header
}

func (s *trinoServer) cancelled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cancels
}

// await waits for something that the server sees after a request.
func (s *trinoServer) await(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for !done() {
		select {
		case <-s.finished:
		case <-deadline:
			t.Fatal("the server never saw it")
		}
	}
}

var (
	trinoCast   = regexp.MustCompile(`CAST\(\? AS (?:DATE|TIME\(6\)|TIMESTAMP\(6\)|TIMESTAMP\(6\) WITH TIME ZONE|UUID)\)`)
	trinoOffset = regexp.MustCompile(` OFFSET (\d+) LIMIT (\d+)$`)
)

// statement starts a query and gives the address of its first page.
func (s *trinoServer) statement(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	text := string(body)
	if name, values, ok := strings.Cut(text, " USING "); ok && strings.HasPrefix(name, "EXECUTE ") {
		prepared, err := url.QueryUnescape(strings.TrimPrefix(r.Header.Get("X-Trino-Prepared-Statement"), strings.TrimPrefix(name, "EXECUTE ")+"="))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text = fill(trinoCast.ReplaceAllString(prepared, "?"), split(values))
	}
	text = trinoOffset.ReplaceAllString(text, " LIMIT $2 OFFSET $1")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started++
	s.header = r.Header
	id := fmt.Sprintf("20261115_000000_%05d_test", s.started)
	q := &trinoQuery{fails: strings.Contains(text, `"broken"`) && s.failure != ""}
	var err error
	if q.db, err = s.tables.open(); err == nil {
		if q.rows, err = q.db.Query(text); err != nil { //nolint:rowserrcheck // read and checked by pages
			q.db.Close()
		}
	}
	if err != nil {
		answer(w, object{"id": id, "stats": object{"state": "FAILED"}, "error": object{
			"message": err.Error(), "errorCode": 1, "errorName": "SYNTAX_ERROR", "errorType": "USER_ERROR",
		}})
		return
	}
	s.queries[id] = q
	answer(w, object{"id": id, "infoUri": s.http.URL + "/ui/" + id, "nextUri": fmt.Sprintf("%s/v1/statement/%s/0", s.http.URL, id), "stats": object{"state": "QUEUED"}})
}

type object = map[string]any

func answer(w http.ResponseWriter, doc object) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(doc)
}

// next gives a page: the first is without rows, as while a query waits.
func (s *trinoServer) next(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.PathValue("id")
	q := s.queries[id]
	if q == nil {
		http.Error(w, "no such query", http.StatusGone)
		return
	}
	doc := object{"id": id, "stats": object{"state": "RUNNING"}}
	if q.page > 0 {
		columns, rows, more, err := q.readPage(1000)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		doc["columns"], doc["data"] = columns, rows
		if !more {
			s.drop(id)
			doc["stats"] = object{"state": "FINISHED"}
			answer(w, doc)
			return
		}
		if q.fails && q.page == 2 {
			s.drop(id)
			delete(doc, "data")
			doc["error"] = object{"message": "it broke", "errorCode": 65536, "errorName": s.failure, "errorType": "INTERNAL_ERROR"}
			answer(w, doc)
			return
		}
	}
	q.page++
	doc["nextUri"] = fmt.Sprintf("%s/v1/statement/%s/%d", s.http.URL, id, q.page)
	answer(w, doc)
}

func (s *trinoServer) cancel(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.cancels++
	s.drop(r.PathValue("id"))
	s.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
	s.finished <- struct{}{}
}

// readPage gives up to n rows the way Trino writes them.
func (q *trinoQuery) readPage(n int) (columns []object, data [][]any, more bool, err error) {
	names, err := q.rows.Columns()
	if err != nil {
		return nil, nil, false, err
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i, name := range names {
		into[i] = &values[i]
		kind := trinoTypes[name]
		if kind == "" {
			kind = "varchar"
		}
		q.types = append(q.types[:i], kind)
		columns = append(columns, object{"name": name, "type": kind, "typeSignature": signature(kind)})
	}
	for len(data) < n && q.rows.Next() {
		if err := q.rows.Scan(into...); err != nil {
			return nil, nil, false, err
		}
		row := make([]any, len(values))
		for i, v := range values {
			row[i] = trinoValue(q.types[i], v)
		}
		data = append(data, row)
	}
	return columns, data, len(data) == n, q.rows.Err()
}

func trinoValue(kind string, v any) any {
	switch {
	case v == nil:
		return nil
	case kind == "boolean":
		return fmt.Sprint(v) == "true" || fmt.Sprint(v) == "1"
	case strings.HasPrefix(kind, "decimal(12"):
		f, _ := strconv.ParseFloat(fmt.Sprint(v), 64)
		return strconv.FormatFloat(f, 'f', 2, 64)
	}
	if at, ok := v.(time.Time); ok { // made of the column's declared type by SQLite's driver
		switch kind {
		case "date":
			return at.Format(time.DateOnly)
		case "timestamp(6)":
			return at.Format("2006-01-02 15:04:05.000000")
		}
		return at.Format("2006-01-02 15:04:05.000000 UTC")
	}
	return v
}

// signature takes a type's name apart: timestamp(6) with time zone is the raw type
// "timestamp with time zone" with the argument 6.
func signature(kind string) object {
	raw, rest, _ := strings.Cut(kind, "(")
	numbers, tail, _ := strings.Cut(rest, ")")
	arguments := []object{}
	for _, n := range strings.FieldsFunc(numbers, func(r rune) bool { return r == ',' }) {
		value, _ := strconv.Atoi(n)
		arguments = append(arguments, object{"kind": "LONG", "value": value})
	}
	return object{"rawType": raw + tail, "arguments": arguments}
}
