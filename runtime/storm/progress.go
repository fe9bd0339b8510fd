package storm

import (
	"fmt"
	"strings"
	"time"
)

// Progress is how far a storm has come.
type Progress struct {
	// Struck is set once clusters fail. Until then the fleet is placed, and Placed counts its workloads.
	Struck                             bool
	Evicted, Placed, Healthy, Released int64
	// Workloads is how many the fleet has; zero where that is not known beforehand.
	Workloads int64
	// Backlog is how many messages wait.
	Backlog uint64
}

// Progress may be asked from any goroutine.
func (s *Storm) Progress() Progress {
	p := Progress{Struck: s.struck.Load(), Backlog: s.ground.backlog()}
	if s.config.Manifests == nil {
		p.Workloads = int64(s.config.Fleet.Bindings)
	}
	for _, l := range s.lanes {
		p.Evicted += l.counters[evicted].Load()
		p.Placed += l.counters[placed].Load()
		p.Healthy += l.counters[healthy].Load()
		p.Released += l.counters[released].Load()
	}
	return p
}

// Line is the progress in one line for a terminal, with what was done since an earlier one.
func (p Progress) Line(before Progress, since time.Duration) string {
	perSecond := func(now, then int64) string {
		if since <= 0 || now < then {
			return "0"
		}
		return thousands(int64(float64(now-then) / since.Seconds()))
	}
	if !p.Struck {
		return fmt.Sprintf("%s placing %s workloads (%s/s), %s messages wait",
			bar(p.Placed, p.Workloads), thousands(p.Placed), perSecond(p.Placed, before.Placed), thousands(int64(p.Backlog)))
	}
	return fmt.Sprintf("%s evicted %s (%s/s), released %s (%s/s): to place %s, to start %s, to release %s; %s messages wait",
		bar(p.Released, p.Evicted), thousands(p.Evicted), perSecond(p.Evicted, before.Evicted),
		thousands(p.Released), perSecond(p.Released, before.Released), thousands(max(0, p.Evicted-p.Placed)),
		thousands(max(0, p.Placed-p.Healthy)), thousands(max(0, p.Healthy-p.Released)), thousands(int64(p.Backlog)))
}

// barWidth is how many characters a bar has.
const barWidth = 20

// bar draws a share; of nothing, or of what is not known, an empty one.
func bar(done, all int64) string {
	full := int64(0)
	if all > 0 {
		full = min(barWidth, done*barWidth/all)
	}
	return "[" + strings.Repeat("#", int(full)) + strings.Repeat("-", int(barWidth-full)) + "]"
}
