package chart

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestColumnsAreDrawnAsTheyStand(t *testing.T) {
	for _, c := range []struct {
		name        string
		columns     []Column
		area, steps string
	}{
		{"nothing has no outline", nil, "", ""},
		{"one column is a box", []Column{{From: 0, To: 1, Value: 0.5}}, "M0 100V50H1000V100Z", "M0 50H1000"},
		{"columns that touch are one", []Column{{From: 0, To: 0.5, Value: 1}, {From: 0.5, To: 1, Value: 0.25}},
			"M0 100V0H500V75H1000V100Z", "M0 0H500V75H1000"},
		{"the ground shows in a gap", []Column{{From: 0, To: 0.1, Value: 1}, {From: 0.2, To: 0.3, Value: 1}},
			"M0 100V0H100V100ZM200 100V0H300V100Z", "M0 0H100M200 0H300"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.area, Area(c.columns))
			require.Equal(t, c.steps, Steps(c.columns))
		})
	}
}

func TestValuesAreSpreadEvenly(t *testing.T) {
	columns := Even([]float64{5, 10}, Linear(10), func(i int) string { return "interval " + strconv.Itoa(i) })
	require.Equal(t, []Column{{0, 0.5, 0.5, "interval 0"}, {0.5, 1, 1, "interval 1"}}, columns)
	require.Equal(t, "50%", columns[1].X().String())
	require.Equal(t, "50%", columns[1].Wide().String())
	require.Empty(t, Even(nil, Linear(1), nil))
}

func TestManyThingsAreCutIntoGroups(t *testing.T) {
	for _, c := range []struct {
		name    string
		n, most int
		want    []int
	}{
		{"few stand alone", 3, 10, []int{0, 1, 2, 3}},
		{"as many as fit", 10, 10, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{"one more, and all are pairs", 11, 10, []int{0, 2, 4, 6, 8, 10, 11}},
		{"nothing has no groups", 0, 10, []int{0}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, Groups(c.n, c.most)) })
	}
}
