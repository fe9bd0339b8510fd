package storm

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// figure is one number of a report, as people read it.
type figure struct {
	name  string
	value float64
	text  string
}

func ofCount(name string, n int) figure { return figure{name, float64(n), thousands(int64(n))} }

func ofRate(name string, perSecond float64) figure {
	return figure{name, perSecond, thousands(int64(math.Round(perSecond)))}
}

func ofTime(name string, s Seconds) figure { return figure{name, float64(s), s.String()} }

func ofBytes(name string, n float64) figure { return figure{name, n, bytesText(n)} }

func ofNumber(name string, n float64) figure {
	return figure{name, n, strconv.FormatFloat(n, 'f', 1, 64)}
}

// figures are the numbers by which two storms are compared.
func figures(r *Report) []figure {
	list := []figure{
		ofCount("clusters", r.Fleet.Clusters),
		ofCount("workloads", r.Fleet.Bindings),
		ofCount("clusters failed", r.Outage.Failed),
	}
	if r.Fleet.Nodes > 0 {
		list = []figure{ofCount("nodes", r.Fleet.Nodes), ofCount("pods", r.Fleet.Pods), ofCount("nodes failed", r.Outage.Failed)}
	}
	list = append(list,
		ofCount("evictions", r.Rates.Evicted.Count),
		ofCount("completed failovers", r.Rates.Released.Count),
		ofTime("took", r.Elapsed),
		ofTime("took the fleet", r.FleetTime),
		ofRate("evictions/s", r.Rates.Evicted.PerSecond),
		ofRate("placements/s", r.Rates.Placed.PerSecond),
		ofRate("completed failovers/s", r.Rates.Released.PerSecond),
	)
	for _, l := range r.Latencies {
		list = append(list, ofTime(l.Stage+" p50", l.P50), ofTime(l.Stage+" p99", l.P99))
	}
	c := &r.Costs
	return append(list,
		ofTime("CPU per failover", c.CPUPerFailover),
		ofNumber("messages per failover", c.MessagesPerFailover),
		ofBytes("allocated per failover", c.BytesPerFailover),
		ofNumber("objects per failover", c.ObjectsPerFailover),
		ofBytes("memory per workload", c.BytesPerBinding),
		ofBytes("peak memory", float64(c.PeakMemory)),
		figure{"GC share of CPU", c.GCShare, percent(c.GCShare)},
	)
}

// thousands writes a number in groups of three digits.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + "%" }

var byteUnits = [...]string{"B", "KiB", "MiB", "GiB", "TiB"}

func bytesText(n float64) string {
	unit := 0
	for n >= 1024 && unit < len(byteUnits)-1 {
		n, unit = n/1024, unit+1
	}
	if unit == 0 || n >= 100 {
		return fmt.Sprintf("%.0f %s", n, byteUnits[unit])
	}
	return fmt.Sprintf("%.1f %s", n, byteUnits[unit])
}
