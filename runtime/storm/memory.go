package storm

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// What a storm takes at least, however often garbage is collected: the program, each cluster, and each workload with what
// is recorded of its failover, of the machines alone and with a store. Measured; docs/storms.md has the figures.
const (
	needProgram, needProgramDurable = 64 << 20, 128 << 20
	needCluster                     = 16 << 10
	needAlone, needDurable          = 6 << 10, 27 << 10
)

// Memory is what a storm may take, in bytes; 0 is any.
type Memory struct {
	Bytes int64
	// Source says whose limit that is.
	Source string
}

// MemoryThere is the least of the limits that there are: GOMEMLIMIT, that of the control group, and the machine.
func MemoryThere() Memory {
	var there Memory
	lower := func(bytes uint64, err error, source string) {
		if err == nil && bytes < math.MaxInt64 && (there.Bytes == 0 || int64(bytes) < there.Bytes) {
			there = Memory{int64(bytes), source}
		}
	}
	lower(uint64(debug.SetMemoryLimit(-1)), nil, "GOMEMLIMIT")
	group, err := memlimit.FromCgroup()
	lower(group, err, "the control group")
	machine, err := memlimit.FromSystem()
	lower(machine, err, "the machine")
	return there
}

// TooLarge says that a storm does not fit into memory.
type TooLarge struct {
	Need  int64
	There Memory
	// Bindings are how many workloads would fit; 0 where none do.
	Bindings int
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("the storm needs about %s of memory, and %s are available (%s)", mebibytes(e.Need), mebibytes(e.There.Bytes), e.There.Source)
}

func mebibytes(bytes int64) string {
	if bytes < 10<<30 {
		return fmt.Sprintf("%d MiB", (bytes+1<<20-1)>>20)
	}
	return fmt.Sprintf("%.0f GiB", float64(bytes)/(1<<30))
}

// fits returns a *TooLarge where a storm would take more memory than is there.
func (c *Config) fits() error {
	need := c.need()
	if c.Memory.Bytes == 0 || need <= c.Memory.Bytes {
		return nil
	}
	_, each := c.share()
	rest := c.Memory.Bytes - (need - int64(c.workloads())*each)
	return &TooLarge{Need: need, There: c.Memory, Bindings: int(max(0, rest/each))}
}

// need is how many bytes a storm takes at least.
func (c *Config) need() int64 {
	program, each := c.share()
	clusters := c.Fleet.Clusters
	if c.Manifests != nil {
		clusters = len(c.Manifests.Members)
	}
	return program + int64(clusters)*needCluster + int64(c.workloads())*each
}

// share is what the program takes by itself, and each workload.
func (c *Config) share() (program, each int64) {
	if c.Dir != "" {
		return needProgramDurable, needDurable
	}
	return needProgram, needAlone
}

// workloads are how many the fleet may have.
func (c *Config) workloads() int {
	if c.Manifests != nil {
		return len(c.Manifests.Objects)
	}
	return c.Fleet.Bindings
}

// softLimit is from where on garbage is collected whatever it takes: below what is there, so that garbage alone never
// ends the process.
func (m Memory) softLimit() int64 {
	return min(memoryLimit, cmp.Or(m.Bytes/10*9, memoryLimit))
}

const (
	// garbagePercent lets a storm, or a replay, leave four times as much garbage as lives before it is collected, unless GOGC says
	// otherwise: every cycle walks through the whole fleet, which only grows, and takes a tenth of a storm's CPU time.
	garbagePercent = 400
	// memoryLimit bounds that for large fleets, unless GOMEMLIMIT does.
	memoryLimit = 7 << 30
	// A workload takes so many bytes at most, with its garbage: of the machines alone, and with a store.
	bytesAlone, bytesDurable = 8 << 10, 32 << 10
)

// reserve asks for memory by large pages for a fleet. Half of a storm's time is waiting for memory.
func (c *Config) reserve() {
	perWorkload := int64(bytesAlone)
	if c.Dir != "" {
		perWorkload = bytesDurable
	}
	c.HugePages.Reserve(int64(c.workloads()) * perWorkload)
}

// CollectRarely sets when garbage is collected where a whole fleet lives until the end, and returns what sets it back.
func CollectRarely(there Memory) (back func()) {
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	debug.SetGCPercent(percent)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(there.softLimit())
	}
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
