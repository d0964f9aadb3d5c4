package store

import (
	"context"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// A packer compresses blobs. JSON of results and prompts shrinks to a fifth or less, and
// writing fewer pages saves more time than compressing costs.
type packer struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

const (
	packFrom    = 512       // smaller blobs are not compressed
	maxUnpacked = 512 << 20 // protects against a manipulated file
)

func newPacker() *packer {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2),
		zstd.WithWindowSize(256<<10), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // only wrong options fail
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxUnpacked))
	if err != nil {
		panic(err)
	}
	return &packer{enc, dec}
}

// The forms in which bytes are stored.
const (
	plain      = 0
	compressed = 1 // zstd
	inChunks   = 2 // the SHA-256 of each chunk, which is a blob of its own
)

// packed is a blob or snapshot in the form in which it is stored.
type packed struct {
	form  int64
	bytes []byte
}

type packedBlob struct {
	hash string
	packed
}

func (p *packer) pack(b []byte) packed {
	if len(b) >= packFrom {
		if z := p.enc.EncodeAll(b, make([]byte, 0, len(b)/2)); len(z) < len(b)-len(b)/8 {
			return packed{compressed, z}
		}
	}
	if b == nil {
		b = []byte{}
	}
	return packed{plain, b}
}

func (p *packer) unpack(v packed) ([]byte, error) {
	if v.form == plain {
		return v.bytes, nil
	}
	b, err := p.dec.DecodeAll(v.bytes, nil)
	if err != nil {
		return nil, fmt.Errorf("unpacking a blob: %w", err)
	}
	return b, nil
}

// packNew packs the blobs that are not known to be stored.
func (s *SQLite) packNew(blobs []Blob) []packedBlob {
	var out []packedBlob
	packedNow := map[string]bool{}
	isNew := func(hash string) bool {
		s.mu.Lock()
		_, stored := s.knownBlobs[hash]
		s.mu.Unlock()
		if stored || packedNow[hash] {
			return false
		}
		packedNow[hash] = true
		return true
	}
	for _, b := range blobs {
		switch {
		case !isNew(b.Hash):
		case len(b.Bytes) >= chunkFrom:
			out = append(out, s.packChunked(b, isNew)...)
		default:
			out = append(out, packedBlob{b.Hash, s.packer.pack(b.Bytes)})
		}
	}
	return out
}

// rememberBlobs notes that blobs are stored, unless some were removed since the sweep.
func (s *SQLite) rememberBlobs(blobs []packedBlob, sweep int64) {
	if len(blobs) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sweep != sweep {
		return
	}
	if len(s.knownBlobs)+len(blobs) > maxKnown {
		clear(s.knownBlobs)
	}
	for _, b := range blobs {
		s.knownBlobs[b.hash] = struct{}{}
	}
}

// lastSweep returns the number of the sweep since which the known blobs are known.
func (s *SQLite) lastSweep() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sweep
}

// forgetSwept forgets which blobs are stored if some were removed since the sweep that the
// caller knows, and reports whether there was a later one.
func (s *SQLite) forgetSwept(ctx context.Context, seen int64) (bool, error) {
	var n int64
	if err := s.readers.QueryRowContext(ctx, `SELECT n FROM sweeps`).Scan(&n); err != nil {
		return false, storeFault(err, s.path, "read")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sweep != n {
		s.sweep = n
		clear(s.knownBlobs)
	}
	return n != seen, nil
}
