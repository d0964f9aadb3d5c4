package chart_test

import (
	"testing"

	"interlock/internal/chart"
)

// draw draws a chart, which must succeed.
func draw(tb testing.TB, t chart.Table, s chart.Spec) *chart.Picture {
	tb.Helper()
	picture, err := chart.Draw(tb.Context(), t, s)
	if err != nil {
		tb.Fatal(err)
	}
	return picture
}
