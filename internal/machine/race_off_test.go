//go:build !race

package machine_test

// slow is how much longer tests take under the race detector.
const slow = 1
