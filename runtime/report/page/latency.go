package page

import (
	"fmt"
	"math"
	"slices"
	"time"

	"leeward/runtime/report/chart"
	"leeward/runtime/storm"
)

// distribution is how long failovers took: a strip for each stage, and its figures.
type distribution struct {
	chart.Panel
	Latencies []storm.Latency
}

// byFleet is the distribution by the fleet's time; nil where nothing took any.
func byFleet(latencies []storm.Latency) *distribution {
	if !slices.ContainsFunc(latencies, func(l storm.Latency) bool { return l.Max > 0 }) {
		return nil
	}
	d := distributed(latencies)
	return &d
}

// distributed draws latencies on one logarithmic scale. How high a column is says how many failovers took that
// long, of those of its stage.
func distributed(latencies []storm.Latency) distribution {
	d := distribution{Latencies: latencies}
	scale := spread(latencies)
	d.Axis = ticks(scale)
	for i := range latencies {
		l := &latencies[i]
		columns := buckets(l, scale)
		d.Strips = append(d.Strips, chart.Strip{
			Name: l.Stage, Class: "c-" + l.Stage, Area: chart.Area(columns), Columns: columns, Marks: percentiles(l, scale)})
	}
	return d
}

const (
	// shortest is the least latency that a scale begins with, in seconds: a microsecond.
	shortest = 1e-6
	// narrowest is the least width of a column, such that what took no time at all can be seen.
	narrowest = 0.004
)

// spread is the scale that holds every latency; what took no time at all lies at its beginning.
func spread(latencies []storm.Latency) chart.Scale {
	least, most := math.Inf(1), shortest
	for i := range latencies {
		for _, b := range latencies[i].Buckets {
			most = max(most, inSeconds(b.To))
			if b.From > 0 {
				least = min(least, max(shortest, inSeconds(b.From)))
			}
		}
	}
	return chart.Logarithmic(min(least, most), most)
}

func buckets(l *storm.Latency, scale chart.Scale) []chart.Column {
	most := 0
	for _, b := range l.Buckets {
		most = max(most, b.Count)
	}
	columns := make([]chart.Column, len(l.Buckets))
	for i, b := range l.Buckets {
		from := scale.At(inSeconds(b.From))
		columns[i] = chart.Column{
			From: from, To: max(from+narrowest, scale.At(inSeconds(b.To))), Value: float64(b.Count) / float64(most),
			Title: fmt.Sprintf("%s to %s: %s %s, %.1f %%", b.From, b.To, chart.Count(float64(b.Count)), l.Stage, 100*float64(b.Count)/float64(l.Count)),
		}
	}
	return columns
}

// percentiles marks what half of the failovers and nearly all of them took, each value once.
func percentiles(l *storm.Latency, scale chart.Scale) []chart.Mark {
	if l.Count == 0 {
		return nil
	}
	var marks []chart.Mark
	values := []storm.Seconds{l.P50, l.P90, l.P99}
	for i, name := range []string{"50 %", "90 %", "99 %"} {
		if i+1 < len(values) && values[i] == values[i+1] {
			continue
		}
		marks = append(marks, chart.Mark{
			Tick:  chart.Tick{At: chart.Share(scale.At(inSeconds(values[i]))), Label: name + " " + values[i].String()},
			Title: fmt.Sprintf("%s of failovers were %s within %s", name, l.Stage, values[i]), Line: len(marks),
		})
	}
	return marks
}

// stages are the parts of the time that a failover takes on average.
func stages(latencies []storm.Latency) []part {
	parts := make([]part, len(latencies))
	at := 0.0
	for i := range latencies {
		l := &latencies[i]
		parts[i] = part{
			Name: "until " + l.Stage, Class: "c-" + l.Stage, X: chart.Share(at), Wide: chart.Share(l.Share),
			Value: percent(l.Share), Detail: "on average " + l.Stage + " after " + l.Mean.String(),
		}
		at += l.Share
	}
	return parts
}

// machines are the parts of the time of the lanes that each kind of machine had.
func machines(times []storm.MachineTime) []part {
	parts := make([]part, len(times))
	for i, m := range times {
		parts[i] = part{
			Name: m.Kind, Class: "c-placed", Wide: chart.Share(m.Share), Value: percent(m.Share),
			Detail: m.Time.String() + " for " + count(m.Messages, "message"),
		}
	}
	return parts
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func inSeconds(s storm.Seconds) float64 { return time.Duration(s).Seconds() }
