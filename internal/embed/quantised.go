package embed

import "math"

// byteColumns is how many columns of a byteMatrix its kernel computes at once, for blockRows rows.
const byteColumns = 64

// A byteMatrix holds weights as signed bytes with a scale for each column: a quarter of the memory and,
// on a processor with a kernel for bytes, of the time. Rows are turned into bytes with a scale of their own
// when they are multiplied; TestBytesKeepMeaning holds what that changes.
type byteMatrix struct {
	depth, columns int
	packed         []int8 // panels of byteColumns columns; in them four neighbouring rows of a column stand together
	scales, bias   []float32
	offsets        []int32 // takes away what the 128 of the bytes of x adds
}

// packBytes quantises weights as models store them: a row of depth numbers for each column.
func packBytes(weights, bias []float32, depth, columns int) *byteMatrix {
	m := &byteMatrix{depth, columns, make([]int8, depth*columns), make([]float32, columns), bias, make([]int32, columns)}
	for c := range columns {
		column := weights[c*depth : (c+1)*depth]
		most := greatest(column)
		if most == 0 {
			continue
		}
		m.scales[c] = most / math.MaxInt8
		panel := m.packed[c/byteColumns*byteColumns*depth:]
		for i, w := range column {
			v := int8(math.RoundToEven(float64(w / m.scales[c])))
			panel[(i/4*byteColumns+c%byteColumns)*4+i%4] = v
			m.offsets[c] -= 128 * int32(v)
		}
	}
	return m
}

// greatest is the greatest size of a number.
func greatest(list []float32) float32 {
	var most float32
	for _, v := range list {
		most = max(most, v, -v)
	}
	return most
}

// apply computes y = x * m + bias for rows rows, a multiple of blockRows.
func (m *byteMatrix) apply(y, x []float32, rows int, s *scratch) {
	bytes, scales := resize(&s.bytes, rows*m.depth), resize(&s.byteScales, rows)
	for r := range rows {
		scales[r] = quantiseRow(bytes[r*m.depth:(r+1)*m.depth], x[r*m.depth:(r+1)*m.depth])
	}
	b := byteBlock{depth: m.depth, yStride: m.columns}
	for c := 0; c < m.columns; c += byteColumns {
		b.panel, b.offsets, b.scales, b.bias = m.packed[c*m.depth:], m.offsets[c:], m.scales[c:], m.bias[c:]
		for r := 0; r < rows; r += blockRows {
			b.x, b.xScales, b.y = bytes[r*m.depth:], scales[r:], y[r*m.columns+c:]
			multiplyBytes(&b)
		}
	}
}

// A byteBlock is one call of the kernel for bytes: blockRows rows of depth bytes times a panel.
type byteBlock struct {
	depth        int
	x            []uint8
	xScales      []float32
	panel        []int8
	offsets      []int32
	scales, bias []float32
	y            []float32
	yStride      int
}

// check panics where the kernel would reach outside of its slices.
func (b *byteBlock) check() {
	_ = b.x[blockRows*b.depth-1]
	_ = b.xScales[blockRows-1]
	_ = b.panel[b.depth*byteColumns-1]
	_ = b.offsets[byteColumns-1]
	_ = b.scales[byteColumns-1]
	_ = b.bias[byteColumns-1]
	_ = b.y[(blockRows-1)*b.yStride+byteColumns-1]
}

// multiplyBytesPortable is the kernel for bytes in Go.
func multiplyBytesPortable(b *byteBlock) {
	b.check()
	for r := range blockRows {
		for c := range byteColumns {
			sum := b.offsets[c]
			for i, v := range b.x[r*b.depth : (r+1)*b.depth] {
				sum += int32(v) * int32(b.panel[(i/4*byteColumns+c)*4+i%4])
			}
			b.y[r*b.yStride+c] = b.bias[c] + float32(sum)*b.scales[c]*b.xScales[r]
		}
	}
}

func quantisePortable(out []uint8, x []float32) float32 {
	most := greatest(x)
	inverse := float32(0)
	if most != 0 {
		inverse = 127 / most
	}
	for i, v := range x {
		out[i] = uint8(int(math.RoundToEven(float64(v*inverse))) + 128)
	}
	return most / 127
}
