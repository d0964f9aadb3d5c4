package embed

import (
	"encoding/binary"
	"errors"
	"math"
)

// A Packed is a vector in signed bytes: a quarter of the memory, at an error of the cosine below 0.01.
type Packed struct {
	Values []int8 // Dimensions of them
	Scale  float32
}

// PackedBytes is the length of a packed vector as bytes.
const PackedBytes = Dimensions + 4

// Pack quantises a vector.
func (v Vector) Pack() Packed {
	most := greatest(v)
	p := Packed{Values: make([]int8, len(v)), Scale: most / math.MaxInt8}
	if most == 0 {
		return p
	}
	for i, x := range v {
		p.Values[i] = int8(math.RoundToEven(float64(x / p.Scale)))
	}
	return p
}

// Cosine is the cosine of two packed vectors.
func (p Packed) Cosine(q Packed) float32 {
	return float32(dotBytes(p.Values, q.Values)) * p.Scale * q.Scale
}

// Bytes encodes the vector for storage.
func (p Packed) Bytes() []byte {
	out := make([]byte, 4, 4+len(p.Values))
	binary.LittleEndian.PutUint32(out, math.Float32bits(p.Scale))
	for _, v := range p.Values {
		out = append(out, byte(v))
	}
	return out
}

// ParsePacked decodes what Bytes wrote.
func ParsePacked(data []byte) (Packed, error) {
	if len(data) != PackedBytes {
		return Packed{}, errors.New("a stored vector has the wrong length")
	}
	p := Packed{Values: make([]int8, Dimensions), Scale: math.Float32frombits(binary.LittleEndian.Uint32(data))}
	for i, b := range data[4:] {
		p.Values[i] = int8(b)
	}
	return p, nil
}

// Cosine is the cosine of two vectors of an Encoder.
func (v Vector) Cosine(w Vector) float32 {
	var sum float32
	for i, x := range v {
		sum += x * w[i]
	}
	return sum
}

// normalise scales a vector to the length 1; the zero vector stays.
func (v Vector) normalise() {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 {
		return
	}
	inverse := float32(1 / math.Sqrt(square))
	for i := range v {
		v[i] *= inverse
	}
}

func dotPortable(a, b []int8) int32 {
	var sum int32
	for i, x := range a {
		sum += int32(x) * int32(b[i])
	}
	return sum
}
