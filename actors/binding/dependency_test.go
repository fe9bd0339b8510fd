package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func bindingAt(b messages.BindingName) messages.Address {
	return messages.Address{Kind: messages.KindBinding, Name: string(b)}
}

var configAt = bindingAt("default/config-configmap")

func dependenciesStay(s *messages.Settings) { s.DependenciesStay = true }

func needed(clusters ...string) *messages.DependencyRequired {
	return &messages.DependencyRequired{By: name, Clusters: targets(clusters...)}
}

// depending returns a binding on m1 and m2 whose pods refer to a ConfigMap, under a policy with propagateDeps.
func depending(t *testing.T, s messages.Settings) *subject {
	t.Helper()
	policy := duplicated()
	policy.PropagateDeps = true
	b := drive(t, s)
	w := workload(2)
	w.Workload.Dependencies = []messages.BindingName{"default/config-configmap"}
	b.tell(w, claim("default/p", policy))
	b.tell(b.place("m1:2", "m2:2")).Told(configAt, needed("m1:2", "m2:2"))
	b.tell(report("m1", api.Healthy, 2, 1), report("m2", api.Healthy, 2, 2)).Told(configAt)
	return b
}

func TestKarmadaTakesDependenciesAwayFromTheOldCopy(t *testing.T) {
	b := depending(t, settings())
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1")).Told(configAt, needed("m2:2"))
	b.tell(b.place("m2:2", "m3:2")).Told(configAt, needed("m2:2", "m3:2"))
}

func TestDependenciesStayAsLongAsTheOldCopy(t *testing.T) {
	b := depending(t, settings(dependenciesStay))
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1")).Told(configAt, needed("m2:2", "m1:2"))
	b.tell(b.place("m2:2", "m3:2")).Told(configAt, needed("m2:2", "m3:2", "m1:2"))
	b.advance(time.Minute)
	b.tell(report("m3", api.Healthy, 2, 3)).Told(configAt, needed("m2:2", "m3:2"))
}

func TestDependenciesOfACopyThatIsPurgedGoWithIt(t *testing.T) {
	b := depending(t, settings(dependenciesStay, purgeDirectly))
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1")).Told(configAt, needed("m2:2"))
}

func TestADependencyThatComesLaterIsTold(t *testing.T) {
	b := depending(t, settings())
	b.tell(&messages.DependencyApplied{Dependency: "default/config-configmap"}).Told(configAt, needed("m1:2", "m2:2"))
	b.tell(&messages.DependencyApplied{Dependency: "default/other-secret"}).Told(bindingAt("default/other-secret"))
}

func TestAWorkloadThatEndsNeedsNothing(t *testing.T) {
	b := depending(t, settings())
	b.tell(&messages.WorkloadDeleted{}).Told(configAt, needed())
}

func TestAWorkloadThatNoLongerRefersNeedsNothing(t *testing.T) {
	b := depending(t, settings())
	w := workload(2)
	w.Workload.Dependencies = []messages.BindingName{"default/other-secret"}
	b.tell(w).Told(configAt, needed()).Told(bindingAt("default/other-secret"), needed("m1:2", "m2:2"))
}

func TestWhatAWorkloadSelectsChangesWithoutAnEdit(t *testing.T) {
	b := depending(t, settings())
	b.tell(&messages.DependenciesChanged{Dependencies: []messages.BindingName{"default/config-configmap", "default/a-secret", "default/b-secret"}}).
		Told(configAt).Told(bindingAt("default/a-secret"), needed("m1:2", "m2:2")).Told(bindingAt("default/b-secret"), needed("m1:2", "m2:2"))
	b.tell(&messages.DependenciesChanged{Dependencies: []messages.BindingName{"default/b-secret"}}).
		Told(configAt, needed()).Told(bindingAt("default/a-secret"), needed()).Told(bindingAt("default/b-secret"))
	before := drive(t, settings())
	before.tell(&messages.DependenciesChanged{Dependencies: []messages.BindingName{"default/other-secret"}}).Told(bindingAt("default/other-secret"))
}

