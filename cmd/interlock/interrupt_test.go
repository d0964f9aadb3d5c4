package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// TestInterruptStopsTheTurn: Ctrl-C while a model answers ends the turn, and the chat goes on.
func TestInterruptStopsTheTurn(t *testing.T) {
	w := newWorld(t)
	a := newActor(t, deskLines)
	asked := make(chan struct{})
	a.before = func(r *http.Request) {
		close(asked)
		<-r.Context().Done() // the model never answers
	}
	w.flags = append(w.flags, a.flags()...)
	cmd := w.command("chat", "--dataset", "shop")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs := &syncBuffer{}
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer ended.Stop()
	if _, err := io.WriteString(in, "how many orders are there\n"); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "SQL: SELECT count(*) AS n FROM orders\n"); err != nil {
		t.Fatal(err)
	}
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if said = append(said, lines.Text()); lines.Text() == "5" {
			_ = in.Close()
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(errs.String(), "[stopped") {
		t.Fatalf("%v\nstdout: %q\nstderr: %s", err, said, errs)
	}
}
