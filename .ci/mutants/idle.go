package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// idles is how long next to nothing of a check may run: then it waits for what a fault keeps from coming, and would for ever.
	idles = 8 * time.Second
	// looks is how often that is looked at.
	looks = 500 * time.Millisecond
	// ticking is how many ticks of a processor (hundredths of a second) a check may take meanwhile that only looks at a clock from
	// time to time. One that is kept from the processors does not wait.
	ticking = 5
)

// watch gives up a group of processes that waits for ever, however busy the machine is, until the context is done.
func watch(ctx context.Context, group int, giveUp func()) {
	since, before := time.Now(), int64(-1)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(looks):
		}
		if ticks, waits := progress(group); !waits || ticks > before+ticking {
			since, before = time.Now(), ticks
		} else {
			before = ticks
		}
		if time.Since(since) > idles {
			giveUp()
			return
		}
	}
}

// progress is how much processor time a group of processes has taken, and whether all of its threads wait. Where there is no
// /proc nothing is known to.
func progress(group int) (ticks int64, waits bool) {
	processes, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range processes {
		s, ok := readStat(path)
		if !ok || s.group != group {
			continue
		}
		waits, ticks = true, ticks+s.ticks
		threads, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "task", "*", "stat"))
		for _, path := range threads {
			if s, ok := readStat(path); ok && s.state != "S" && s.state != "Z" {
				return ticks, false
			}
		}
	}
	return ticks, waits
}

// stat is what the kernel says of a process, or a thread. Source: proc_pid_stat(5).
type stat struct {
	state string
	group int
	ticks int64
}

func readStat(path string) (s stat, ok bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return s, false // it has ended
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 13 {
		return s, false
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	s.state, s.ticks = fields[0], user+system
	s.group, err = strconv.Atoi(fields[2])
	return s, err == nil
}
