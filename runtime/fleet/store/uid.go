package store

import (
	"fmt"
	"hash/fnv"

	"k8s.io/apimachinery/pkg/types"

	"leeward/messages/api"
)

// UID returns the uid of an object that was given none: a version 8 UUID made of the store's seed and the
// object's key.
func (s *Store) UID(k api.Key) types.UID {
	h := fnv.New128a()
	fmt.Fprintf(h, "%s/%s/%s/%s/%d", k.APIVersion, k.Kind, k.Namespace, k.Name, s.seed)
	b := h.Sum(nil)
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:]))
}
