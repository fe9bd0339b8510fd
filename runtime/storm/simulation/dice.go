package simulation

import (
	"fmt"
	"math/rand/v2"
	"time"

	"leeward/runtime/fleet/span"
)

// dice are where all chance of a case comes from.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 0x1ee3a4d))} }

// chance returns true so many times of a hundred.
func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

// between returns a number from least to most.
func (d dice) between(least, most int) int { return least + d.IntN(most-least+1) }

// pick returns one of several.
func pick[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// seconds returns a span between two.
func (d dice) seconds(least, most int) time.Duration {
	return time.Duration(d.between(least, most)) * time.Second
}

// duration returns a span as people set it: nothing, an instant, seconds, or minutes.
func (d dice) duration() string {
	return pick(d, "0s", "1s", "5s", "10s", "30s", "90s", "2m", "5m", "10m", "30m")
}

func text(t time.Duration) string { return span.String(t) }

func cluster(i int) string  { return fmt.Sprintf("m%d", i+1) }
func workload(i int) string { return fmt.Sprintf("w%d", i+1) }
