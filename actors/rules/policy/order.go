package policy

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"time"

	"leeward/messages"
)

// Birth is what orders a policy among others.
type Birth struct {
	Name    messages.PolicyName
	Created time.Time
}

// Order is the order in which policies act: by creation, in whole seconds as the API stores it, oldest
// first, so that the youngest has the last word.
type Order struct {
	// Tie orders policies of the same second: messages.TieByName, or messages.TieUndefined, which
	// differs from seed to seed as it differs from run to run in Karmada.
	Tie  string
	Seed uint64
}

// Compare returns less than zero where a acts before b. It is zero only for policies of one name and
// one second, hence total over the policies of a fleet.
func (o Order) Compare(a, b Birth) int {
	if c := cmp.Compare(a.Created.Unix(), b.Created.Unix()); c != 0 {
		return c
	}
	if o.Tie == messages.TieUndefined {
		if c := cmp.Compare(o.lot(a.Name), o.lot(b.Name)); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.Name, b.Name)
}

// lot draws a policy's number from the seed. The name goes in first: FNV spreads only what is followed
// by more.
func (o Order) lot(name messages.PolicyName) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	h.Write(binary.LittleEndian.AppendUint64(nil, o.Seed))
	return h.Sum64()
}
