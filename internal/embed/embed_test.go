package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"
)

// openModel returns the shipped model, and skips the test where it was not fetched.
func openModel(tb testing.TB) *Model {
	tb.Helper()
	if !Describe().Model {
		tb.Skip("the embedding model was not fetched (package weights)")
	}
	m, err := loadShipped()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func embedOne(tb testing.TB, e Encoder, text string) Vector {
	tb.Helper()
	v, err := e.Embed(context.Background(), []string{text})
	if err != nil {
		tb.Fatal(err)
	}
	return v[0]
}

// A reference is a text as a separate program in double precision embeds it (numpy, written from the
// model's description).
type reference struct {
	Text   string
	Tokens []int32
	Vector Vector
}

func references(t *testing.T) []reference {
	t.Helper()
	raw, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []reference
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestModelMatchesReference(t *testing.T) {
	openModel(t)
	m, err := load(shippedWeights(), false)
	if err != nil {
		t.Fatal(err)
	}
	list := references(t)
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = r.Text
		if got := m.tokenizer.encode(r.Text); !slices.Equal(got, r.Tokens) {
			t.Errorf("%.40q: tokens %v, want %v", r.Text, got, r.Tokens)
		}
	}
	// All texts in one call, so that texts of different lengths share batches.
	vectors, err := m.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range list {
		for d, want := range r.Vector {
			if diff := math.Abs(float64(vectors[i][d] - want)); diff > 2e-6 {
				t.Fatalf("%.40q: dimension %d is %v, want %v", r.Text, d, vectors[i][d], want)
			}
		}
	}
}

// TestPortableKernel holds both kernels to the same results.
func TestPortableKernel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	fill := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = random.Float32()*2 - 1
		}
		return out
	}
	for _, depth := range []int{1, 7, 32, 384} {
		b := block{depth: depth, x: fill(blockRows * (depth + 3)), xStride: depth + 3, panel: fill(depth * blockColumns), bias: fill(blockColumns), yStride: 20}
		fast, plain := b, b
		fast.y, plain.y = make([]float32, blockRows*20), make([]float32, blockRows*20)
		multiply(&fast)
		multiplyPortable(&plain)
		for i := range plain.y {
			if diff := math.Abs(float64(fast.y[i] - plain.y[i])); diff > 1e-5 {
				t.Fatalf("depth %d: y[%d] = %v with %s, %v in Go", depth, i, fast.y[i], kernelName(), plain.y[i])
			}
		}
	}
	a, b := make([]int8, Dimensions), make([]int8, Dimensions)
	for range 100 {
		for i := range a {
			a[i], b[i] = int8(random.IntN(256)-128), int8(random.IntN(256)-128)
		}
		if got, want := dotBytes(a, b), dotPortable(a, b); got != want {
			t.Fatalf("dot product %d with %s, %d in Go", got, kernelName(), want)
		}
	}
}

func TestMeaning(t *testing.T) {
	m := openModel(t)
	question := embedOne(t, m, "How long does a customer have to send goods back?")
	near := question.Cosine(embedOne(t, m, "Items may be returned within thirty days of delivery."))
	far := question.Cosine(embedOne(t, m, "The server room is locked at night."))
	if near < far+0.2 {
		t.Errorf("the passage that answers has the cosine %.2f, an unrelated one %.2f", near, far)
	}
}

func TestPackedVectors(t *testing.T) {
	m := openModel(t)
	texts := []string{"total revenue by region", "sales of each area", "the cat sat on the mat", "invoice", "Rechnung"}
	vectors, err := m.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		for _, w := range vectors {
			stored, err := ParsePacked(v.Pack().Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if diff := math.Abs(float64(stored.Cosine(w.Pack()) - v.Cosine(w))); diff > 0.01 {
				t.Errorf("packing changes a cosine by %v", diff)
			}
		}
	}
	if _, err := ParsePacked(make([]byte, 7)); err == nil {
		t.Error("a vector of 7 bytes was read")
	}
}

func TestWeightsArePinned(t *testing.T) {
	openModel(t)
	raw, err := fs.ReadFile(shippedWeights(), weightsFile)
	if err != nil {
		t.Fatal(err)
	}
	const want = "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d"
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != want {
		t.Errorf("the weights have the hash %x, want %s: change modelName with them, so that indexes are made anew", sum, want)
	}
}

func TestWithoutWeights(t *testing.T) {
	if hasWeights(fstest.MapFS{"README.md": {}}) {
		t.Error("an empty folder counts as weights")
	}
	question := embedOne(t, Words{}, "refund of damaged goods")
	near, far := question.Cosine(embedOne(t, Words{}, "Damaged goods are refunded.")), question.Cosine(embedOne(t, Words{}, "Office hours are nine to five."))
	if near < far+0.2 {
		t.Errorf("shared words give the cosine %.2f, none %.2f", near, far)
	}
}

func TestBrokenWeights(t *testing.T) {
	vocabulary := map[string]int32{}
	for i := range int32(vocabularySize) {
		vocabulary[strings.Repeat("a", int(i)%50)+string(0x4E00+i)] = i
	}
	text, err := json.Marshal(map[string]any{"model": map[string]any{"vocab": vocabulary}})
	if err != nil {
		t.Fatal(err)
	}
	for name, weights := range map[string]string{
		"empty":        "",
		"no header":    "\xff\xff\xff\xff\xff\xff\xff\xff",
		"cut off":      "\x40\x00\x00\x00\x00\x00\x00\x00{",
		"wrong tensor": "\x02\x00\x00\x00\x00\x00\x00\x00{}",
	} {
		_, err := Load(fstest.MapFS{tokenizerFile: {Data: text}, weightsFile: {Data: []byte(weights)}})
		if err == nil {
			t.Errorf("%s: the model was loaded", name)
		}
	}
}