func TestWithoutPropagateDepsNoDependencyIsTold(t *testing.T) {
	b := drive(t, settings())
	w := workload(2)
	w.Workload.Dependencies = []messages.BindingName{"default/config-configmap"}
	b.tell(w, claim("default/p", duplicated()))
	b.tell(b.place("m1:2")).Told(configAt)
}

func requiring(by messages.BindingName, clusters ...string) *messages.DependencyRequired {
	return &messages.DependencyRequired{By: by, Clusters: targets(clusters...)}
}

func requirement(by messages.BindingName, clusters ...string) *messages.RequirementChanged {
	return &messages.RequirementChanged{Binding: name, By: by, Clusters: targets(clusters...)}
}

func TestADependencyRunsWhereItIsNeeded(t *testing.T) {
	b := drive(t, settings())
	b.tell(workload(0)).Quiet()
	b.tell(requiring("default/api", "m1", "m2")).Told(memberAt("m1"), run(0, 1)).Told(memberAt("m2"), run(0, 2)).Told(scheduler)
	require.Equal(t, []string{"BindingCreated", "RequirementChanged"}, kinds(b.Network))
	b.tell(requiring("default/api", "m1", "m2")).Quiet()
	b.tell(requiring("default/db", "m2", "m3")).Recorded(requirement("default/db", "m2", "m3")).Told(memberAt("m3"), run(0, 3)).Told(memberAt("m2"))
	b.tell(requiring("default/api", "m1")).Told(memberAt("m2"))
	b.tell(requiring("default/api")).Recorded(requirement("default/api")).Told(memberAt("m1"), removal).Told(memberAt("m2"))
	b.tell(requiring("default/api")).Quiet()
}

func TestWhatAnotherWorkloadNeedsInTheSameInstantStays(t *testing.T) {
	actorstest.EveryWay(func(choose actorstest.Choose) {
		b := drive(t, settings())
		b.tell(workload(0), requiring("default/api", "m1"))
		news := actorstest.Interleave(choose, actorstest.Alone[messages.ToBinding](requiring("default/api"), requiring("default/db", "m1"))...)
		b.tell(news...).Recorded(requirement("default/db", "m1"), requirement("default/api")).Told(memberAt("m1"))
	})
}

func TestWhoNeedsItNoLongerBeforeItIsThereAttachesNothing(t *testing.T) {
	b := drive(t, settings())
	b.tell(requiring("default/api", "m1"))
	b.tell(requiring("default/api"), workload(0)).Quiet()
}

func TestADependencyThatIsNotThereYetIsAttachedWhenItComes(t *testing.T) {
	b := drive(t, settings())
	b.tell(requiring("default/api", "m1")).Quiet()
	b.tell(workload(0)).Told(memberAt("m1"), run(0, 1))
}

func TestADependencyWithAPolicyOfItsOwnRunsInBothPlaces(t *testing.T) {
	b := drive(t, settings())
	b.tell(workload(0), requiring("default/api", "m1"))
	b.tell(claim("default/p", duplicated()))
	b.tell(b.place("m2")).Told(memberAt("m2"), run(0, 2)).Told(memberAt("m1"))
	b.tell(requiring("default/api")).Told(memberAt("m1"), removal).Told(memberAt("m2"))
}

func TestARestartKeepsWhatIsNeeded(t *testing.T) {
	b := drive(t, settings())
	spec := &api.BindingSpec{RequiredBy: []api.BindingSnapshot{{Name: "cluster-wide", Clusters: targets("m2")}, {Namespace: "default", Name: "api", Clusters: targets("m1")}}}
	b.tell(&messages.BindingApplied{Spec: spec, Status: &api.BindingStatus{
		AggregatedStatus: []api.AggregatedStatusItem{{ClusterName: "m1", Health: api.Healthy}},
	}}).Told(memberAt("m1"), adopted(0, 1)).Told(memberAt("m2"), run(0, 2))
	b.tell(requiring("default/api", "m1"), requiring("cluster-wide", "m2")).Quiet()
}
