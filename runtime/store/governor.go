package store

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// GovernorKey is the key of the only Governor.
var GovernorKey = api.Key{APIVersion: api.LeewardGroupVersion, Kind: "Governor", Name: api.GovernorName}

// Governor returns how evictions are governed; zero where that was always as usual.
func (s *Store) Governor() api.GovernorStatus {
	if e := s.find(GovernorKey); e != nil {
		return e.object.(*api.Governor).Status
	}
	return api.GovernorStatus{}
}

// governor returns a copy of the Governor, new if there is none. Its lists are not to be changed in place.
func (s *Store) governor() *api.Governor {
	if e := s.find(GovernorKey); e != nil {
		next := *e.object.(*api.Governor)
		return &next
	}
	return &api.Governor{
		TypeMeta:   metav1.TypeMeta{APIVersion: GovernorKey.APIVersion, Kind: GovernorKey.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: GovernorKey.Name, UID: s.UID(GovernorKey)},
	}
}

// governorChanged shows how a place is governed now. The Governor comes with the first change.
func (s *Store) governorChanged(at time.Time, f *messages.GovernorChanged) {
	next := s.governor()
	now := api.Governance{
		State: f.State, Message: f.Message, EvictionsPerSecond: f.EvictionsPerSecond,
		Since: metav1.MicroTime{Time: at}, Until: microTime(f.Until),
	}
	if f.Region == "" {
		next.Status.Governance = now
	} else {
		next.Status.Regions = withRegion(next.Status.Regions, api.RegionGovernance{Name: f.Region, Governance: now})
	}
	s.Put(next)
}

// withRegion returns a list, in order of names, with a region in its place.
func withRegion(list []api.RegionGovernance, r api.RegionGovernance) []api.RegionGovernance {
	i, found := slices.BinarySearchFunc(list, r.Name, func(o api.RegionGovernance, name string) int { return strings.Compare(o.Name, name) })
	list = slices.Clone(list)
	if found {
		list[i] = r
		return list
	}
	return slices.Insert(list, i, r)
}
