package storm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// Kill says which clusters fail: a number of them, a share, or a region.
type Kill struct {
	count   int
	percent float64
	region  string
}

// ParseKill reads "60", "30%" or "region=eu".
func ParseKill(text string) (Kill, error) {
	if region, ok := strings.CutPrefix(text, "region="); ok && region != "" {
		return Kill{region: region}, nil
	}
	if share, ok := strings.CutSuffix(text, "%"); ok {
		if p, err := strconv.ParseFloat(share, 64); err == nil && p > 0 && p <= 100 {
			return Kill{percent: p}, nil
		}
	} else if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return Kill{count: n}, nil
	}
	return Kill{}, fmt.Errorf("%q names no clusters: want how many (60), a share (30%%) or a region (region=region1)", text)
}

// String returns what ParseKill reads.
func (k Kill) String() string {
	switch {
	case k.region != "":
		return "region=" + k.region
	case k.percent > 0:
		return strconv.FormatFloat(k.percent, 'g', -1, 64) + "%"
	case k.count > 0:
		return strconv.Itoa(k.count)
	}
	return ""
}

// victims are the clusters that fail, in an order that follows from the seed.
func (k Kill) victims(clusters []*api.Cluster, seed uint64) ([]messages.ClusterName, error) {
	if k.region != "" {
		clusters = slices.DeleteFunc(slices.Clone(clusters), func(c *api.Cluster) bool { return c.Spec.Region != k.region })
		if len(clusters) == 0 {
			return nil, fmt.Errorf("no cluster is in region %q", k.region)
		}
	}
	n := k.of(len(clusters))
	if n > len(clusters) {
		return nil, fmt.Errorf("%d clusters are to fail, but there are %d", n, len(clusters))
	}
	names := make([]messages.ClusterName, len(clusters))
	for i, c := range clusters {
		names[i] = messages.ClusterName(c.Name)
	}
	rand.New(rand.NewPCG(seed, 2)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:n], nil
}

// of is how many of so many clusters fail; of a share, one at least.
func (k Kill) of(clusters int) int {
	switch {
	case k.region != "":
		return clusters
	case k.percent > 0:
		return max(1, int(float64(clusters)*k.percent/100))
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

// readiness is what the clusters of one moment report of their condition Ready.
type readiness struct {
	after    time.Duration // the first failure
	clusters []messages.ClusterName
	ready    metav1.ConditionStatus
}

// script is what happens to the victims, in the order of time.
func script(pattern string, victims []messages.ClusterName) []readiness {
	switch pattern {
	case Cascade:
		return cascade(victims)
	case Flapping:
		return flapping(victims)
	}
	return []readiness{{0, victims, metav1.ConditionFalse}}
}

func cascade(victims []messages.ClusterName) []readiness {
	var all []readiness
	size := (len(victims) + waves - 1) / waves
	for wave := range slices.Chunk(victims, size) {
		all = append(all, readiness{time.Duration(len(all)) * pause, wave, metav1.ConditionFalse})
	}
	return all
}

func flapping(victims []messages.ClusterName) []readiness {
	var all []readiness
	for range flaps {
		for _, ready := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionTrue} {
			all = append(all, readiness{time.Duration(len(all)) * pause, victims, ready})
		}
	}
	return all
}
