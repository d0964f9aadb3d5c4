package embed

import "golang.org/x/sys/cpu"

// hasKernel reports whether the processor has AVX2 and fused multiply-add. Tests switch it off.
var hasKernel = cpu.X86.HasAVX2 && cpu.X86.HasFMA

func kernelName() string {
	if hasVNNI {
		return "AVX-512 kernel for bytes"
	}
	if hasKernel {
		return "AVX2 kernel"
	}
	return "portable kernel"
}

// multiplyAVX2 is the kernel of kernel_amd64.s.
//
//go:noescape
func multiplyAVX2(depth int, x *float32, xStride int, panel, bias, y *float32, yStride int)

// dotAVX2 is the dot product of n signed bytes, n a multiple of 32.
//
//go:noescape
func dotAVX2(a, b *int8, n int) int32

func multiply(b *block) {
	if !hasKernel {
		multiplyPortable(b)
		return
	}
	b.check()
	multiplyAVX2(b.depth, &b.x[0], b.xStride, &b.panel[0], &b.bias[0], &b.y[0], b.yStride)
}

// dotBytes is the dot product of two quantised vectors.
func dotBytes(a, b []int8) int32 {
	if !hasKernel || len(a) != Dimensions || len(b) != Dimensions {
		return dotPortable(a, b)
	}
	return dotAVX2(&a[0], &b[0], Dimensions)
}
