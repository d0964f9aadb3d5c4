package store_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"interlock/internal/event"
	"interlock/internal/store"
)

// randomRows is JSON of about so many bytes that does not shrink much.
func randomRows(size int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteByte('[')
	for b.Len() < size {
		fmt.Fprintf(&b, `[%d,"%x%x","%x"],`, rng.Int64(), rng.Uint64(), rng.Uint64(), rng.Uint64())
	}
	b.WriteString("[]]")
	return b.Bytes()
}

// The same rows inside other values are stored once, and every value comes back as it
// was, also in another process.
func TestSameRowsAreStoredOnce(t *testing.T) {
	const size = 26 << 20
	rows := randomRows(size)
	values := [][]byte{
		rows,
		fmt.Appendf(nil, `{"columns":["a","b","c"],"rows":%s,"row_count":3}`, rows),
		fmt.Appendf(nil, `{"status":"ok","result":{"rows":%s},"message":"There are three."}`, rows),
	}
	path := filepath.Join(t.TempDir(), "log.db")
	stored := func(n int) int64 {
		s, err := store.OpenSQLite(store.SQLiteConfig{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		b := store.Batch{
			Thread: "t" + fmt.Sprint(n), Events: []event.Event{{Seq: 1, Time: time.Unix(1, 0), Body: event.ThreadOpened{}}},
			Head: store.Thread{ID: "t", Status: store.Idle},
		}
		for _, v := range values[:n] {
			b.Blobs = append(b.Blobs, store.Blob{Hash: event.Hash(v), Bytes: v})
		}
		if err := s.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		for _, v := range values[:n] {
			got, err := s.Blob(t.Context(), event.Hash(v))
			if err != nil || !bytes.Equal(got, v) {
				t.Errorf("%d bytes came back as %d: %v", len(v), len(got), err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	once := stored(1)
	all := stored(len(values))
	t.Logf("one value of %d bytes: %d in the file; three that hold it: %d", len(rows), once, all)
	if all > once+once/10 {
		t.Errorf("three values with the same rows take %d bytes, one takes %d", all, once)
	}
}
