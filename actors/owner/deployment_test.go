package owner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/actors/owner"
	"leeward/messages"
)

func percent(surge, unavailable intstr.IntOrString) func(*messages.OwnerSpec) {
	return func(s *messages.OwnerSpec) { s.MaxSurge, s.MaxUnavailable = surge, unavailable }
}

var (
	quarter = intstr.FromString("25%")
	none    = intstr.FromInt32(0)
)

func image(name string) func(*messages.OwnerSpec) {
	return func(s *messages.OwnerSpec) { s.Template.Spec.Containers[0].Image = name }
}

// Source: the tables of ResolveFenceposts and of the deployment controller of Kubernetes.
func TestARolloutKeepsBetweenItsFences(t *testing.T) {
	for _, c := range []struct {
		replicas                 int32
		maxSurge, maxUnavailable intstr.IntOrString
		surge, unavailable       int
	}{
		{4, quarter, quarter, 1, 1},
		{10, quarter, quarter, 3, 2},
		{1, quarter, quarter, 1, 0},
		{3, intstr.FromString("10%"), intstr.FromString("10%"), 1, 0},
		{3, none, intstr.FromString("10%"), 0, 1}, // both would be zero
		{5, intstr.FromInt32(2), none, 2, 0},
		{0, quarter, quarter, 0, 1},
	} {
		surge, unavailable := owner.Rolling(pods(c.replicas, percent(c.maxSurge, c.maxUnavailable)))
		require.Equal(t, []int{c.surge, c.unavailable}, []int{surge, unavailable}, "%+v", c)
	}
}

// prefixes are the ReplicaSets of the pods that the last step created, and of those that it deleted, once each.
func (d *driver) prefixes() (created, deleted map[string]int) {
	d.t.Helper()
	created, deleted = map[string]int{}, map[string]int{}
	of := func(pod messages.PodName) string {
		_, local := pod.Split()
		return local[:strings.LastIndexByte(local, '-')]
	}
	for _, m := range d.requests() {
		switch m := m.(type) {
		case *messages.CreatePod:
			created[of(m.Pod)]++
			d.uids[m.Pod] = &messages.OwnedPodViewed{Pod: m.Pod, UID: m.UID, Phase: corev1.PodPending}
		case *messages.DeletePod:
			deleted[of(m.Pod)]++
		}
	}
	return created, deleted
}

func TestATemplateThatComesBackTakesItsPodsAgain(t *testing.T) {
	spec := func(name string) *messages.OwnerSpec { return pods(4, percent(quarter, quarter), image(name)) }
	d := drive(t, "Deployment", spec("one"))
	first := d.names()
	require.Len(t, first, 4)
	for _, pod := range first {
		d.becomes(pod, ready(0))
	}
	prefix := first[0][:strings.LastIndexByte(first[0], '-')]
	created, deleted := d.apply(spec("two")).prefixes()
	require.Len(t, created, 1)
	require.Equal(t, map[string]int{prefix: 1}, deleted)
	require.NotContains(t, created, prefix)
	created, deleted = d.apply(spec("one")).prefixes()
	require.Equal(t, map[string]int{prefix: 1}, created)
	require.Len(t, deleted, 1)
	require.NotContains(t, deleted, prefix)
}

// After a restart an owner finds its pods by their names: those of its template, and others, which are rolled out.
func TestFoundPodsOfAnOlderTemplateAreRolledOut(t *testing.T) {
	spec := pods(2, percent(none, intstr.FromInt32(1)))
	d := drive(t, "Deployment", spec)
	names := d.names()
	prefix := names[0][:strings.LastIndexByte(names[0], '-')]
	found := func(name string) *messages.OwnedPodViewed {
		return &messages.OwnedPodViewed{Pod: messages.PodName("default/" + name), UID: types.UID(name), Phase: corev1.PodRunning, ReadySince: time.Unix(1, 0)}
	}
	d = drive(t, "Deployment", spec, found(prefix+"-aaaaa"), found("web-old-bbbbb"))
	created, deleted := d.prefixes()
	require.Equal(t, map[string]int{"web-old": 1}, deleted)
	require.Empty(t, created, "one more is created once it is gone from the count")
	d = drive(t, "Deployment", spec, found("web-other-aaaaa"), found("web-other-bbbbb"))
	created, deleted = d.prefixes()
	require.Empty(t, created, "as in a dump of a cluster, whose hashes are others")
	require.Empty(t, deleted)
}

