//go:build race

package query_test

// raceDetector says that it watches: time and memory are then not the program's own.
const raceDetector = true
