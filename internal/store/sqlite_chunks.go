package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// A large blob is stored as a list of chunks, each a blob of its own. Where a chunk ends
// is decided by the bytes around its end, so that the same rows give the same chunks
// wherever they stand: in a tool's result, in a fact and in a reply they are stored once.
const (
	chunkFrom = 1 << 20   // bytes from which a blob is stored in chunks
	chunkMin  = 32 << 10  // of a chunk, but for the last
	chunkMax  = 512 << 10 // of a chunk
	chunkMask = 1<<17 - 1 // a chunk ends about every 128 KiB after chunkMin
)

// gear gives each byte value a number, the same in every process and version: chunk ends
// depend on it.
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

// chunks cuts bytes at places that depend on the 64 bytes before each.
func chunks(b []byte) [][]byte {
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

// packChunked packs the chunks of a blob that are not known to be stored, and the list of
// them.
func (s *SQLite) packChunked(b Blob, isNew func(hash string) bool) []packedBlob {
	var out []packedBlob
	list := make([]byte, 0, 32*len(b.Bytes)/chunkMask)
	for _, c := range chunks(b.Bytes) {
		sum := sha256.Sum256(c)
		list = append(list, sum[:]...)
		if hash := hex.EncodeToString(sum[:]); isNew(hash) {
			out = append(out, packedBlob{hash, s.pack.pack(c)})
		}
	}
	return append(out, packedBlob{b.Hash, packed{form: inChunks, bytes: list}})
}

// joinChunks gives the bytes of a blob that is stored in chunks.
func (s *SQLite) joinChunks(ctx context.Context, list []byte) ([]byte, error) {
	if len(list)%sha256.Size != 0 {
		return nil, fmt.Errorf("a list of chunks has %d bytes", len(list))
	}
	out := make([]byte, 0, len(list)/sha256.Size*(chunkMask+chunkMin))
	for ; len(list) > 0; list = list[sha256.Size:] {
		p, err := s.packedBlob(ctx, hex.EncodeToString(list[:sha256.Size]))
		if err != nil {
			return nil, err
		}
		if p.form == inChunks {
			return nil, errors.New("a chunk is stored in chunks")
		}
		c, err := s.pack.unpack(p)
		if err != nil {
			return nil, err
		}
		if out = append(out, c...); len(out) > maxUnpacked {
			return nil, fmt.Errorf("a blob has more than %d bytes", maxUnpacked)
		}
	}
	return out, nil
}
