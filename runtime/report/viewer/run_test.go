package viewer

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario/replay"
)

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

// find returns the place of the first fact of a kind.
func find(t *testing.T, r *Run, kind string) int {
	t.Helper()
	for i, k := range words(r, r.Facts.Kind) {
		if k == kind {
			return i
		}
	}
	t.Fatalf("there is no %s", kind)
	return -1
}

// because are the parts of a fact's reason, "taint down:NoExecute".
func because(r *Run, fact int) (parts []string) {
	if i := r.Facts.Reason[fact]; i >= 0 {
		for _, p := range r.Reasons[i] {
			parts = append(parts, r.Strings[p[0]]+" "+r.Strings[p[1]])
		}
	}
	return parts
}

func TestAReasonHasItsPartsApart(t *testing.T) {
	r := Of(outage())
	eviction := []string{"taint down:NoExecute", "policy p", "condition Ready=False", "toleration down:* for 60s", "deadline 00:06:00"}
	for kind, want := range map[string][]string{
		"TaintAdded":         {"taint down:NoExecute", "policy p", "condition Ready=False"},
		"EvictionScheduled":  eviction,
		"EvictionStarted":    eviction,
		"EvictionsPermitted": {"permit d/web from m1"},
		"ScheduleFailed":     {"reason NoClusterFit", "unschedulable 2", "rejected: untolerated taint m1"},
		"ConditionChanged":   {"condition Ready=False"},
		"EvictionEnded":      {"reason healthy"},
		"Restarted":          nil,
	} {
		require.Equal(t, want, because(r, find(t, r, kind)), kind)
	}
	first := find(t, r, "Scheduled")
	require.Equal(t, []string{"trigger first placement", "placement m2: 2"}, because(r, first))
	require.Equal(t, "scheduled m2:2", r.Strings[r.Facts.Text[first]], "without the workload, which is told apart")
	require.Equal(t, "d/quiet", r.Workloads[r.Facts.Workload[first]].Name)
	require.Equal(t, -1, r.Facts.Cluster[first])
}

func TestALongReasonIsCutAndSaysSo(t *testing.T) {
	var many []messages.ClusterName
	var permits []messages.Permit
	var rejections []messages.Rejection
	for i := range 57 {
		many = append(many, messages.ClusterName(fmt.Sprintf("m%d", i)))
		permits = append(permits, messages.Permit{Binding: "d/web", Cluster: many[i]})
		rejections = append(rejections, messages.Rejection{Reason: fmt.Sprint(i), Clusters: many[:1]})
	}
	r := Of(ran(
		happening{0, &messages.ScheduleFailed{Binding: "d/web", Rejections: []messages.Rejection{{Reason: "full", Clusters: many}}}},
		happening{0, &messages.EvictionsPermitted{Permits: permits}},
		happening{0, &messages.EvictionBlocked{Binding: "d/web", Cluster: "m1", Reason: "NoClusterFit", Rejections: rejections, Until: start.Add(time.Minute)}},
	))
	require.Contains(t, because(r, 0)[0], "m49, 7 more")
	require.Len(t, because(r, 1), 51)
	require.Equal(t, "permit 7 more", because(r, 1)[50])
	blocked := because(r, 2)
	require.Equal(t, []string{"blocked by NoClusterFit", "checked again 00:01:00"}, blocked[:2])
	require.Equal(t, "rejected 7 more", blocked[len(blocked)-1])
}

func TestBarsNameTheirFacts(t *testing.T) {
	r := Of(outage())
	web := r.Workloads[1]
	require.Equal(t, "d/web", web.Name)
	require.Equal(t, "m1", r.Clusters[web.On[0].Cluster].Name)
	eviction := web.On[0].Tracks[1]
	require.Equal(t, "eviction", r.Strings[eviction.Name])
	countdown, evicting := eviction.Bars[0], eviction.Bars[1]
	require.Equal(t, []any{"countdown", 300_000, 360_000}, []any{r.Kinds[countdown[0]], countdown[1], countdown[2]})
	require.Equal(t, []any{"evicting", 360_000, 480_000}, []any{r.Kinds[evicting[0]], evicting[1], evicting[2]})
	require.Equal(t, "EvictionScheduled", r.Strings[r.Facts.Kind[countdown[4]]])
	require.Equal(t, "EvictionEnded", r.Strings[r.Facts.Kind[evicting[5]]])
	placed := web.On[1].Tracks[0].Bars[0]
	require.Equal(t, -1, placed[2], "it lasts")
}

