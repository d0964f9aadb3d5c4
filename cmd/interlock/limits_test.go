package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/racetest"
)

// Two people on one server: what one does must not be felt by the other.
const people = "mallory analyst mallory-token-0123456789\nalice analyst alice-token-0123456789\n"

const (
	mallory = "Bearer mallory-token-0123456789"
	alice   = "Bearer alice-token-0123456789"
)

const crossJoin = "SELECT count(*) FROM range(100000) a(x), range(100000) b(y), range(100000) c(z) WHERE x + y > z"

// TestOthersStayServed measures alice's requests while mallory runs joins without
// end, and after his memory bomb, his huge result and his download that he does not
// read.
func TestOthersStayServed(t *testing.T) {
	p := servePeople(t)
	p.ask(alice, "SELECT 1 AS warm")
	ended := make(chan error, 3)
	for range cap(ended) {
		go func() {
			res, err := p.request("POST", "/runs", direct(crossJoin), "Authorization", mallory)
			if err == nil {
				err = res.Body.Close()
			}
			ended <- err
		}()
	}
	var threads []string
	eventually(t, "the joins run", func() bool {
		threads = p.running(mallory)
		return len(threads) == cap(ended)
	})
	p.served(t, "beside three joins")
	for _, thread := range threads {
		p.as(mallory, "POST", "/api/threads/"+thread+"/stop", "", nil)
	}
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}

	if racetest.On {
		t.Log("no memory bomb: the race detector takes more address space than a worker may have, so that limit is off")
	} else if got := p.ask(mallory, "SELECT len(list_transform(range(400000000), x -> x + 1))"); got.Result.Error == nil || got.Result.Error.Type != "query_memory" {
		t.Errorf("a memory bomb gave %s %+v", got.Status, got.Result.Error)
	}
	p.served(t, "after a memory bomb")
	if got := p.ask(mallory, "SELECT i, md5(i::VARCHAR) FROM range(1000000000) t(i)"); got.Status != "succeeded" || got.Result.RowCount == 0 || got.Result.RowCount > 100_000 {
		t.Errorf("a huge result gave %s, %d rows", got.Status, got.Result.RowCount)
	}

	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := toJSON(map[string]string{"dataset_id": "shop", "sql": "SELECT i, md5(i::VARCHAR) FROM range(1000000) t(i)", "format": "csv"})
	fmt.Fprintf(conn, "POST /api/export HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", mallory, len(body), body)
	if first, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil || !strings.Contains(first, "200") {
		t.Fatalf("%q %v", first, err)
	}
	p.served(t, "beside a download that nobody reads")
	if got := p.ask(mallory, "SELECT 42"); got.Status != "succeeded" { // his own download holds no worker either
		t.Errorf("beside his download: %+v", got)
	}
	var list struct{ Runs []struct{ Status string } }
	if p.as(mallory, "GET", "/runs?status=stopped&limit=2", "", &list); len(list.Runs) != 2 || list.Runs[0].Status != "stopped" {
		t.Errorf("runs %+v", list)
	}
}

// TestStopIsQuick stops statements that the engine does not yield in: for the person
// they are over within 100 ms, however long they ran.
func TestStopIsQuick(t *testing.T) {
	p := servePeople(t)
	p.ask(mallory, "SELECT 1 AS warm")
	var took []time.Duration
	for _, after := range []time.Duration{0, 50 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond} {
		took = append(took, p.stopAfter(t, after))
	}
	slices.Sort(took)
	t.Logf("over after %v", took)
	// On a busy machine single stops wait for a processor: the best must be quick, and
	// the median not far off.
	if median := took[len(took)/2]; took[0] > 100*time.Millisecond || median > time.Second {
		t.Errorf("over only after %v", took)
	}
}

// stopAfter begins a statement without end, stops it after a while and gives the
// time from there to the end of its stream.
func (p *process) stopAfter(t *testing.T, while time.Duration) time.Duration {
	t.Helper()
	res, err := p.request("POST", "/chat/stream", toJSON(map[string]string{"message": "SQL: " + crossJoin, "dataset_id": "shop"}), "Authorization", mallory)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	stopped, answered := make(chan time.Time, 1), make(chan struct{})
	var last told
	for ev := range sentEvents(res.Body) {
		if last = ev; ev.name == "tool_call" {
			time.AfterFunc(while, func() {
				defer close(answered)
				stopped <- time.Now()
				p.as(mallory, "POST", "/api/threads/"+res.Header.Get("X-Thread-Id")+"/stop", "", nil)
			})
		}
	}
	over := time.Since(<-stopped)
	<-answered // the stream may end before whoever stopped it hears of it
	if last.name != "done" {
		t.Errorf("the stream ended in %s %s", last.name, last.data)
	}
	return over
}

func servePeople(t *testing.T) *process {
	t.Helper()
	w := newWorld(t)
	w.write("people", people)
	if err := os.Chmod(w.path("people"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.flags = append(w.flags, "--provider", "offline", "--tokens", w.path("people"), "--sql-memory-mb", "300", "--sql-workers", "2")
	return w.serve()
}

func direct(sql string) string {
	return toJSON(map[string]string{"dataset_id": "shop", "query_type": "sql", "sql": sql})
}

// as sends a request as somebody and decodes a good answer.
func (p *process) as(who, method, path, body string, into any) {
	res, err := p.request(method, path, body, "Authorization", who)
	if err != nil {
		p.t.Errorf("%s %s: %v", method, path, err)
		return
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil || res.StatusCode != http.StatusOK {
		p.t.Errorf("%s %s: %v %s: %s", method, path, err, res.Status, raw)
	}
}

// ask runs a statement as somebody.
func (p *process) ask(who, sql string) (got chatResponse) {
	p.t.Helper()
	p.as(who, "POST", "/runs", direct(sql), &got)
	return got
}

// running lists somebody's threads that run.
func (p *process) running(who string) (ids []string) {
	p.t.Helper()
	var list struct{ Threads []struct{ ID, Status string } }
	p.as(who, "GET", "/api/threads", "", &list)
	for _, th := range list.Threads {
		if th.Status == "running" {
			ids = append(ids, th.ID)
		}
	}
	return ids
}

// served wants half of alice's requests of each kind answered within half a second:
// the machine that tests may be busy with others.
func (p *process) served(t *testing.T, when string) {
	t.Helper()
	for i, path := range []string{"/healthz", "/datasets", "/datasets/shop/schema", "/api/threads", "/runs"} {
		var took []time.Duration
		for n := range 7 {
			began := time.Now()
			if path == "/runs" {
				if got := p.ask(alice, fmt.Sprintf("SELECT count(*) + %d FROM orders", 10*i+n)); got.Status != "succeeded" {
					t.Errorf("%s: %+v", when, got)
				}
			} else {
				p.as(alice, "GET", path, "", nil)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		t.Logf("%s, %s: %v to %v", when, path, took[0].Round(time.Microsecond), took[6].Round(time.Microsecond))
		if took[3] > 500*time.Millisecond {
			t.Errorf("%s: %s took %v", when, path, took)
		}
	}
}
