// Package chart turns figures into places: how far along its width a value lies, and the outline of what is
// drawn there. It knows no page and no colour.
//
// Charts are as wide as the page lets them be: along the width everything is in percent, so that words
// keep their size on a telephone.
package chart

import (
	"math"
	"strconv"
)

// Scale puts values on a line that begins at 0 and ends at 1.
type Scale struct {
	low, high float64
	// log is set where equal ratios are equally far apart.
	log bool
}

// Linear is a scale from zero to a value; to 1 where that is not above zero.
func Linear(most float64) Scale {
	if most <= 0 {
		most = 1
	}
	return Scale{low: 0, high: most}
}

// Logarithmic is a scale of whole decades around values above zero.
func Logarithmic(least, most float64) Scale {
	const nearly = 1e-9 // the logarithm of 0.1 is not quite -1
	low := math.Floor(math.Log10(least) + nearly)
	high := math.Max(low+1, math.Ceil(math.Log10(most)-nearly))
	return Scale{low: low, high: high, log: true}
}

// At returns where a value lies, 0 to 1; what is off the scale lies at its end.
func (s Scale) At(v float64) float64 {
	if s.log {
		v = math.Log10(v) // -Inf for zero: at the beginning
	}
	return min(1, max(0, (v-s.low)/(s.high-s.low)))
}

// Ticks returns round values on the scale, about as many as are asked for; on a logarithmic one every decade,
// and what is between them where there are few.
func (s Scale) Ticks(about int) []float64 {
	if s.log {
		return s.decades()
	}
	var ticks []float64
	step := round(s.high / float64(about))
	for i := 0; float64(i)*step <= s.high*(1+1e-9); i++ {
		ticks = append(ticks, float64(i)*step)
	}
	return ticks
}

func (s Scale) decades() []float64 {
	steps := []float64{1}
	if s.high-s.low <= 2 {
		steps = []float64{1, 2, 5}
	}
	var ticks []float64
	for decade := s.low; decade < s.high; decade++ {
		for _, n := range steps {
			ticks = append(ticks, n*math.Pow(10, decade))
		}
	}
	return append(ticks, math.Pow(10, s.high))
}

// RoundUp returns the first multiple of a round step that is not below a value: where a scale may end.
func RoundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	step := round(v / 4)
	return math.Ceil(v/step-1e-9) * step
}

// round returns the first of 1, 2, 5, 10, 20 ... that is not below a step.
func round(step float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(step)))
	for _, n := range []float64{1, 2, 5} {
		if step <= n*unit*(1+1e-9) {
			return n * unit
		}
	}
	return 10 * unit
}

// Percent is a place, or a length, along the width of a chart.
type Percent float64

// Share returns a part of the width, from 0 to 1, to a hundredth of a percent.
func Share(part float64) Percent { return Percent(math.Round(part*10_000) / 100) }

// String is what SVG wants: "12.5%".
func (p Percent) String() string { return strconv.FormatFloat(float64(p), 'f', -1, 64) + "%" }

// Tick is a place with words.
type Tick struct {
	At    Percent
	Label string
}

// Count writes a number in three digits or so: 950, 1.23k, 45.6M.
func Count(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= unit.size {
			return strconv.FormatFloat(n/unit.size, 'g', digits(n/unit.size), 64) + unit.name
		}
	}
	return strconv.FormatFloat(n, 'g', 3, 64)
}

// digits are three, or as many as the whole part has.
func digits(n float64) int {
	if n >= 999.5 {
		return 4
	}
	return 3
}
