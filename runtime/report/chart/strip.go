package chart

import (
	"math"
	"strconv"
	"strings"
)

// Panel is a number of strips below each other on one axis.
type Panel struct {
	Strips []Strip
	// Axis are the ticks below them all.
	Axis []Tick
}

// Strip is one row of columns, drawn as an area.
type Strip struct {
	Name string
	// Class is how the strip is painted: a class of the page's style.
	Class string
	// Area is the path of the columns, and Outline that of what they are compared with, if anything, in a box
	// of Width by Height.
	Area, Outline string
	// Top is the value of the strip's upper edge, in words.
	Top string
	// Marks are values of note, in order.
	Marks []Mark
	// Columns have the words for a reader who points at one.
	Columns []Column
}

// Mark is a value of note on a strip. Its words are on the side that has space.
type Mark struct {
	Tick
	Title string
	// Line is the line that the words stand on, from 0, such that those of neighbours do not meet.
	Line int
}

// Anchor is the end of the words that is at the mark.
func (m Mark) Anchor() string {
	if m.At > 50 {
		return "end"
	}
	return "start"
}

// Y is how far below the strip's upper edge the words stand, in pixels.
func (m Mark) Y() int { return 12 + 14*m.Line }

// Width and Height are of the box that paths are drawn in; it is stretched to the strip.
const (
	Width  = 1000
	Height = 100
)

// Column is a value over a part of the axis: From, To and Value are shares, 0 to 1.
type Column struct {
	From, To, Value float64
	// Title says what the column shows.
	Title string
}

// X is where a column begins.
func (c Column) X() Percent { return Share(c.From) }

// Wide is how much of the width a column takes.
func (c Column) Wide() Percent { return Share(c.To - c.From) }

// Area returns the path around columns that stand in order; where one does not touch the next, the ground shows.
func Area(columns []Column) string { return outline(columns, true) }

// Steps returns the path along the upper edges of columns.
func Steps(columns []Column) string { return outline(columns, false) }

// outline draws every column from its left edge to its right one. Areas come back to the ground at each gap.
func outline(columns []Column, area bool) string {
	var path strings.Builder
	move := func(command byte, numbers ...float64) {
		path.WriteByte(command)
		for i, n := range numbers {
			if i > 0 {
				path.WriteByte(' ')
			}
			path.WriteString(strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64))
		}
	}
	for i, c := range columns {
		top := Height * (1 - c.Value)
		joined := i > 0 && columns[i-1].To >= c.From
		switch {
		case joined:
			move('V', top)
		case area:
			move('M', Width*c.From, Height)
			move('V', top)
		default:
			move('M', Width*c.From, top)
		}
		move('H', Width*c.To)
		if last := i == len(columns)-1 || columns[i+1].From > c.To; last && area {
			move('V', Height)
			move('Z')
		}
	}
	return path.String()
}

// Even spreads values over the whole width, each with its title. Scale says how high they are.
func Even(values []float64, scale Scale, title func(i int) string) []Column {
	columns := make([]Column, len(values))
	n := float64(len(values))
	for i, v := range values {
		columns[i] = Column{From: float64(i) / n, To: float64(i+1) / n, Value: scale.At(v), Title: title(i)}
	}
	return columns
}

// Groups cuts n things into groups of the same size, the last one perhaps smaller, of which there are at most
// so many; it returns where each begins, and n.
func Groups(n, most int) []int {
	size := max(1, (n+most-1)/most)
	var bounds []int
	for at := 0; at < n; at += size {
		bounds = append(bounds, at)
	}
	return append(bounds, n)
}