func TestReplicasAreFollowed(t *testing.T) {
	r := Of(outage()).Replicas
	require.Equal(t, []int{0, 1000, 360_000, 420_000, 480_000}, r.At)
	require.Equal(t, []int{4, 4, 2, 4, 4}, r.Placed)
	require.Equal(t, []int{0, 2, 2, 2, 2}, r.Available)
	require.Equal(t, []int{0, 0, 2, 2, 0}, r.Evicting)
	require.Equal(t, []int{0, 0, 2, 0, 0}, r.Unschedulable)
}

func TestCapacityIsThatOfReadyClusters(t *testing.T) {
	run := outage()
	ask := &api.BindingSpec{ReplicaRequirements: &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{
		corev1.ResourceCPU: quantity("500m"), corev1.ResourceMemory: quantity("1Gi")}}}
	run.Events = append(ran(happening{0, &messages.BindingCreated{Binding: "d/web", Spec: ask}}).Events, run.Events...)
	r := Of(run)
	require.Len(t, r.Regions, 2)
	eu, us := r.Regions[0], r.Regions[1]
	require.Equal(t, "eu", eu.Name)
	require.Equal(t, []int{0, 300_000, 360_000}, eu.At)
	require.Equal(t, []int{1, 0, 0}, eu.Ready)
	require.Equal(t, []int{2, 2, 0}, eu.Placed)
	require.Equal(t, []int{1000, 1000, 0}, eu.CPU)
	require.Equal(t, []int{4000, 0, 0}, eu.CPUCapacity)
	require.Equal(t, []int{2048, 2048, 0}, eu.Memory)
	require.Equal(t, []int{2, 4}, us.Placed)
	require.Equal(t, []int{8000, 8000}, us.CPUCapacity)
}

func TestFiguresOfManyInstantsAreTheWorstOfIntervals(t *testing.T) {
	var happenings []happening
	for i := range 1000 {
		happenings = append(happenings, happening{time.Duration(i) * time.Second, &messages.AvailabilityChanged{Binding: "d/web", Cluster: "m1", Available: int32(i + 1)}})
	}
	happenings = append(happenings, happening{1000 * time.Second, &messages.AvailabilityChanged{Binding: "d/web", Cluster: "m1", Available: 3}})
	r := of(ran(happenings...), limits{facts: 1 << 20, workloads: 10, instants: 100}).Replicas
	require.LessOrEqual(t, len(r.At), 100)
	require.Equal(t, 3, r.Available[len(r.Available)-1], "a dip is not lost")
	require.IsIncreasing(t, r.At)
}

func TestWhatIsBeyondTheLimitsIsCounted(t *testing.T) {
	r := of(outage(), limits{facts: 3, workloads: 1, instants: 2})
	require.Len(t, r.Facts.At, 3)
	require.Positive(t, r.Omitted.Facts)
	require.Equal(t, 1, r.Omitted.Workloads)
	require.Len(t, r.Workloads, 1)
	require.LessOrEqual(t, len(r.Replicas.At), 2)
	for _, c := range r.Clusters {
		for _, track := range c.Tracks {
			for _, b := range track.Bars {
				for _, f := range b[4:] {
					require.Less(t, f, 3, "a bar names no fact that is omitted")
				}
			}
		}
	}
}

