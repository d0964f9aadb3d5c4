package embed

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
)

const maxHeader = 1 << 20

// tensors reads a safetensors file: a header that names tensors and their places, then their bytes.
// Tensors are read one at a time, so that the file is never in memory whole.
type tensors struct {
	file   fs.File
	at     io.ReaderAt
	begin  int64
	header map[string]tensorHeader
}

type tensorHeader struct {
	Type    string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

func openTensors(dir fs.FS, name string) (*tensors, error) {
	file, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	t := &tensors{file: file}
	if err := t.readHeader(); err != nil {
		return nil, errors.Join(fmt.Errorf("reading %s: %w", name, err), file.Close())
	}
	return t, nil
}

func (t *tensors) readHeader() error {
	var ok bool
	if t.at, ok = t.file.(io.ReaderAt); !ok {
		return errors.New("the file cannot be read at an offset")
	}
	var length [8]byte
	if _, err := t.at.ReadAt(length[:], 0); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader {
		return fmt.Errorf("its header has %d bytes, at most %d are allowed", n, maxHeader)
	}
	text := make([]byte, n)
	if _, err := t.at.ReadAt(text, 8); err != nil {
		return err
	}
	t.begin = 8 + int64(n)
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(text, &entries); err != nil {
		return err
	}
	t.header = map[string]tensorHeader{}
	for name, raw := range entries {
		if name == "__metadata__" {
			continue
		}
		var h tensorHeader
		if err := json.Unmarshal(raw, &h); err != nil {
			return err
		}
		t.header[name] = h
	}
	return nil
}

// find returns where the half-precision tensor begins in the file. Its shape must be the given one.
func (t *tensors) find(name string, shape ...int) (offset int64, err error) {
	h, ok := t.header[name]
	if !ok {
		return 0, fmt.Errorf("there is no tensor %s", name)
	}
	size := 1
	for _, n := range shape {
		size *= n
	}
	if h.Type != "F16" || fmt.Sprint(h.Shape) != fmt.Sprint(shape) || h.Offsets[1]-h.Offsets[0] != int64(2*size) {
		return 0, fmt.Errorf("the tensor %s is %s %v, want F16 %v", name, h.Type, h.Shape, shape)
	}
	return t.begin + h.Offsets[0], nil
}

// load reads a half-precision tensor of the given shape.
func (t *tensors) load(name string, shape ...int) ([]float32, error) {
	offset, err := t.find(name, shape...)
	if err != nil {
		return nil, err
	}
	size := 1
	for _, n := range shape {
		size *= n
	}
	out := make([]float32, size)
	if err := readHalves(out, t.at, offset); err != nil {
		return nil, fmt.Errorf("reading the tensor %s: %w", name, err)
	}
	return out, nil
}

// readHalves fills out with half-precision numbers of a file.
func readHalves(out []float32, from io.ReaderAt, offset int64) error {
	var buf [2 * Dimensions]byte
	for len(out) > 0 {
		n := min(len(out), Dimensions)
		if _, err := from.ReadAt(buf[:2*n], offset); err != nil {
			return err
		}
		for i := range n {
			out[i] = halfToFloat(binary.LittleEndian.Uint16(buf[2*i:]))
		}
		out, offset = out[n:], offset+int64(2*n)
	}
	return nil
}

// halfToFloat widens an IEEE 754 half-precision number.
func halfToFloat(h uint16) float32 {
	sign, exponent, mantissa := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 0: // subnormal: a multiple of 2^-24
		f := math.Float32bits(float32(mantissa) * (1.0 / (1 << 24)))
		return math.Float32frombits(sign | f)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | mantissa<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | mantissa<<13)
}
