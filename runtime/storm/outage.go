package storm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"leeward/messages/lists"
)

// Kill says which clusters, or nodes, fail: a number of them, a share, a region, or a zone.
type Kill struct {
	count        int
	percent      float64
	region, zone string
}

// ParseKill reads "60", "30%", "region=eu" or "zone=a".
func ParseKill(text string) (Kill, error) {
	if region, ok := strings.CutPrefix(text, "region="); ok && region != "" {
		return Kill{region: region}, nil
	}
	if zone, ok := strings.CutPrefix(text, "zone="); ok && zone != "" {
		return Kill{zone: zone}, nil
	}
	if share, ok := strings.CutSuffix(text, "%"); ok {
		if p, err := strconv.ParseFloat(share, 64); err == nil && p > 0 && p <= 100 {
			return Kill{percent: p}, nil
		}
	} else if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return Kill{count: n}, nil
	}
	return Kill{}, fmt.Errorf("%q names no clusters and no nodes: want how many (60), a share (30%%), a region (region=region1) or a zone (zone=a)", text)
}

// String returns what ParseKill reads.
func (k Kill) String() string {
	switch {
	case k.region != "":
		return "region=" + k.region
	case k.zone != "":
		return "zone=" + k.zone
	case k.percent > 0:
		return strconv.FormatFloat(k.percent, 'g', -1, 64) + "%"
	case k.count > 0:
		return strconv.Itoa(k.count)
	}
	return ""
}

// place is where a cluster or a node is.
type place struct{ name, region, zone string }

// victims are the clusters or nodes that fail, in an order that follows from the seed. What says what they are, in the singular.
func (k Kill) victims(of []place, what string, seed uint64) ([]string, error) {
	in := slices.DeleteFunc(slices.Clone(of), func(p place) bool {
		return k.region != "" && p.region != k.region || k.zone != "" && p.zone != k.zone
	})
	n := k.of(len(in))
	switch {
	case len(in) == 0 && k.region != "":
		return nil, fmt.Errorf("no %s is in region %q", what, k.region)
	case len(in) == 0 && k.zone != "":
		return nil, fmt.Errorf("no %s is in zone %q", what, k.zone)
	case n > len(in):
		return nil, fmt.Errorf("%d %ss are to fail, but there are %d", n, what, len(in))
	}
	names := lists.Of(in, func(of place) string { return of.name })
	rand.New(rand.NewPCG(seed, 2)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:n], nil
}

// of is how many of so many fail; of a share, one at least.
func (k Kill) of(all int) int {
	switch {
	case k.region != "" || k.zone != "":
		return all
	case k.percent > 0:
		return max(1, int(float64(all)*k.percent/100))
	}
	return k.count
}

// The patterns in which clusters fail.
const (
	// Burst has all fail in one instant.
	Burst = "burst"
	// Cascade has them fail in ten waves, a minute apart.
	Cascade = "cascade"
	// Flapping has all fail for a minute and be back for a minute, five times.
	Flapping = "flapping"
)

// Patterns are all of them.
func Patterns() []string { return []string{Burst, Cascade, Flapping} }

const (
	waves = 10
	flaps = 5
	pause = time.Minute
)

// readiness is what clusters, or nodes, are from a moment on.
type readiness struct {
	after time.Duration // the first failure
	of    []string
	ready bool
}

// script is what happens to the victims, in the order of time.
func script(pattern string, victims []string) []readiness {
	switch pattern {
	case Cascade:
		return cascade(victims)
	case Flapping:
		return flapping(victims)
	}
	return []readiness{{0, victims, false}}
}

func cascade(victims []string) []readiness {
	var all []readiness
	size := (len(victims) + waves - 1) / waves
	for wave := range slices.Chunk(victims, size) {
		all = append(all, readiness{time.Duration(len(all)) * pause, wave, false})
	}
	return all
}

func flapping(victims []string) []readiness {
	var all []readiness
	for range flaps {
		for _, ready := range []bool{false, true} {
			all = append(all, readiness{time.Duration(len(all)) * pause, victims, ready})
		}
	}
	return all
}
