package store

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"leeward/actors/rules/storm"
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
		return new(*e.object.(*api.Governor))
	}
	return &api.Governor{
		TypeMeta:   metav1.TypeMeta{APIVersion: GovernorKey.APIVersion, Kind: GovernorKey.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: GovernorKey.Name, UID: s.UID(GovernorKey)},
	}
}

// decide puts the Governor that a fact makes of it.
func (s *Store) decide(g *api.Governor) {
	s.Put(g)
	s.find(GovernorKey).settled--
}

// putGovernor shows another status. The Governor comes with the first.
func (s *Store) putGovernor(status *api.GovernorStatus) {
	next := s.governor()
	next.Status = *status
	s.decide(next)
}

// RunsWith shows what an engine runs with.
func (s *Store) RunsWith(at time.Time, profile string, settings []string) {
	next := s.governor()
	if next.Status.Profile == profile && slices.Equal(next.Status.Settings, settings) {
		return
	}
	if next.CreationTimestamp.IsZero() {
		next.CreationTimestamp = metav1.Time{Time: at.Truncate(time.Second)}
	}
	next.Status.Profile, next.Status.Settings = profile, settings
	s.decide(next)
}

// mostQuarantined is how many machines in quarantine the Governor names; all are counted.
const mostQuarantined = 100

