//go:build race

package document

const raceDetector = true
