//go:build !amd64

package embed

const hasVNNI = false

func multiplyBytes(b *byteBlock) { multiplyBytesPortable(b) }

func quantiseRow(out []uint8, x []float32) float32 { return quantisePortable(out, x) }

func softmax(scores []float32, n int) { softmaxPortable(scores[:n]) }

func (t activationTable) activate(values []float32) { t.interpolate(values) }

func (n *layerNorm) addNorm(row, more []float32) { n.addNormPortable(row, more) }