func TestEmbedStops(t *testing.T) {
	m := openModel(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call returned %v", err)
	}
}

func BenchmarkQuestion(b *testing.B) {
	m := openModel(b)
	embedOne(b, m, "Loads the model.")
	begin := processorTime(b)
	for b.Loop() {
		embedOne(b, m, "How long does a customer have to send goods back?")
	}
	b.ReportMetric(float64((processorTime(b)-begin).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// BenchmarkPage embeds 500 words in three chunks, as a printed page has them. Processor time is that of all
// threads: unlike the time on the wall it says the same on a machine that does other work.
func BenchmarkPage(b *testing.B) {
	m := openModel(b)
	chunk := strings.Repeat("The warehouse ships orders placed before noon on the same day, and the carrier hands over a tracking number. ", 9)
	begin := processorTime(b)
	for b.Loop() {
		if _, err := m.Embed(context.Background(), []string{chunk, chunk, chunk}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((processorTime(b)-begin).Milliseconds())/float64(b.N), "cpu-ms/op")
}

func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano())
}

func BenchmarkLoad(b *testing.B) {
	openModel(b)
	for b.Loop() {
		if _, err := Load(shippedWeights()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestBytesKeepMeaning holds the model in bytes to the one in single precision: a text keeps its place, and
// two texts keep their distance.
func TestBytesKeepMeaning(t *testing.T) {
	openModel(t)
	exact, err := load(shippedWeights(), false)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := load(shippedWeights(), true)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, r := range references(t) {
		if r.Text != "" {
			texts = append(texts, r.Text)
		}
	}
	texts = append(texts, "How long does a customer have to send goods back?", "Items may be returned within thirty days of delivery.", "Wie viele Urlaubstage habe ich?")
	want, err := exact.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	got, err := bytes.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	lowest, most := 1.0, 0.0
	for i := range texts {
		lowest = min(lowest, float64(want[i].Cosine(got[i])))
		for j := range i {
			most = max(most, math.Abs(float64(got[i].Cosine(got[j])-want[i].Cosine(want[j]))))
		}
	}
	t.Logf("lowest cosine with itself %.4f, greatest change of a cosine between two %.4f", lowest, most)
	if lowest < 0.99 || most > 0.02 {
		t.Errorf("bytes move a text to the cosine %.4f and a pair by %.4f", lowest, most)
	}
}

// TestFastPartsMatchGo holds the functions for processors with AVX-512 to those in Go.
func TestFastPartsMatchGo(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	fill := func(n int, size float32) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = (random.Float32()*2 - 1) * size
		}
		return out
	}
	near := func(name string, got, want []float32, most float64) {
		t.Helper()
		for i := range want {
			if diff := math.Abs(float64(got[i] - want[i])); !(diff <= most) {
				t.Fatalf("%s: [%d] = %v, %v in Go", name, i, got[i], want[i])
			}
		}
	}
	for _, n := range []int{1, 2, 15, 16, 17, 31, 32, 100, 256} {
		fast := fill(roundUp(n, 16), 30)
		plain := slices.Clone(fast[:n])
		softmax(fast, n)
		softmaxPortable(plain)
		near("softmax", fast, plain, 1e-6)
	}
	table := newActivationTable()
	values := append(fill(1600, 9), 0, 1e-20, -1e-20, 100, -100, 8, -8, 0.5, -0.5, 1, -1, 3, -3, 5, -5, 7)
	plain := slices.Clone(values)
	table.activate(values)
	table.interpolate(plain)
	near("GELU", values, plain, 2e-6)
	norm := layerNorm{fill(Dimensions, 1), fill(Dimensions, 1)}
	row, more := fill(Dimensions, 3), fill(Dimensions, 3)
	plain = slices.Clone(row)
	norm.addNorm(row, more)
	norm.addNormPortable(plain, more)
	near("norm", row, plain, 1e-5)
	for _, depth := range []int{16, 384, 1536} {
		weights := fill(depth*2*byteColumns, 1)
		weights[5*depth] = 0
		m := packBytes(weights, fill(2*byteColumns, 1), depth, 2*byteColumns)
		x := fill(blockRows*depth, 2)
		clear(x[depth : 2*depth]) // a row of zeros has no scale
		fast, slow := make([]uint8, len(x)), make([]uint8, len(x))
		scales := make([]float32, blockRows)
		for r := range blockRows {
			scales[r] = quantiseRow(fast[r*depth:(r+1)*depth], x[r*depth:(r+1)*depth])
			near("scale", scales[r:r+1], []float32{quantisePortable(slow[r*depth:(r+1)*depth], x[r*depth:(r+1)*depth])}, 1e-7)
		}
		for i := range fast {
			if diff := int(fast[i]) - int(slow[i]); diff < -1 || diff > 1 {
				t.Fatalf("depth %d: byte %d is %d, %d in Go", depth, i, fast[i], slow[i])
			}
		}
		a := byteBlock{depth: depth, x: fast, xScales: scales, panel: m.packed, offsets: m.offsets, scales: m.scales, bias: m.bias, y: make([]float32, blockRows*byteColumns), yStride: byteColumns}
		b := a
		b.y = make([]float32, blockRows*byteColumns)
		multiplyBytes(&a)
		multiplyBytesPortable(&b)
		near("product", a.y, b.y, 1e-3)
	}
}
