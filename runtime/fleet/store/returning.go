package store

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
)

// returnAt notes when the resource returns to an earlier affinity group; zero: it does not.
func (b *Binding) returnAt(at time.Time) (changed bool) {
	changed = !instant(b.Status.ReturnAt).Equal(at)
	b.Status.ReturnAt = microTime(at)
	return changed
}

// failbackTargetsChanged notes what the resource's home is.
func (b *Binding) failbackTargetsChanged(f *messages.FailbackTargetsChanged) bool {
	had := len(b.Status.Home)
	b.Status.Home = nil
	for _, c := range f.Clusters {
		b.Status.Home = append(b.Status.Home, api.PreferredShare{TargetCluster: c})
	}
	return had+len(f.Clusters) > 0
}

// shareReturnsAt notes when a cluster has back what it ran before the eviction; zero: it does not.
func (b *Binding) shareReturnsAt(c messages.ClusterName, at time.Time) bool {
	i := slices.IndexFunc(b.Status.Home, func(h api.PreferredShare) bool { return h.Name == string(c) })
	if i < 0 || instant(b.Status.Home[i].ReturnAt).Equal(at) {
		return false
	}
	b.Status.Home = slices.Clone(b.Status.Home)
	b.Status.Home[i].ReturnAt = microTime(at)
	return true
}

// originalKept notes whether a cluster of home runs its old copy.
func (b *Binding) originalKept(c messages.ClusterName, kept bool) bool {
	i := slices.IndexFunc(b.Status.Home, func(h api.PreferredShare) bool { return h.Name == string(c) })
	if i < 0 || b.Status.Home[i].Kept == kept {
		return false
	}
	b.Status.Home = slices.Clone(b.Status.Home)
	b.Status.Home[i].Kept = kept
	return true
}

// failbackStarted ends the waits of what returns.
func (b *Binding) failbackStarted(f *messages.FailbackStarted) bool {
	changed := b.returnAt(time.Time{})
	for _, c := range f.Clusters {
		changed = b.shareReturnsAt(messages.ClusterName(c.Name), time.Time{}) || changed
		changed = b.originalKept(messages.ClusterName(c.Name), false) || changed
	}
	return changed
}

func (b *Binding) scaleDownEnded() (changed bool) {
	changed = b.Status.Shrinking != nil
	b.Status.Shrinking = nil
	return changed
}

// placements turns placements into the JSON of their annotation and back. Bindings of one policy
// share one placement, so each is written, and each text read, once for all of them.
type placements struct {
	texts  map[*api.Placement]string
	parsed map[string]*api.Placement
}

// maxPlacements bounds what is remembered of policies long edited.
const maxPlacements = 4096

func (p placements) text(placement *api.Placement) string {
	text, known := p.texts[placement]
	if !known {
		text = string(marshal(placement))
		remember(p.texts, placement, text)
	}
	return text
}

// parse returns nil for a text that is no placement: Karmada, too, then knows of none.
func (p placements) parse(text string) *api.Placement {
	placement, known := p.parsed[text]
	if !known {
		if json.Unmarshal([]byte(text), &placement) != nil {
			placement = nil
		}
		remember(p.parsed, text, placement)
	}
	return placement
}

// seed has texts that read like the placement of a policy be read as that: what is the same is one, and compared immediately.
func (p placements) seed(placement *api.Placement) { remember(p.parsed, p.text(placement), placement) }

// Placement returns the placement that a policy or other bindings have, where one of those reads like it.
func (s *Store) Placement(placement *api.Placement) *api.Placement {
	if placement == nil {
		return nil
	}
	return cmp.Or(s.placements.parsed[s.placements.text(placement)], placement)
}

func remember[K comparable, V any](m map[K]V, key K, value V) {
	if len(m) >= maxPlacements {
		clear(m)
	}
	m[key] = value
}