func TestAnOutcomeIsTheWorstInTheEnd(t *testing.T) {
	const web, m1 = "d/web", "m1"
	placed := happening{0, &messages.Scheduled{Binding: web, Clusters: on(m1)}}
	evicted := happening{2 * time.Second, &messages.EvictionStarted{Binding: web, Cluster: m1}}
	elsewhere := happening{2 * time.Second, &messages.Scheduled{Binding: web, Clusters: on("m2")}}
	for _, c := range []struct {
		then []happening
		want Outcome
	}{
		{nil, Unchanged},
		{[]happening{{time.Second, &messages.PlacementConfirmed{Binding: web}}}, Unchanged},
		{[]happening{elsewhere}, Rescheduled},
		{[]happening{{time.Second, &messages.EvictionScheduled{Binding: web, Cluster: m1}}}, Scheduled},
		{[]happening{{time.Second, &messages.EvictionBlocked{Binding: web, Cluster: m1}}}, Blocked},
		{[]happening{evicted, elsewhere}, Evicting},
		{[]happening{evicted, elsewhere, {3 * time.Second, &messages.EvictionEnded{Binding: web, Cluster: m1}}}, Evicted},
		{[]happening{evicted, {3 * time.Second, &messages.ScheduleFailed{Binding: web}}}, Unschedulable},
		{[]happening{{time.Second, &messages.HealthChanged{Binding: web, Cluster: m1, Health: api.Unhealthy}}}, Unhealthy},
		{[]happening{evicted, elsewhere, {3 * time.Second, &messages.BindingDeleted{Binding: web}}}, Deleted},
	} {
		require.Equal(t, c.want, Of(ran(append([]happening{placed}, c.then...)...)).Workloads[0].Outcome, c.want)
	}
}

func TestAClusterThatNoFactNamesAloneIsThere(t *testing.T) {
	r := Of(outage())
	require.Equal(t, []string{"m1", "m2"}, []string{r.Clusters[0].Name, r.Clusters[1].Name})
	require.Equal(t, "us", r.Clusters[1].Region)
	require.Len(t, r.Nodes, 1)
	require.Len(t, r.Pods, 1)
	require.Equal(t, 600_000, r.End, "an expectation was decided after the last fact")
}

func TestARunThatEndedEarlySaysWhy(t *testing.T) {
	r := Of(&replay.Run{Start: start, Err: errors.New("too many messages")})
	require.Equal(t, "too many messages", r.Error)
	require.Empty(t, r.Workloads)
}

func TestLabelsAreThoseOfTheTemplateAndOfTheCluster(t *testing.T) {
	r := outage()
	r.Objects[0].(*api.Cluster).Labels = map[string]string{"tier": "gold"}
	web := &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "web", Labels: map[string]string{"b": "2", "app": "web"}}}
	for i := range 30 {
		web.Labels[fmt.Sprintf("many-%02d", i)] = "x"
	}
	of := func(name string) *api.ResourceBinding {
		b := &api.ResourceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name, Labels: map[string]string{"own": "1"}}}
		b.Spec.Resource = api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "d", Name: name}
		return b
	}
	r.Objects = append(r.Objects, web, of("web"), of("quiet"))
	doc := Of(r)
	require.Equal(t, []string{"tier=gold"}, words(doc, doc.Clusters[place(map[string]int{doc.Clusters[0].Name: 0, doc.Clusters[1].Name: 1}, "m1")].Labels))
	require.Equal(t, "d/quiet", doc.Workloads[0].Name)
	require.Equal(t, []string{"own=1"}, words(doc, doc.Workloads[0].Labels), "its template is gone")
	require.Len(t, doc.Workloads[1].Labels, mostLabels)
	require.Equal(t, []string{"app=web", "b=2", "many-00=x"}, words(doc, doc.Workloads[1].Labels[:3]))
}

func TestAFactSaysWhenItGoesOn(t *testing.T) {
	seconds := int32(90)
	created := metav1.NewTime(start.Add(7 * time.Minute))
	doc := Of(ran(
		happening{time.Minute, &messages.EvictionScheduled{Binding: "d/web", Cluster: "m1", Grounds: messages.Grounds{Deadline: start.Add(5 * time.Minute)}}},
		happening{5 * time.Minute, &messages.EvictionBlocked{Binding: "d/web", Cluster: "m1", Reason: "EvictionRate", Until: start.Add(6 * time.Minute)}},
		happening{7 * time.Minute, &messages.EvictionStarted{Binding: "d/web", Cluster: "m1", Task: api.GracefulEvictionTask{CreationTimestamp: &created, GracePeriodSeconds: &seconds}}},
		happening{8 * time.Minute, &messages.EvictionEnded{Binding: "d/web", Cluster: "m1", Reason: messages.EndedHealthy}},
	))
	require.Equal(t, []int{300_000, 360_000, 510_000, -1}, doc.Facts.Due)
}