// While a rolling update has not come to a pod, it comes back of the older template; one that the update deleted comes back of the newer.
func TestAStatefulSetRollsFromItsLastPodDown(t *testing.T) {
	rolls := func(s *messages.OwnerSpec) { s.Rolls = true }
	d := drive(t, "StatefulSet", pods(2, rolls, image("one")))
	for _, pod := range []string{"web-0", "web-1"} {
		require.Equal(t, []string{pod}, d.names())
		d.becomes(pod, ready(0))
	}
	d.apply(pods(2, rolls, image("two")))
	require.Equal(t, []string{"web-1"}, d.deleted("its template was replaced"))
	d.becomes("web-1", terminating)
	d.gone("web-1")
	created := d.created()
	require.Len(t, created, 1)
	require.Equal(t, "two", created[0].Spec.Containers[0].Image)
	d.gone("web-0")
	created = d.created()
	require.Len(t, created, 1)
	require.Equal(t, "two", created[0].Spec.Containers[0].Image, "no pod after it is of the older template")

	d = drive(t, "StatefulSet", pods(2, image("one")))
	require.Equal(t, []string{"web-0"}, d.names())
	d.becomes("web-0", ready(0))
	require.Equal(t, []string{"web-1"}, d.names())
	d.becomes("web-1", ready(0)).apply(pods(2, image("two")))
	require.Empty(t, d.requests(), "OnDelete")
}

// A Deployment of a dumped cluster goes on with the ReplicaSet that it has there, also where that comes after it; a newer template has its own.
func TestADeploymentGoesOnWithItsReplicaSet(t *testing.T) {
	hashed := func(name string) *messages.OwnerSpec {
		return pods(2, percent(quarter, quarter), image(name), func(s *messages.OwnerSpec) { s.Hash = "dumped" })
	}
	own := pods(2, percent(quarter, quarter), image("one"))
	d := drive(t, "Deployment", hashed("one"), &messages.OwnerApplied{Spec: own})
	created := d.created()
	require.Len(t, created, 2)
	require.Equal(t, "web-dumped", created[0].Controller.Name)
	require.Equal(t, map[string]string{"app": "web", "pod-template-hash": "dumped"}, created[0].Labels)
	require.Equal(t, created[0].Labels, created[0].Peers.MatchLabels)

	require.Empty(t, d.apply(own).requests(), "it does not lose it again")
	more, _ := d.apply(pods(2, percent(quarter, quarter), image("two"))).prefixes()
	require.Len(t, more, 1)
	require.NotContains(t, more, "web-dumped")
	d = drive(t, "Deployment", own)
	require.Len(t, d.names(), 2)
	require.Empty(t, d.apply(hashed("one")).requests(), "what runs is not replaced for a ReplicaSet that is heard of late")
}

// A Deployment that is scaled during a rollout scales both templates in proportion. Source: the example of Kubernetes' page on Deployments: 10 replicas with
// maxSurge 3 and maxUnavailable 2 in the middle of a rollout, of 8 old and 5 new pods, become 15.
func TestARolloutIsScaledInProportion(t *testing.T) {
	of := func(replicas int32, name string, edits ...func(*messages.OwnerSpec)) *messages.OwnerSpec {
		return pods(replicas, append([]func(*messages.OwnerSpec){percent(intstr.FromInt32(3), intstr.FromInt32(2)), image(name)}, edits...)...)
	}
	rollout := func() (d *driver, older string) {
		d = drive(t, "Deployment", of(10, "one"))
		names := d.names()
		for _, pod := range names {
			d.becomes(pod, ready(0))
		}
		older = names[0][:strings.LastIndexByte(names[0], '-')]
		created, deleted := d.apply(of(10, "bad")).prefixes()
		require.Equal(t, map[string]int{older: 2}, deleted)
		require.Equal(t, 3, sum(created), "the surge")
		created, _ = d.apply(of(10, "bad")).prefixes()
		require.Equal(t, 2, sum(created), "what may be unavailable")
		return d, older
	}
	d, older := rollout()
	created, deleted := d.apply(of(15, "bad")).prefixes()
	require.Empty(t, deleted)
	require.Equal(t, 3, created[older], "8 become 11")
	require.Equal(t, 2, sum(created)-created[older], "and 5 become 7")
	created, deleted = d.apply(of(5, "bad")).prefixes()
	require.Empty(t, created)
	require.Equal(t, 12, sum(deleted), "18 become 8, and the rollout goes on by 2")
	d, older = rollout()
	_, deleted = d.apply(of(0, "bad")).prefixes()
	require.Equal(t, 8, deleted[older])
	require.Equal(t, 13, sum(deleted))

	paused := func(s *messages.OwnerSpec) { s.Paused = true }
	d = drive(t, "Deployment", of(2, "one"))
	d.names()
	d.apply(of(2, "two", paused)).Quiet()
	require.Len(t, d.apply(of(4, "two", paused)).names(), 2, "of the older template, which alone has pods")
}

func sum(numbers map[string]int) (all int) {
	for _, n := range numbers {
		all += n
	}
	return all
}
