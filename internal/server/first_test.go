package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// A first message that is refused leaves no thread.
func TestRefusedFirstMessage(t *testing.T) {
	r := startReal(t)
	for _, sc := range []scenario{
		{name: "bad dataset", method: "POST", url: "/chat", body: `{"message":"x","dataset_id":"nope"}`, status: 404},
		{name: "bad setting", method: "POST", url: "/chat", body: `{"message":"x","settings":{"max_rows":0}}`, status: 422},
		{name: "bad machine", method: "POST", url: "/chat", body: `{"message":"x","machine":"none"}`, status: 404},
		{name: "no message", method: "POST", url: "/chat", body: `{"message":" "}`, status: 400},
		{name: "nothing to read", method: "POST", url: "/chat", body: `{"message":"\u0085"}`, status: 400},
		{name: "too long", method: "POST", url: "/chat", body: `{"message":"` + strings.Repeat("x", 300<<10) + `"}`, status: 413, has: []string{`"code":"too_large"`, "262144"}},
		{name: "bad command", method: "POST", url: "/chat", body: `{"command":{"name":"unknown"}}`, status: 422},
		{name: "too long, streamed", method: "POST", url: "/chat/stream", body: `{"message":"` + strings.Repeat("x", 300<<10) + `"}`, status: 413},
		{name: "session", method: "POST", url: "/api/chat", body: `{"command":{"name":"unknown"},"machine":"analyst"}`, status: 422},
	} {
		t.Run(sc.name, func(t *testing.T) { sc.run(t, r) })
	}
	scenario{url: "/api/threads", has: []string{`{"threads":[]}`}}.run(t, r)
}

// A client that sends all of a body that is too large before it reads gets its answer,
// whether the length is told or not.
func TestLargeBody(t *testing.T) {
	r := startReal(t)
	body := `{"message":"` + strings.Repeat("x", 9<<20) + `"}`
	told := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	chunked := fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	for name, rest := range map[string]string{"told": told, "chunked": chunked} {
		for _, path := range []string{"/chat", "/chat/stream", "/runs", "/api/chat"} {
			t.Run(name+path, func(t *testing.T) {
				conn, err := net.Dial("tcp", r.addr)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%s", path, r.addr, rest); err != nil {
					t.Fatalf("the connection broke while the body was sent: %v", err)
				}
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				said, err := io.ReadAll(res.Body)
				if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(said), `"code":"too_large"`) {
					t.Errorf("%s %v: %.300s", res.Status, err, said)
				}
			})
		}
	}
}
