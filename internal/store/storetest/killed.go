package storetest

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"interlock/internal/event"
	"interlock/internal/store"
)

const (
	childPlace  = "INTERLOCK_STORETEST_PLACE" // set in a child: where to write until killed
	childLines  = 4                           // threads that a child writes at once
	childRounds = 12
)

// testKilled runs this very test in a child process that writes until it is killed
// at a random instant. What the child was told to be stored must be there, whole.
func testKilled(t *testing.T, f *fixture) {
	if place := os.Getenv(childPlace); place != "" {
		write(t, f.open(t, place))
		return
	}
	acked := map[string]int64{}
	total := 0
	for round := range childRounds {
		n := writeAndKill(t, f, acked)
		total += n
		s := f.open(t, f.place)
		for line := range childLines {
			verify(t, s, lineID(line), acked)
		}
		mustBeIntact(t, s, -1)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("in round %d, killed after %d batches", round, n)
		}
	}
	t.Logf("%d kills, %d batches acknowledged before them", childRounds, total)
}

func lineID(line int) string { return fmt.Sprintf("line %d", line) }

// size is the number of events of the batch that follows an event: 1 to 7.
func size(after int64) int { return int(after*7%5)%7 + 1 }

// writeAndKill reads a random number of acknowledgements, kills the child, and
// reads those that were on their way.
func writeAndKill(t *testing.T, f *fixture, acked map[string]int64) (n int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(t.Name(), "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run="+strings.Join(parts, "/"), "-test.count=1")
	cmd.Env = append(os.Environ(), childPlace+"="+f.place)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := 1 + rand.IntN(300)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		thread, seq, ok := strings.Cut(lines.Text(), "=")
		if !ok {
			t.Errorf("the child says %q", lines.Text())
			continue
		}
		var last int64
		if _, err := fmt.Sscan(seq, &last); err != nil {
			continue // torn by the kill
		}
		acked[thread] = max(acked[thread], last)
		if n++; n == stop {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // killed
	if n < stop {
		t.Fatalf("the child ended by itself after %d batches", n)
	}
	return n
}

// write appends to several threads without end and says what was stored.
func write(t *testing.T, s store.Store) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for line := range childLines {
		wg.Go(func() {
			id := lineID(line)
			var after int64
			switch head, err := s.Thread(t.Context(), id); {
			case err == nil:
				after = head.Seq
			case !errors.Is(err, store.ErrNotFound):
				t.Error(err)
				return
			}
			for {
				b := batch(id, after, size(after))
				last := after + int64(len(b.Events))
				b.Runs = run(id, id, 1)
				b.Runs[0].Last = last
				b.Blobs = []store.Blob{{Hash: fmt.Sprintf("%s/%d", id, last), Bytes: []byte(strings.Repeat("blob ", 600))}}
				b.Snapshot = fmt.Appendf(nil, "%d", last)
				b.Events[0].Body = event.TurnStarted{Run: id} // which the audit log tells
				if err := s.Append(t.Context(), b); err != nil {
					t.Error(err)
					return
				}
				after = last
				mu.Lock()
				fmt.Printf("%s=%d \n", id, last)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// verify holds what is stored against what can be: whole batches without gaps, at
// least those that were acknowledged, with all that belongs to them.
func verify(t *testing.T, s store.Store, id string, acked map[string]int64) {
	t.Helper()
	head, err := s.Thread(t.Context(), id)
	if errors.Is(err, store.ErrNotFound) && acked[id] == 0 {
		return
	}
	if err != nil {
		t.Errorf("%s: %v", id, err)
		return
	}
	if head.Seq < acked[id] {
		t.Errorf("%s ends at %d, but %d was acknowledged", id, head.Seq, acked[id])
	}
	var end int64
	for end < head.Seq {
		end += int64(size(end))
	}
	got := events(t, s, id, 0)
	if end != head.Seq || int64(len(got)) != head.Seq {
		t.Errorf("%s says %d and has %d events; a whole batch ends at %d", id, head.Seq, len(got), end)
	}
	for i, e := range got {
		if e.Seq != int64(i)+1 {
			t.Fatalf("%s has event %d at place %d", id, e.Seq, i+1)
		}
	}
	if r, err := s.Run(t.Context(), id); err != nil || r.Last != head.Seq {
		t.Errorf("%s: its run ends at %d, want %d (%v)", id, r.Last, head.Seq, err)
	}
	if snap, seq, err := s.Snapshot(t.Context(), id); err != nil || seq != head.Seq || string(snap) != fmt.Sprint(head.Seq) {
		t.Errorf("%s: snapshot %q at %d, want %d (%v)", id, snap, seq, head.Seq, err)
	}
	for after := int64(0); after < head.Seq; {
		after += int64(size(after))
		if _, err := s.Blob(t.Context(), fmt.Sprintf("%s/%d", id, after)); err != nil {
			t.Errorf("%s: the blob of the batch that ends at %d: %v", id, after, err)
		}
	}
}
