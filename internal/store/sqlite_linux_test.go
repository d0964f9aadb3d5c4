package store_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"interlock/internal/event"
	"interlock/internal/store"
)

const asNobody = "INTERLOCK_STORE_READONLY" // set in a child that may not write this folder

// A folder that cannot be written is tried in a child of another user where this
// one may write everywhere.
func TestSQLiteReadOnlyFolder(t *testing.T) {
	if dir := os.Getenv(asNobody); dir != "" {
		for _, name := range []string{"new.db", "old.db"} {
			path := filepath.Join(dir, name)
			_, err := store.OpenSQLite(store.SQLiteConfig{Path: path})
			checkFault(t, err, path, "cannot be written")
		}
		path := filepath.Join(dir, "old.db")
		s, err := store.Open(store.Config{DSN: path, ReadOnly: true})
		if err != nil {
			t.Fatalf("reading: %v", err)
		}
		defer s.Close()
		rows, err := s.Threads(t.Context(), store.Query{})
		if err != nil || len(rows) == 0 {
			t.Fatalf("%d threads: %v", len(rows), err)
		}
		for _, err := range s.Events(t.Context(), rows[0].ID, 0) {
			if err != nil {
				t.Error(err)
			}
		}
		_, err = s.Acquire(t.Context(), rows[0].ID, "somebody", time.Second)
		checkFault(t, err, path, "cannot be written")
		return
	}
	dir, err := os.MkdirTemp("", "interlock-readonly")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s := open(t, filepath.Join(dir, "old.db"))
	fill(t, s, 1)
	s.Close()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "old.db"), 0o444); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestSQLiteReadOnlyFolder$", "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), asNobody+"="+dir)
	cmd.Dir = dir
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS")) {
		t.Errorf("as another user: %v\n%s", err, out)
	}
}

// A full disk refuses a batch whole; with space again the same batch goes through.
func TestSQLiteFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("needs a small file system of its own: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	path := filepath.Join(dir, "log.db")
	s := open(t, path)
	defer s.Close()
	fill(t, s, 3)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 600<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	after, failures := int64(3), 0
	for range 400 {
		b := small("a", after)
		b.Blobs = []store.Blob{{Hash: event.Hash([]byte(time.Now().String())), Bytes: noise(after)}}
		err := s.Append(t.Context(), b)
		if err == nil {
			after++
			continue
		}
		checkFault(t, err, path, "")
		if failures++; failures == 3 {
			break
		}
	}
	if failures == 0 {
		t.Fatal("the disk never filled up")
	}
	if got := count(t, s, "a"); got != after {
		t.Errorf("%d events, want %d", got, after)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), small("a", after)); err != nil {
		t.Errorf("with space again: %v", err)
	}
	if got := count(t, s, "a"); got != after+1 {
		t.Errorf("%d events, want %d", got, after+1)
	}
}
