package embed

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
)

// batchTokens is about how many tokens go through the model together: enough to use every weight
// that was fetched often, few enough for the processor's cache.
const batchTokens = 384

// scratch is the memory of one pass through the model.
type scratch struct {
	state, mixed, attended, projected, inner []float32 // a row for each token
	scores, keys, values                     []float32 // of one head of one text
	bytes                                    []uint8   // rows on their way into a byteMatrix
	byteScales                               []float32
}

// resize returns *buffer with n numbers; what they are is undefined.
func resize[T any](buffer *[]T, n int) []T {
	if cap(*buffer) < n {
		*buffer = make([]T, n)
	}
	*buffer = (*buffer)[:n]
	return *buffer
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// Embed implements [Encoder]. Texts of similar length go through the model together, on all
// processors; of a text longer than 256 tokens only the beginning counts.
func (m *Model) Embed(ctx context.Context, texts []string) ([]Vector, error) {
	tokens := make([][]int32, len(texts))
	order := make([]int, len(texts))
	for i, text := range texts {
		tokens[i], order[i] = m.tokenizer.encode(text), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(tokens[b]) - len(tokens[a]) })
	batches := makeBatches(order, tokens)
	out := make([]Vector, len(texts))
	next := make(chan []int, len(batches))
	for _, b := range batches {
		next <- b
	}
	close(next)
	errs := make(chan error, len(batches))
	work := func() {
		for batch := range next {
			if ctx.Err() != nil {
				return
			}
			if err := m.embedBatch(batch, tokens, out); err != nil {
				errs <- err
			}
		}
	}
	var group sync.WaitGroup
	for range min(len(batches), runtime.GOMAXPROCS(0)) - 1 {
		group.Go(work)
	}
	work()
	group.Wait()
	close(errs)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, <-errs
}

// makeBatches splits the order into groups of about batchTokens.
func makeBatches(order []int, tokens [][]int32) [][]int {
	var batches [][]int
	begin, size := 0, 0
	for i, text := range order {
		if n := len(tokens[text]); i > begin && size+n > batchTokens {
			batches = append(batches, order[begin:i])
			begin, size = i, 0
		}
		size += len(tokens[text])
	}
	if begin < len(order) {
		batches = append(batches, order[begin:])
	}
	return batches
}

// embedBatch runs some texts through the model and pools the states of their tokens.
func (m *Model) embedBatch(batch []int, tokens [][]int32, out []Vector) error {
	s := m.scratch.Get().(*scratch)
	defer m.scratch.Put(s)
	var lengths []int
	total := 0
	for _, text := range batch {
		lengths = append(lengths, len(tokens[text]))
		total += len(tokens[text])
	}
	rows := roundUp(total, blockRows)
	// Blocks of the last text may reach past its rows: they may write what nobody reads there.
	state := resize(&s.state, rows*Dimensions)
	clear(state[total*Dimensions:])
	clear(resize(&s.attended, (rows+blockRows)*Dimensions))
	clear(resize(&s.mixed, (rows+blockRows)*3*Dimensions))
	row := 0
	for _, text := range batch {
		for place, id := range tokens[text] {
			if err := m.inputRow(state[row*Dimensions:(row+1)*Dimensions], id, place); err != nil {
				return err
			}
			row++
		}
	}
	for i := range m.layers {
		m.layers[i].forward(s, lengths, rows, m.activation)
	}
	row = 0
	for i, text := range batch {
		v := make(Vector, Dimensions)
		for range lengths[i] {
			for d, x := range state[row*Dimensions : (row+1)*Dimensions] {
				v[d] += x
			}
			row++
		}
		v.normalise()
		out[text] = v
	}
	return nil
}

// inputRow fills a row with the vector of a word at a place.
func (m *Model) inputRow(row []float32, id int32, place int) error {
	if err := readHalves(row, m.file, m.words+int64(id)*2*Dimensions); err != nil {
		return fmt.Errorf("reading the vector of a word: %w", err)
	}
	for i, v := range m.positions[place*Dimensions : (place+1)*Dimensions] {
		row[i] += v
	}
	m.inputNorm.apply(row)
	return nil
}

