package placement

import (
	"slices"
)

// key is a candidate in one number, so that the best come first in ascending order: by tier, then
// those that have the resource already, then those that are least to be avoided, then those with most
// capacity, then by name.
type key uint64

const (
	slotBits  = 20
	holdsBits = 33
	avoidBits = 3
	tierBits  = 7

	maxTiers  = 1 << tierBits
	maxAvoid  = 1<<avoidBits - 1
	fullHolds = 1<<holdsBits - 1
	firstHas  = 1 << (slotBits + holdsBits + avoidBits)
)

// maxClusters is what fits into a key.
const maxClusters = 1 << slotBits

// keyOf packs a candidate. Its capacity, at most fullRoom, includes the replicas that it has.
func keyOf(tier uint16, has bool, avoid uint8, holds int64, slot int32) key {
	k := key(tier)<<1 | 1
	if has {
		k--
	}
	return ((k<<avoidBits|key(avoid))<<holdsBits|key(fullHolds-holds))<<slotBits | key(slot)
}

func (k key) slot() int32 { return int32(k & (maxClusters - 1)) }

func (k key) holds() int64 { return fullHolds - int64(k>>slotBits&fullHolds) }

// score is what Karmada's scheduler gives a cluster: 100 to those that have the resource.
func (k key) score() int64 {
	if k&firstHas == 0 {
		return 100
	}
	return 0
}

// exchange swaps, from the last chosen key backwards, each for the key of most capacity among the rest, if
// that has more, until there is enough. It reports whether there is. Where that cannot be expected,
// clusters that have the resource stay.
func exchange(keys []key, chosen int, replicas int64, stay bool) bool {
	total := int64(0)
	for _, k := range keys[:chosen] {
		total += k.holds()
	}
	if total >= replicas {
		return true
	}
	rest := holdingMore(keys[chosen:], keys[:chosen])
	slices.Sort(rest)
	for i := chosen - 1; i >= 0 && total < replicas; i-- {
		if stay && keys[i].score() > 0 {
			continue
		}
		most := -1
		for j := range rest {
			if rest[j].holds() > keys[i].holds() && (most < 0 || rest[j].holds() > rest[most].holds()) {
				most = j
			}
		}
		if most >= 0 {
			total += rest[most].holds() - keys[i].holds()
			keys[i], rest[most] = rest[most], keys[i]
		}
	}
	return total >= replicas
}

// holdingMore moves the keys that have more capacity than some chosen one to the front, and returns them. Most often
// there are few, as capacity decides between equals.
func holdingMore(keys, chosen []key) []key {
	least := chosen[0].holds()
	for _, k := range chosen {
		least = min(least, k.holds())
	}
	n := 0
	for i, k := range keys {
		if k.holds() > least {
			keys[i], keys[n] = keys[n], k
			n++
		}
	}
	return keys[:n]
}

// best moves the n lowest keys to the front, in order.
func best(keys []key, n int) {
	if n < len(keys) {
		top := keys[:n]
		for i := n/2 - 1; i >= 0; i-- {
			sink(top, i)
		}
		for i := n; i < len(keys); i++ {
			if keys[i] < top[0] {
				keys[i], top[0] = top[0], keys[i]
				sink(top, 0)
			}
		}
	}
	slices.Sort(keys[:n])
}

// sink moves key i down a heap that has its highest key at the root.
func sink(h []key, i int) {
	moved := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1] > h[child] {
			child++
		}
		if h[child] <= moved {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = moved
}
