package query

// #include <stdlib.h>
import "C"

import "unsafe"

// An arena holds text on its way into the engine, outside Go's heap, because the
// engine keeps pointers to it until a chunk is taken over.
type arena struct {
	full  []unsafe.Pointer
	block unsafe.Pointer
	size  int
	used  int
}

const arenaBlock = 1 << 20

// copyBytes copies p and returns the address of the copy.
func (a *arena) copyBytes(p []byte) unsafe.Pointer {
	if a.used+len(p) > a.size {
		if a.block != nil {
			a.full = append(a.full, a.block)
		}
		a.size, a.used = max(arenaBlock, len(p)), 0
		a.block = C.malloc(C.size_t(a.size))
	}
	at := unsafe.Add(a.block, a.used)
	copy(unsafe.Slice((*byte)(at), len(p)), p)
	a.used += len(p)
	return at
}

// reset forgets everything but one ordinary block.
func (a *arena) reset() {
	for _, b := range a.full {
		C.free(b)
	}
	a.full, a.used = a.full[:0], 0
	if a.size > arenaBlock {
		C.free(a.block)
		a.block, a.size = nil, 0
	}
}

func (a *arena) free() {
	a.reset()
	C.free(a.block)
	*a = arena{}
}