// forward runs one layer over the states of texts of the given lengths.
func (l *layer) forward(s *scratch, lengths []int, rows int, activation activationTable) {
	projected := resize(&s.projected, rows*Dimensions)
	inner := resize(&s.inner, rows*innerSize)
	l.attention.apply(s.mixed, s.state, rows, s)
	begin := 0
	for _, n := range lengths {
		for head := range headCount {
			s.attend(begin, n, head)
		}
		begin += n
	}
	l.output.apply(projected, s.attended, rows, s)
	addRows(s.state, projected, begin, &l.outputNorm)
	l.inner.apply(inner, s.state, rows, s)
	activation.activate(inner[:begin*innerSize])
	clear(inner[begin*innerSize:])
	l.outer.apply(projected, inner, rows, s)
	addRows(s.state, projected, begin, &l.outerNorm)
}

func addRows(state, more []float32, rows int, norm *layerNorm) {
	for r := range rows {
		norm.addNorm(state[r*Dimensions:(r+1)*Dimensions], more[r*Dimensions:(r+1)*Dimensions])
	}
}

// attend computes one head of attention for the n rows of a text.
func (s *scratch) attend(begin, n, head int) {
	const stride = 3 * Dimensions
	rows, columns := roundUp(n, blockRows), roundUp(n, blockColumns)
	scores := resize(&s.scores, rows*columns)
	keys := resize(&s.keys, columns*headSize)
	values := resize(&s.values, n*headSize)
	scale := float32(1 / math.Sqrt(headSize))
	clear(keys)
	for j := range n {
		row := s.mixed[(begin+j)*stride+head*headSize:]
		panel := keys[j/blockColumns*blockColumns*headSize+j%blockColumns:]
		for d, v := range row[Dimensions : Dimensions+headSize] {
			panel[d*blockColumns] = v * scale
		}
		for c := 0; c < headSize; c += blockColumns {
			copy(values[c*n+j*blockColumns:], row[2*Dimensions+c:2*Dimensions+c+blockColumns])
		}
	}
	b := block{depth: headSize, xStride: stride, bias: noBias[:], yStride: columns}
	for r := 0; r < n; r += blockRows {
		b.x = s.mixed[(begin+r)*stride+head*headSize:]
		for c := 0; c < columns; c += blockColumns {
			b.panel, b.y = keys[c*headSize:], scores[r*columns+c:]
			multiply(&b)
		}
	}
	for r := range n {
		softmax(scores[r*columns:(r+1)*columns], n)
	}
	b = block{depth: n, xStride: columns, bias: noBias[:], yStride: Dimensions}
	for r := 0; r < n; r += blockRows {
		b.x = scores[r*columns:]
		for c := 0; c < headSize; c += blockColumns {
			b.panel, b.y = values[c*n:], s.attended[(begin+r)*Dimensions+head*headSize+c:]
			multiply(&b)
		}
	}
}

// softmaxPortable turns scores into shares of 1.
func softmaxPortable(scores []float32) {
	most := slices.Max(scores)
	var sum float32
	for i, v := range scores {
		e := exp(v - most)
		scores[i] = e
		sum += e
	}
	inverse := 1 / sum
	for i := range scores {
		scores[i] *= inverse
	}
}

// exp is e^x for x <= 0, to a relative error of 1e-7: 2^n times a polynomial on half a unit.
func exp(x float32) float32 {
	if x < -87 {
		return 0
	}
	t := x * math.Log2E
	n := int32(t - 0.5) // rounds to the nearest, as t <= 0
	f := (t - float32(n)) * math.Ln2
	p := 1 + f*(1+f*(1.0/2+f*(1.0/6+f*(1.0/24+f*(1.0/120+f*(1.0/720))))))
	return p * math.Float32frombits(uint32(n+127)<<23)
}
