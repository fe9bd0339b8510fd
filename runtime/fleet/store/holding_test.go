package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

func TestEvictionsThatAreBlocked(t *testing.T) {
	hold := func(c messages.ClusterName, reason string, until time.Time) *messages.EvictionBlocked {
		return &messages.EvictionBlocked{Binding: web, Cluster: c, Reason: reason, Message: "nowhere to go", Until: until}
	}
	for _, c := range []struct {
		name string
		fact messages.Fact
		left []string
	}{
		{"nothing happens", nil, []string{"member1 NoClusterFit", "member2 CoolingDown"}},
		{"another reason takes its place", hold("member2", "NoClusterFit", time.Time{}), []string{"member1 NoClusterFit", "member2 NoClusterFit"}},
		{"it is evicted", evicting("member2", api.PurgeGracefully), []string{"member1 NoClusterFit", "member2 "}},
		{"it need not be evicted", &messages.EvictionCancelled{Binding: web, Cluster: "member1"}, []string{"member2 CoolingDown"}},
		{"it need not be evicted yet", &messages.EvictionScheduled{Binding: web, Cluster: "member1", Grounds: messages.Grounds{Reason: "TaintUntolerated"}},
			[]string{"member1 TaintUntolerated", "member2 CoolingDown"}},
		{"it is off the result", (&fleet{}).placed("member2"), []string{"member2 CoolingDown"}},
		{"it is off the result of a withdrawal", &messages.EvictionWithdrawn{Binding: web, Cluster: "member3", Clusters: targets("member2", "member3")}, []string{"member2 CoolingDown"}},
		{"its replicas are descheduled", &messages.BindingDescheduled{Binding: web, Cluster: "member1", Clusters: targets("member2")}, []string{"member2 CoolingDown"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFleet(t)
			f.apply(f.placed("member1", "member2"), hold("member2", "CoolingDown", start.Add(time.Hour)), hold("member1", "NoClusterFit", time.Time{}))
			b := f.Binding(web)
			require.Equal(t, start.Add(time.Hour), b.Status.Evictions[1].Until.Time)
			require.Nil(t, b.Status.Evictions[0].Until)
			shown := b.Status.Evictions
			if c.fact != nil {
				f.apply(c.fact)
			}
			var left []string
			for _, h := range b.Status.Evictions {
				left = append(left, h.Cluster+" "+h.Reason)
			}
			require.Equal(t, c.left, left)
			require.Equal(t, "member2", shown[1].Cluster, "who holds a status may keep it")
		})
	}
}

func TestAnEvictionIsShownFromItsCountdownToItsEnd(t *testing.T) {
	f := newFleet(t)
	taint := corev1.Taint{Key: "failed", Value: "yes", Effect: corev1.TaintEffectNoExecute}
	g := messages.Grounds{
		Reason: api.EvictionReasonTaintUntolerated, Taint: &taint, Cause: &api.TaintCause{Policy: "down"}, Deadline: start.Add(time.Minute),
	}
	shown := func() []api.Eviction { return f.Binding(web).Status.Evictions }
	f.apply(f.placed("member1", "member2"), &messages.EvictionScheduled{Binding: web, Cluster: "member1", Grounds: g})
	want := api.Eviction{
		Cluster: "member1", State: api.EvictionScheduled, Taint: "failed=yes:NoExecute", Policy: "down",
		Deadline: metav1.MicroTime{Time: start.Add(time.Minute)}, Reason: api.EvictionReasonTaintUntolerated,
	}
	require.Equal(t, []api.Eviction{want}, shown())

	f.apply(&messages.EvictionBlocked{Binding: web, Cluster: "member1", Reason: "Held", Message: strings.Repeat("why ", 1000), Grounds: g})
	require.Equal(t, api.EvictionBlocked, shown()[0].State)
	require.Len(t, shown()[0].Message, 1024, "what is shown is bounded")

	task := evicting("member1", api.PurgeGracefully)
	task.Grounds, task.Task.Reason = g, g.Reason
	f.apply(task)
	want.State = api.EvictionEvicting
	require.Equal(t, []api.Eviction{want}, shown())
	f.apply(f.placed("member2"))
	require.Equal(t, []api.Eviction{want}, shown(), "an eviction under way is off the result already")
	f.apply(&messages.EvictionEnded{Binding: web, Cluster: "member1", Reason: messages.EndedHealthy})
	require.Empty(t, shown())
}
