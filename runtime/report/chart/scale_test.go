package chart

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValuesLieWhereTheyBelong(t *testing.T) {
	for _, c := range []struct {
		name  string
		scale Scale
		value float64
		want  float64
	}{
		{"zero is at the beginning", Linear(50), 0, 0},
		{"half is in the middle", Linear(50), 25, 0.5},
		{"what is too large is at the end", Linear(50), 51, 1},
		{"what is negative is at the beginning", Linear(50), -1, 0},
		{"a scale of nothing ends at one", Linear(0), 0.5, 0.5},
		{"decades are equally far apart", Logarithmic(0.001, 1), 0.1, 2.0 / 3},
		{"decades are whole", Logarithmic(0.002, 0.5), 0.001, 0},
		{"there is one decade at least", Logarithmic(1, 1), 10, 1},
		{"zero has no logarithm", Logarithmic(0.001, 1), 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) { require.InDelta(t, c.want, c.scale.At(c.value), 1e-9) })
	}
}

func TestTicksAreRound(t *testing.T) {
	for _, c := range []struct {
		name  string
		scale Scale
		about int
		want  []float64
	}{
		{"a scale ends where it is told to", Linear(47), 4, []float64{0, 20, 40}},
		{"the end is a tick where it is round", Linear(40), 4, []float64{0, 10, 20, 30, 40}},
		{"fractions are round, too", Linear(0.3), 3, []float64{0, 0.1, 0.2, 0.3}},
		{"every decade has one", Logarithmic(0.02, 3), 4, []float64{0.01, 0.1, 1, 10}},
		{"two decades have more", Logarithmic(0.2, 3), 4, []float64{0.1, 0.2, 0.5, 1, 2, 5, 10}},
	} {
		t.Run(c.name, func(t *testing.T) { require.InDeltaSlice(t, c.want, c.scale.Ticks(c.about), 1e-9) })
	}
}

func TestAScaleMayEndAboveItsLastValue(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, 1: 1, 7: 8, 40: 40, 41: 60, 101: 150, 0.3: 0.3, 99999: 100000} {
		require.InDelta(t, want, RoundUp(v), 1e-9, "of %v", v)
		require.GreaterOrEqual(t, RoundUp(v), v)
	}
}

func TestNumbersAreShort(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0", 0.25: "0.25", 7: "7", 999: "999", 1000: "1k", 1234: "1.23k", 99_999: "100k", 123_456: "123k",
		1_000_000: "1M", 45_678_901: "45.7M", 2.5e9: "2.5G",
	} {
		require.Equal(t, want, Count(n))
	}
	require.Equal(t, "1000k", Count(999_999), "rounding does not change the unit")
}

func TestPlacesAreSharesOfTheWidth(t *testing.T) {
	require.Equal(t, "12.35%", Share(0.12345).String())
	require.Equal(t, "100%", Share(1).String())
	require.Equal(t, "0%", Share(0).String())
}
