package demo_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/demo"
	"interlock/internal/fault"
)

var update = flag.Bool("update", false, "write golden files anew")

var datasets = []string{"ecommerce", "support", "finance"}

// The bytes of seed 1 are pinned: whoever changes the generator sees what moved.
func TestSeedOneIsPinned(t *testing.T) {
	dir := t.TempDir()
	s, err := demo.Write(dir, demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	var total int64
	for _, f := range s.Files {
		if path.Base(f.Path) != "golden.json" { // pinned by its own test
			fmt.Fprintf(&got, "%s %9d %s\n", f.SHA256, f.Bytes, f.Path)
		}
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(f.Path)))
		if err != nil || info.Size() != f.Bytes {
			t.Errorf("%s: listed with %d bytes, found %v, %v", f.Path, f.Bytes, info, err)
		}
		total += f.Bytes
	}
	if total != s.Bytes || total > 15<<20 {
		t.Errorf("%d bytes in all, %d listed", total, s.Bytes)
	}
	const golden = "testdata/seed1.sha256"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("other bytes than pinned (-want +got); -update if meant:\n%s", diff)
	}
}

func TestWritingAgainTouchesNothing(t *testing.T) {
	dir := t.TempDir()
	o := demo.Options{Seed: 7, Scale: 0.05}
	first, err := demo.Write(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if first.Changed != len(first.Files) {
		t.Errorf("changed %d of %d at first", first.Changed, len(first.Files))
	}
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	orders := filepath.Join(dir, "ecommerce", "orders.csv")
	if err := os.Chtimes(orders, old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "finance", "payments.csv"), []byte("spoilt"), 0o644); err != nil {
		t.Fatal(err)
	}
	second, err := demo.Write(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Files, second.Files); diff != "" || second.Changed != 1 {
		t.Errorf("changed %d files the second time; %s", second.Changed, diff)
	}
	if info, err := os.Stat(orders); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("orders.csv was written again: %v, %v", info.ModTime(), err)
	}
	count := 0
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if !e.IsDir() {
			count++
		}
		return err
	})
	if err != nil || count != len(second.Files) {
		t.Errorf("%d files on disk, %d listed; %v", count, len(second.Files), err)
	}
}

func TestSeedsAndScalesDiffer(t *testing.T) {
	hash := func(o demo.Options) string {
		s, err := demo.Write(t.TempDir(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range s.Files {
			if f.Path == "ecommerce/orders.csv" {
				return f.SHA256
			}
		}
		t.Fatal("no orders")
		return ""
	}
	seen := map[string]demo.Options{}
	for _, o := range []demo.Options{{Seed: 1, Scale: 0.05}, {Seed: 2, Scale: 0.05}, {Seed: 2, Scale: 0.06}} {
		h := hash(o)
		if other, twice := seen[h]; twice {
			t.Errorf("%+v and %+v give the same orders", o, other)
		}
		seen[h] = o
	}
}

func TestScaleIsBounded(t *testing.T) {
	if _, err := demo.Write(t.TempDir(), demo.Options{Scale: 1e-9}); err != nil {
		t.Errorf("a scale of almost nothing: %v", err)
	}
	for _, scale := range []float64{-1, 101, math.Inf(1), math.NaN()} {
		if _, err := demo.Write(t.TempDir(), demo.Options{Scale: scale}); !fault.Is(err, fault.BadRequest) {
			t.Errorf("scale %v: %v", scale, err)
		}
	}
}

// A link in the folder must not lead a write out of it.
func TestWriteStaysInside(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "finance")); err != nil {
		t.Fatal(err)
	}
	if _, err := demo.Write(dir, demo.Options{Scale: 0.02}); err == nil {
		t.Error("written through a link")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("found outside: %v, %v", entries, err)
	}
}
