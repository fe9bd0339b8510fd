package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/actorstest"
	"leeward/messages"
)

// preferring is a verdict that adds a taint that no cluster takes.
func preferring(policy messages.PolicyName, generation uint64, key string) *messages.VerdictGiven {
	v := adds(policy, generation, key)
	v.Taints[0].Effect = corev1.TaintEffectPreferNoSchedule
	return v
}

// notPreferred is why a cluster refuses PreferNoSchedule for its first taint.
const notPreferred = `spec.taints[0].effect: Unsupported value: "PreferNoSchedule": supported values: "NoSchedule", "NoExecute"`

func TestATaintThatNoClusterTakesStopsWhatAllPoliciesAskFor(t *testing.T) {
	d := drive(t, nil, listed("a", "b", "c")...)
	d.Tell(preferring("a", 1, "x"), adds("b", 1, "y"), abstains("c", 1)).Recorded(&messages.TaintingFailed{
		Cluster: name, Add: []corev1.Taint{parsed("x:PreferNoSchedule", time.Time{}), parsed("y:NoSchedule", time.Time{})},
		Policies: []messages.PolicyName{"a", "b"}, Problems: []string{notPreferred},
	})
}

func TestWhatIsRefusedIsSaidOncePerChange(t *testing.T) {
	d := drive(t, nil, listed("a", "b")...)
	refused := func(more ...corev1.Taint) *messages.TaintingFailed {
		f := &messages.TaintingFailed{Cluster: name, Add: append([]corev1.Taint{parsed("x:PreferNoSchedule", time.Time{})}, more...), Policies: []messages.PolicyName{"a"}, Problems: []string{notPreferred}}
		if len(more) > 0 {
			f.Policies = append(f.Policies, "b")
		}
		return f
	}
	d.Tell(preferring("a", 1, "x"), abstains("b", 1)).Recorded(refused())
	d.Tell(report("X", "True"))
	d.Tell(preferring("a", 2, "x"), abstains("b", 2)).Recorded()
	d.Tell(report("X", "False"))
	d.Tell(preferring("a", 3, "x"), adds("b", 3, "y")).Recorded(refused(parsed("y:NoSchedule", time.Time{})))
	d.Tell(report("X", "True"))
	d.Tell(abstains("a", 4), adds("b", 4, "y")).Recorded(tainted("y:NoSchedule", d.Now(), byPolicy("b", "X=True")))
}

func TestWhatPoliciesMayNotTakeAwayEither(t *testing.T) {
	d := drive(t, nil, listed("a", "b")...)
	d.Tell(edit("y:NoSchedule"))
	d.Tell(preferring("a", 1, "x"), removes("b", 1, "y")).Recorded(&messages.TaintingFailed{
		Cluster: name, Add: []corev1.Taint{parsed("x:PreferNoSchedule", time.Time{})}, Remove: []corev1.Taint{parsed("y:NoSchedule", time.Time{})},
		Policies: []messages.PolicyName{"b", "a"}, Problems: []string{notPreferred},
	})
}

// The system writes its own taints by itself.
func TestTheSystemTaintsAClusterWhosePoliciesAreRefused(t *testing.T) {
	d := drive(t, nil, listed("a")...)
	d.Tell(abstains("a", 1))
	d.Tell(report("Ready", "False"))
	n := d.Tell(preferring("a", 2, "x"))
	require.Len(t, n.Facts(), 2)
	n.Recorded(n.Facts()[0], tainted(notReadyNoSchedule, actorstest.Start, bySystem("Ready=False")))
}

func TestATaintThatClustersTakeIsAdded(t *testing.T) {
	d := drive(t, func(s *messages.Settings) { s.PreferNoSchedule = true }, listed("a")...)
	d.Tell(preferring("a", 1, "x")).Recorded(tainted("x:PreferNoSchedule", d.Now(), byPolicy("a", "X=True")))
}
