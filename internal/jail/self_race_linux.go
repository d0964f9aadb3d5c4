//go:build linux && race

package jail

import "os"

// plainProgram names the program without the race detector, for tests of packages whose
// workers are tested elsewhere: each start of a process that carries the detector costs
// a fifth of a second. No build without -race looks at it.
const plainProgram = "INTERLOCK_PLAIN_PROGRAM"

// selfPath is this binary, even when its file was replaced or deleted meanwhile, or the
// same program without the race detector.
func selfPath() string {
	if path := os.Getenv(plainProgram); path != "" {
		return path
	}
	return "/proc/self/exe"
}

// raced says that workers carry the race detector, whose shadow memory is larger than any
// limit on address space.
func raced() bool { return os.Getenv(plainProgram) == "" }
