package storm

import (
	"runtime"
	"runtime/metrics"
	"time"

	"leeward/messages"
	"leeward/runtime/kernel"
)

// meter is what the process had used at one moment.
type meter struct {
	cpu       time.Duration
	allocated uint64 // bytes
	objects   uint64
	cycles    uint32
	classes   cpuClasses
	handled   uint64
	spent     [messages.Kinds]kernel.Spent
}

// measure reads the meters of the process, beside what the machines have done.
func measure(counters kernel.Counters, spent [messages.Kinds]kernel.Spent) meter {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return meter{
		cpu: cpuTime(), allocated: m.TotalAlloc, objects: m.Mallocs, cycles: m.NumGC, classes: readCPUClasses(),
		handled: counters.Handled, spent: spent,
	}
}

// cpuClasses are CPU seconds as the Go runtime estimates them: what collecting garbage took, and what everything did. It
// brings them up to date at the end of each cycle.
type cpuClasses struct{ gc, all float64 }

func readCPUClasses() cpuClasses {
	samples := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"},
	}
	metrics.Read(samples)
	return cpuClasses{gc: samples[0].Value.Float64(), all: samples[1].Value.Float64() - samples[2].Value.Float64()}
}

// gcShareSince is the part of the CPU time since then that collecting garbage took; both by the same estimate.
func (c cpuClasses) gcShareSince(before cpuClasses) float64 {
	if c.all <= before.all {
		return 0
	}
	return (c.gc - before.gc) / (c.all - before.all)
}

// charge says what so many failovers cost between two moments.
func (r *Report) charge(before, after meter, failovers float64) {
	c := &r.Costs
	c.CPU = Seconds(after.cpu - before.cpu)
	c.GCs = int(after.cycles - before.cycles)
	c.PeakMemory = peakMemory()
	c.GCShare = after.classes.gcShareSince(before.classes)
	if failovers > 0 {
		c.CPUPerFailover = Seconds(float64(c.CPU) / failovers)
		c.MessagesPerFailover = float64(after.handled-before.handled) / failovers
		c.BytesPerFailover = float64(after.allocated-before.allocated) / failovers
		c.ObjectsPerFailover = float64(after.objects-before.objects) / failovers
	}
	r.Machines = machineTimes(&before.spent, &after.spent)
}

func machineTimes(before, after *[messages.Kinds]kernel.Spent) []MachineTime {
	var all time.Duration
	for kind := range after {
		all += after[kind].Time - before[kind].Time
	}
	var list []MachineTime
	for kind := range after {
		m := MachineTime{
			Kind:     messages.Kind(kind).String(),
			Messages: int(after[kind].Messages - before[kind].Messages),
			Time:     Seconds(after[kind].Time - before[kind].Time),
		}
		if m.Messages == 0 {
			continue
		}
		if all > 0 {
			m.Share = float64(m.Time) / float64(all)
		}
		list = append(list, m)
	}
	return list
}
