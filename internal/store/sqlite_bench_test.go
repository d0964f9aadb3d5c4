package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/event"
	"interlock/internal/store"
)

// BenchmarkAppend stores what one half of a step stores: three small events.
func BenchmarkAppend(b *testing.B) {
	for _, safe := range []bool{false, true} {
		b.Run(fmt.Sprintf("powersafe=%v", safe), func(b *testing.B) {
			s, err := store.OpenSQLite(store.SQLiteConfig{Path: filepath.Join(b.TempDir(), "log.db"), PowerSafe: safe})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			var after int64
			var took []time.Duration
			for b.Loop() {
				batch := halfStep(after)
				begun := time.Now()
				if err := s.Append(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begun))
				after += int64(len(batch.Events))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
		})
	}
}

func halfStep(after int64) store.Batch {
	now := time.Now()
	call := fmt.Sprintf("call_%d", after)
	return store.Batch{
		Thread: "th_01k2m3n4p5q6r7s8t9v0wxyz", After: after,
		Events: []event.Event{
			{Seq: after + 1, Time: now, Body: event.ToolReturned{Call: call, Tool: "echo", Result: event.EncodeValue(map[string]any{"text": strings.Repeat("x", 80)}), Person: event.Show{All: true}, Model: event.Show{All: true}}},
			{Seq: after + 2, Time: now, Body: event.FactsChanged{Set: map[string]event.Value{"count": event.EncodeValue(after)}, Cause: "effect returned echo"}},
			{Seq: after + 3, Time: now, Body: event.ModelCalled{Call: call, State: "agent", Model: "scripted", System: event.Hash(nil), Tools: event.Hash(nil), Offered: []string{"echo"}}},
		},
		Head: store.Thread{
			Owner: "local", Machine: "bench", Version: event.Hash(nil), Title: "A benchmark", Status: store.Running, State: "agent",
			Run: "run_01k2m3n4p5q6r7s8t9v0", Created: now, Updated: now,
		},
	}
}

// BenchmarkOpen is the store's part of start to ready.
func BenchmarkOpen(b *testing.B) {
	for _, fresh := range []bool{true, false} {
		b.Run(fmt.Sprintf("new=%v", fresh), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "log.db")
			for b.Loop() {
				if fresh {
					_ = os.Remove(path)
				}
				s := open(b, path)
				b.StopTimer()
				s.Close()
				b.StartTimer()
			}
		})
	}
}

// BenchmarkEvents reads a thread of a thousand events.
func BenchmarkEvents(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "log.db"))
	defer s.Close()
	for after := int64(0); after < 1000; after += 3 {
		if err := s.Append(b.Context(), halfStep(after)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		for _, err := range s.Events(b.Context(), halfStep(0).Thread, 0) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