// SetQuarantined shows which machines an engine does not run. The Governor comes with the first.
func (s *Store) SetQuarantined(at time.Time, all []api.QuarantinedMachine) {
	all = slices.SortedFunc(slices.Values(all), func(a, b api.QuarantinedMachine) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	next := s.governor()
	if len(all) == 0 && next.Status.QuarantinedCount == 0 {
		return
	}
	if next.CreationTimestamp.IsZero() {
		next.CreationTimestamp = metav1.Time{Time: at.Truncate(time.Second)}
	}
	next.Status.Quarantined, next.Status.QuarantinedCount = all[:min(len(all), mostQuarantined)], int32(len(all))
	s.decide(next)
}

// governorChanged shows how a place is governed now. Its breaker is as it was.
func (s *Store) governorChanged(at time.Time, f *messages.GovernorChanged) {
	s.govern(f.Region, nil, func(g *api.Governance) {
		*g = api.Governance{
			State: f.State, Message: f.Message, EvictionsPerSecond: f.EvictionsPerSecond,
			Since: metav1.MicroTime{Time: at}, Until: microTime(f.Until), Breaker: g.Breaker,
		}
	})
}

// breakerChanged shows the breaker of a place as it is now. One that closes begins to count again, and every state
// has trials of its own.
func (s *Store) breakerChanged(at time.Time, f *messages.BreakerChanged) {
	s.govern(f.Region, f.Priority, func(g *api.Governance) {
		g.Breaker = &api.BreakerStatus{
			State: f.State, Message: f.Message, Moved: f.Moved, Copies: f.Copies,
			Since: metav1.MicroTime{Time: at}, Until: microTime(f.Until),
		}
	})
	status := s.Governor()
	i, known := findCount(status.Permits, &api.PermitCount{Region: f.Region, Priority: f.Priority})
	if !known {
		return
	}
	status.Permits = slices.Clone(status.Permits)
	status.Permits[i].Trials = nil
	if f.State == string(storm.Closed) {
		status.Permits[i].Moved = nil
	}
	s.putGovernor(&status)
}

// govern changes how a region, a priority or, with neither, the fleet is governed.
func (s *Store) govern(region string, priority *int32, change func(*api.Governance)) {
	status := s.Governor()
	switch {
	case region != "":
		var i int
		status.Regions, i = withPlace(status.Regions, api.RegionGovernance{Name: region}, func(a, b *api.RegionGovernance) int {
			return strings.Compare(a.Name, b.Name)
		})
		change(&status.Regions[i].Governance)
	case priority != nil:
		var i int
		status.Priorities, i = withPlace(status.Priorities, api.PriorityGovernance{Priority: *priority}, func(a, b *api.PriorityGovernance) int {
			return cmp.Compare(a.Priority, b.Priority)
		})
		change(&status.Priorities[i].Governance)
	default:
		change(&status.Governance)
	}
	s.putGovernor(&status)
}

// withPlace returns a copy of a list, in order, that has a place, and where.
func withPlace[T any](list []T, place T, compare func(a, b *T) int) ([]T, int) {
	i, found := slices.BinarySearchFunc(list, place, func(a, b T) int { return compare(&a, &b) })
	if found {
		return slices.Clone(list), i
	}
	return slices.Insert(slices.Clone(list), i, place), i
}

// evictionsPermitted remembers what counts for rates and breakers, and forgets what is paid for.
func (s *Store) evictionsPermitted(at time.Time, f *messages.EvictionsPermitted) {
	status := s.Governor()
	permits := make([]api.PermitCount, 0, len(status.Permits)+len(f.Counts))
	for _, c := range status.Permits {
		if _, newer := findCount(f.Counts, &c); !newer && (c.Moved != nil || c.Trials != nil || c.PaidUntil != nil && c.PaidUntil.After(at)) {
			permits = append(permits, c)
		}
	}
	status.Permits = append(permits, f.Counts...)
	slices.SortFunc(status.Permits, func(a, b api.PermitCount) int { return byPlace(&a, &b) })
	s.putGovernor(&status)
}

// startsCounted shows how starts fare on a cluster, or nothing where none failed of late.
func (s *Store) startsCounted(f *messages.StartsCounted) {
	status := s.Governor()
	by := func(a, b *api.StartBackoff) int { return strings.Compare(a.Cluster, b.Cluster) }
	var i int
	status.Starts, i = withPlace(status.Starts, api.StartBackoff{Cluster: f.Cluster}, by)
	if status.Starts[i] = f.StartBackoff; f.Level == 0 && len(f.Failed) == 0 {
		status.Starts = slices.Delete(status.Starts, i, i+1)
	}
	s.putGovernor(&status)
}

// findCount returns where a list in the order of byPlace has a place, and whether it has.
func findCount(list []api.PermitCount, c *api.PermitCount) (int, bool) {
	return slices.BinarySearchFunc(list, c, func(a api.PermitCount, b *api.PermitCount) int { return byPlace(&a, b) })
}

// byPlace puts the fleet first, then regions, clusters and priorities.
func byPlace(a, b *api.PermitCount) int {
	return cmp.Or(cmp.Compare(width(a), width(b)), strings.Compare(a.Region, b.Region), strings.Compare(a.Cluster, b.Cluster), cmp.Compare(ptr.Deref(a.Priority, 0), ptr.Deref(b.Priority, 0)))
}

func width(c *api.PermitCount) int {
	switch {
	case c.Priority != nil:
		return 3
	case c.Cluster != "":
		return 2
	case c.Region != "":
		return 1
	default:
		return 0
	}
}

// BudgetKey returns the key of a budget: an EvictionBudget if its name has a namespace, otherwise a
// ClusterEvictionBudget.
func BudgetKey(name messages.BudgetName) api.Key {
	namespace, local := name.Split()
	if namespace == "" {
		return api.Key{APIVersion: api.LeewardGroupVersion, Kind: "ClusterEvictionBudget", Name: local}
	}
	return api.Key{APIVersion: api.LeewardGroupVersion, Kind: "EvictionBudget", Namespace: namespace, Name: local}
}

// Budgets returns all budgets, in the order of their names.
func (s *Store) Budgets() []messages.Budget {
	var all []messages.Budget
	for _, e := range s.kinds["EvictionBudget"] {
		o := e.object.(*api.EvictionBudget)
		all = append(all, budgetOf(o.Namespace+"/"+o.Name, &o.Spec, &o.Status))
	}
	for _, e := range s.kinds["ClusterEvictionBudget"] {
		o := e.object.(*api.ClusterEvictionBudget)
		all = append(all, budgetOf(o.Name, &o.Spec, &o.Status))
	}
	slices.SortFunc(all, func(x, y messages.Budget) int { return cmp.Compare(x.Name, y.Name) })
	return all
}

func budgetOf(name string, spec *api.EvictionBudgetSpec, status *api.EvictionBudgetStatus) messages.Budget {
	return messages.Budget{Name: messages.BudgetName(name), Spec: spec, Moved: status.Moved}
}

// budgetChanged shows the state of a budget. A budget that is gone shows nothing.
func (s *Store) budgetChanged(f *messages.BudgetChanged) {
	e := s.find(BudgetKey(f.Budget))
	if e == nil {
		return
	}
	switch o := e.object.(type) {
	case *api.EvictionBudget:
		o.Status = f.Status
	case *api.ClusterEvictionBudget:
		o.Status = f.Status
	}
	s.touch(e)
}
