//go:build !amd64

package embed

func kernelName() string { return "portable kernel" }

func multiply(b *block) { multiplyPortable(b) }

func dotBytes(a, b []int8) int32 { return dotPortable(a, b) }
