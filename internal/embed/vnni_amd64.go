package embed

import "golang.org/x/sys/cpu"

// hasVNNI reports whether the processor multiplies bytes four at a time (AVX-512 VNNI).
var hasVNNI = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VNNI

// The functions of vnni_amd64.s.

//go:noescape
func multiplyVNNI(depth int, x *uint8, xScales *float32, panel *int8, offsets *int32, scales, bias, y *float32, yStride int)

//go:noescape
func softmaxAVX512(scores *float32, n int)

//go:noescape
func activateAVX512(values *float32, n int)

//go:noescape
func quantiseAVX512(out *uint8, x *float32, n int) float32

//go:noescape
func addNormAVX512(row, more, weight, bias *float32)

// multiplyBytes computes a byteBlock.
func multiplyBytes(b *byteBlock) {
	if !hasVNNI {
		multiplyBytesPortable(b)
		return
	}
	b.check()
	multiplyVNNI(b.depth, &b.x[0], &b.xScales[0], &b.panel[0], &b.offsets[0], &b.scales[0], &b.bias[0], &b.y[0], b.yStride)
}

// quantiseRow turns a row into bytes, 128 for 0, and returns what one step is worth.
func quantiseRow(out []uint8, x []float32) float32 {
	if !hasVNNI || len(x)%16 != 0 {
		return quantisePortable(out, x)
	}
	_ = out[len(x)-1]
	return quantiseAVX512(&out[0], &x[0], len(x))
}

// softmax turns the first n of the scores, whose length is a multiple of 16, into shares of 1; the others become anything.
func softmax(scores []float32, n int) {
	if !hasVNNI {
		softmaxPortable(scores[:n])
		return
	}
	_ = scores[roundUp(n, 16)-1]
	softmaxAVX512(&scores[0], n)
}

// activate replaces values, a multiple of 16 of them, by their GELU.
func (t activationTable) activate(values []float32) {
	if !hasVNNI || len(values)%16 != 0 || len(values) == 0 {
		t.interpolate(values)
		return
	}
	activateAVX512(&values[0], len(values))
}

// addNorm replaces a row by the norm of its sum with more.
func (n *layerNorm) addNorm(row, more []float32) {
	if !hasVNNI {
		n.addNormPortable(row, more)
		return
	}
	_, _ = row[Dimensions-1], more[Dimensions-1]
	addNormAVX512(&row[0], &more[0], &n.weight[0], &n.bias[0])
}
