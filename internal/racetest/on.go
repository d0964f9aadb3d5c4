//go:build race

package racetest

// On says that the race detector watches: time and memory are then not the program's own.
const On = true
