package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// A large blob is stored as a list of chunks, each a blob of its own. The bytes before the
// end of a chunk decide where it ends, so the same rows give the same chunks at any offset:
// the rows of a tool's result, of a fact and of a reply are stored once.
const (
	chunkFrom = 1 << 20   // smaller blobs are stored whole
	chunkMin  = 32 << 10  // smallest chunk, except the last
	chunkMax  = 512 << 10 // largest chunk
	chunkMask = 1<<17 - 1 // beyond chunkMin a chunk ends after 128 KiB on average
)

// gear holds a pseudo-random number for each byte value. It must never change, because the
// ends of chunks depend on it.
var gear = func() (table [256]uint64) {
	state := uint64(0x9e3779b97f4a7c15)
	for i := range table {
		state += 0x9e3779b97f4a7c15 // splitmix64
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		table[i] = z ^ z>>31
	}
	return table
}()

// splitChunks splits bytes at places that depend on the 64 bytes before each.
func splitChunks(b []byte) [][]byte {
	out := make([][]byte, 0, len(b)/(chunkMask+chunkMin)+1)
	for len(b) > 0 {
		n := chunkEnd(b)
		out = append(out, b[:n:n])
		b = b[n:]
	}
	return out
}

func chunkEnd(b []byte) int {
	if len(b) <= chunkMin {
		return len(b)
	}
	var sum uint64
	most := min(len(b), chunkMax)
	for i := chunkMin - 64; i < most; i++ {
		sum = sum<<1 + gear[b[i]]
		if sum>>40&chunkMask == 0 && i >= chunkMin {
			return i + 1
		}
	}
	return most
}

// packChunked packs the list of a blob's chunks, and those chunks that are not known to be
// stored.
func (s *SQLite) packChunked(b Blob, isNew func(hash string) bool) []packedBlob {
	var out []packedBlob
	list := make([]byte, 0, 32*len(b.Bytes)/chunkMask)
	for _, c := range splitChunks(b.Bytes) {
		sum := sha256.Sum256(c)
		list = append(list, sum[:]...)
		if hash := hex.EncodeToString(sum[:]); isNew(hash) {
			out = append(out, packedBlob{hash, s.packer.pack(c)})
		}
	}
	return append(out, packedBlob{b.Hash, packed{form: inChunks, bytes: list}})
}

// joinChunks returns the bytes of a blob that is stored in chunks.
func (s *SQLite) joinChunks(ctx context.Context, list []byte) ([]byte, error) {
	if len(list)%sha256.Size != 0 {
		return nil, fmt.Errorf("a list of chunks has %d bytes", len(list))
	}
	out := make([]byte, 0, len(list)/sha256.Size*(chunkMask+chunkMin))
	for ; len(list) > 0; list = list[sha256.Size:] {
		p, err := s.loadPacked(ctx, hex.EncodeToString(list[:sha256.Size]))
		if err != nil {
			return nil, err
		}
		if p.form == inChunks {
			return nil, errors.New("a chunk is stored in chunks")
		}
		c, err := s.packer.unpack(p)
		if err != nil {
			return nil, err
		}
		if out = append(out, c...); len(out) > maxUnpacked {
			return nil, fmt.Errorf("a blob has more than %d bytes", maxUnpacked)
		}
	}
	return out, nil
}
