package embed

// The kernel multiplies blocks of blockRows x blockColumns. Matrices on the right are packed in
// panels: blockColumns neighbouring columns, row after row, so that the kernel reads memory in order.
const (
	blockRows    = 6
	blockColumns = 16
)

var noBias [blockColumns]float32

// A block is one call of the kernel: y = bias + x * panel, where x has blockRows rows of depth
// numbers, panel depth rows of blockColumns, and y blockRows rows of blockColumns. The strides are
// the distances between the rows of x and y.
type block struct {
	depth   int
	x       []float32
	xStride int
	panel   []float32
	bias    []float32
	y       []float32
	yStride int
}

// check panics where the kernel would reach outside of its slices.
func (b *block) check() {
	_ = b.x[(blockRows-1)*b.xStride+b.depth-1]
	_ = b.panel[b.depth*blockColumns-1]
	_ = b.bias[blockColumns-1]
	_ = b.y[(blockRows-1)*b.yStride+blockColumns-1]
}

// multiplyPortable is the kernel in Go, for processors without a kernel of their own.
func multiplyPortable(b *block) {
	b.check()
	for r := range blockRows {
		x := b.x[r*b.xStride : r*b.xStride+b.depth]
		var sum [blockColumns]float32
		copy(sum[:], b.bias)
		for i, v := range x {
			p := (*[blockColumns]float32)(b.panel[i*blockColumns:])
			for c := range sum {
				sum[c] += v * p[c]
			}
		}
		copy(b.y[r*b.yStride:], sum[:])
	}
}

// A matrix is packed for the kernel: columns/blockColumns panels of depth rows.
type matrix struct {
	bytes          *byteMatrix // in place of all below, where the processor has a kernel for bytes
	depth, columns int
	packed         []float32
	bias           []float32
}

// pack makes a matrix of weights as models store them: a row of depth numbers for each column.
func pack(weights, bias []float32, depth, columns int) matrix {
	m := matrix{depth: depth, columns: columns, packed: make([]float32, depth*columns), bias: bias}
	for c := range columns {
		panel := m.packed[c/blockColumns*blockColumns*depth:]
		for i := range depth {
			panel[i*blockColumns+c%blockColumns] = weights[c*depth+i]
		}
	}
	return m
}

// apply computes y = x * m + bias for rows rows, a multiple of blockRows.
func (m *matrix) apply(y, x []float32, rows int, s *scratch) {
	if m.bytes != nil {
		m.bytes.apply(y, x, rows, s)
		return
	}
	b := block{depth: m.depth, xStride: m.depth, yStride: m.columns}
	for c := 0; c < m.columns; c += blockColumns {
		b.panel, b.bias = m.packed[c*m.depth:], m.bias[c:]
		for r := 0; r < rows; r += blockRows {
			b.x, b.y = x[r*m.depth:], y[r*m.columns+c:]
			multiply(&b)
		}
	}
}
