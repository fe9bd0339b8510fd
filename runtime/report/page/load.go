package page

import (
	"cmp"
	"fmt"
	"slices"

	"leeward/runtime/report/chart"
	"leeward/runtime/storm"
)

// balance is what a group of clusters ran, in replicas, before a storm and after it.
type balance struct {
	Clusters, Before, After int
	// Least and Most are those of one cluster, afterwards.
	Least, Most int
}

// balanced adds up the clusters that failed, or those that did not.
func balanced(clusters []storm.ClusterLoad, failed bool) balance {
	var b balance
	for _, c := range clusters {
		if c.Failed != failed {
			continue
		}
		if b.Clusters == 0 || c.After < b.Least {
			b.Least = c.After
		}
		b.Clusters++
		b.Before += c.Before
		b.After += c.After
		b.Most = max(b.Most, c.After)
	}
	return b
}

// load draws the clusters that survived, the fullest first: what they run afterwards, and as a line what
// they ran before. Of many, several share a column.
func load(clusters []storm.ClusterLoad) chart.Panel {
	survivors := slices.DeleteFunc(slices.Clone(clusters), func(c storm.ClusterLoad) bool { return c.Failed })
	slices.SortStableFunc(survivors, func(a, b storm.ClusterLoad) int { return cmp.Compare(b.After, a.After) })
	if len(survivors) == 0 {
		return chart.Panel{}
	}
	groups := chart.Groups(len(survivors), mostColumns)
	before, after := make([]float64, len(groups)-1), make([]float64, len(groups)-1)
	for i := range after {
		before[i], after[i] = means(survivors[groups[i]:groups[i+1]])
	}
	top := chart.RoundUp(max(highest(before), highest(after)))
	scale := chart.Linear(top)
	title := func(i int) string { return loaded(survivors[groups[i]:groups[i+1]], before[i], after[i]) }
	columns := chart.Even(after, scale, title)
	return chart.Panel{Strips: []chart.Strip{{
		Name: "replicas", Class: "c-placed high", Top: chart.Count(top) + " replicas", Columns: columns,
		Area: chart.Area(columns), Outline: chart.Steps(chart.Even(before, scale, title)),
	}}, Axis: []chart.Tick{{At: 0, Label: "fullest"}, {At: 100, Label: "emptiest"}}}
}

// means are what clusters ran on average.
func means(clusters []storm.ClusterLoad) (before, after float64) {
	n := float64(len(clusters))
	for _, c := range clusters {
		before += float64(c.Before) / n
		after += float64(c.After) / n
	}
	return before, after
}

// loaded says what a column of clusters ran.
func loaded(clusters []storm.ClusterLoad, before, after float64) string {
	who := clusters[0].Cluster
	switch last := clusters[len(clusters)-1].Cluster; {
	case len(clusters) > 1:
		who = fmt.Sprintf("%s to %s, %d clusters, each on average", who, last, len(clusters))
	case clusters[0].Region != "":
		who += " in " + clusters[0].Region
	}
	return fmt.Sprintf("%s: %s replicas, before %s", who, chart.Count(after), chart.Count(before))
}
