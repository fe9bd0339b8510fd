package expect

import (
	"slices"
	"strings"

	"leeward/messages/api"
	"leeward/messages/lists"
)

// AnyOf are outcomes of one object, at least one of which is expected.
type AnyOf []State

func (AnyOf) subject() {}

// String returns the outcomes with "or" between them.
func (a AnyOf) String() string {
	return strings.Join(lists.Of(a, func(of State) string { return of.String() }), ", or ")
}

// ObjectKey names the object of all.
func (a AnyOf) ObjectKey() api.Key { return a[0].ObjectKey() }

func (a AnyOf) judge(o *objects) (bool, string) {
	var all []string
	for i := range a {
		holds, seen := a[i].judge(o)
		if holds {
			return true, seen
		}
		if !slices.Contains(all, seen) {
			all = append(all, seen)
		}
	}
	return false, strings.Join(all, ", and ")
}
