package drain_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/actors/actorstest"
	"leeward/actors/drain"
	"leeward/messages"
)

var serverAt = messages.Address{Kind: messages.KindAPIServer}

const refusal = "Cannot evict pod as it would violate the pod's disruption budget."

// begun is a drain of n1 that knows its pods d/NAME, each with its name as UID.
func begun(t *testing.T, o messages.DrainOptions, names ...string) *actorstest.Driver[messages.ToDrain] {
	t.Helper()
	d := actorstest.Drive(t, drain.New("n1"))
	d.Tell(&messages.BeginDrain{Options: o}).Quiet()
	listed := &messages.PodsListed{}
	for _, name := range names {
		listed.Pods = append(listed.Pods, messages.ListedPod{Object: &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name, UID: types.UID(name), OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Controller: new(true)}}},
		}})
	}
	d.Tell(listed)
	return d
}

func evict(name string) *messages.EvictPod {
	return &messages.EvictPod{Pod: messages.NamePod("d", name), UID: types.UID(name), For: "n1"}
}

func answer(name string) *messages.PodEvictionAnswered {
	return &messages.PodEvictionAnswered{Pod: messages.NamePod("d", name), UID: types.UID(name)}
}

func refused(name, detail string) *messages.PodEvictionAnswered {
	a := answer(name)
	a.Error, a.Detail, a.Budget, a.Later = refusal, detail, "d/b", true
	return a
}

func gone(name string) *messages.DrainedPodGone {
	return &messages.DrainedPodGone{Pod: messages.NamePod("d", name), UID: types.UID(name)}
}

func TestANodeIsDrainedWhenItsPodsAreGone(t *testing.T) {
	d := begun(t, messages.DrainOptions{}, "a", "b")
	d.Recorded(&messages.NodeDrainStarted{Node: "n1", Pods: 2}).Told(serverAt, evict("a"), evict("b"))
	d.Tell(answer("a"), answer("b")).Quiet()
	d.Sleeps()
	d.QuietFor(10 * time.Second)
	d.Tell(gone("a")).Quiet()
	d.Tell(gone("b")).Recorded(&messages.NodeDrained{Node: "n1", After: 10 * time.Second})
	d.Tell(gone("b"), answer("b")).Quiet()
}

func TestAnEmptyNodeIsDrainedImmediately(t *testing.T) {
	begun(t, messages.DrainOptions{}).Recorded(&messages.NodeDrainStarted{Node: "n1"}, &messages.NodeDrained{Node: "n1"})
}

func TestARefusedEvictionIsAskedForAgainEveryFiveSeconds(t *testing.T) {
	d := begun(t, messages.DrainOptions{}, "a")
	blocked := &messages.PodEvictionBlocked{Pod: "d/a", Node: "n1", By: "drain", Budget: "d/b", Error: refusal, Detail: "needs 2 and has 2"}
	d.Tell(refused("a", "needs 2 and has 2")).Recorded(blocked)
	d.QuietFor(5*time.Second - 1)
	d.Advance(1).Told(serverAt, evict("a"))
	d.Tell(refused("a", "needs 2 and has 2")).Recorded()
	d.Advance(5*time.Second).Told(serverAt, evict("a"))
	d.Tell(refused("a", "needs 2 and has 1")).Recorded(&messages.PodEvictionBlocked{Pod: "d/a", Node: "n1", By: "drain", Budget: "d/b", Error: refusal, Detail: "needs 2 and has 1"})
	d.Advance(5 * time.Second)
	d.Tell(answer("a"))
	d.Tell(gone("a")).Recorded(&messages.NodeDrained{Node: "n1", After: 15 * time.Second})
}

func TestADrainThatTimesOutSaysWhatKubectlSays(t *testing.T) {
	d := begun(t, messages.DrainOptions{Timeout: 12 * time.Second}, "a", "b")
	d.Tell(refused("a", "x"), answer("b"))
	d.Advance(5 * time.Second)
	d.Tell(refused("a", "x"))
	d.Advance(5 * time.Second)
	d.Tell(refused("a", "x"))
	d.Advance(2 * time.Second).Recorded()
	require.Empty(t, d.Mail(), "one that was refused is given up at its next try")
	d.Advance(3 * time.Second).Recorded(&messages.NodeDrainFailed{
		Node: "n1", Pending: []messages.PodName{"d/a", "d/b"},
		Error: `[error when evicting pods/"a" -n "d": global timeout reached: 12s, error when waiting for pod "b" in namespace "d" to terminate: context deadline exceeded]`,
	})
	d.Sleeps()
}

func TestAnErrorOfOnePodDoesNotEndTheEvictionOfOthers(t *testing.T) {
	d := begun(t, messages.DrainOptions{}, "a", "b", "c")
	broken := answer("a")
	broken.Error = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
	missing := answer("c")
	missing.Gone = true
	d.Tell(broken, answer("b"), missing).Quiet()
	d.Tell(gone("b")).Recorded(&messages.NodeDrainFailed{
		Node: "n1", Pending: []messages.PodName{"d/a"},
		Error: `error when evicting pods/"a" -n "d": This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.`,
	})
}

func TestADrainThatIsNotPermittedEvictsNothing(t *testing.T) {
	d := actorstest.Drive(t, drain.New("n1"))
	d.Tell(&messages.BeginDrain{})
	d.Tell(&messages.PodsListed{Pods: []messages.ListedPod{{Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "a"}}}}})
	d.Recorded(&messages.NodeDrainFailed{Node: "n1", Error: "cannot delete Pods that declare no controller (use --force to override): d/a"})
	require.Empty(t, d.Mail())
}

func TestOptionsOfADrain(t *testing.T) {
	d := begun(t, messages.DrainOptions{GracePeriodSeconds: new(int64(3))}, "a")
	asks := evict("a")
	asks.GracePeriodSeconds = new(int64(3))
	d.Told(serverAt, asks)
	begun(t, messages.DrainOptions{DisableEviction: true}, "a").Told(serverAt, &messages.DeletePod{Pod: "d/a", UID: "a", Cause: "drain of node n1"})
}

func TestAPodThatIsDeletedForLongIsNotWaitedFor(t *testing.T) {
	deleted := func(name string, uid types.UID) *messages.DrainedPodDeleted {
		return &messages.DrainedPodDeleted{Pod: messages.NamePod("d", name), UID: uid, At: actorstest.Start.Add(30 * time.Second)}
	}
	d := begun(t, messages.DrainOptions{SkipWaitForDelete: 20 * time.Second, Timeout: time.Hour}, "a", "b", "c")
	d.Tell(refused("c", "x"))
	d.Tell(answer("a"), deleted("a", "a"), answer("b"), deleted("b", "another"), deleted("x", "x")).Quiet()
	for range 10 {
		d.Advance(5*time.Second).Told(serverAt, evict("c"))
		d.Tell(refused("c", "x")).Quiet()
	}
	d.Tell(gone("b")).Quiet()
	d.Advance(time.Second).Quiet()
	d.Tell(gone("a")).Quiet()
	d.Tell(gone("c")).Recorded(&messages.NodeDrained{Node: "n1", After: 51 * time.Second, Skipped: []messages.PodName{"d/a"}})
	d.Sleeps()

	d = begun(t, messages.DrainOptions{}, "a")
	d.Tell(answer("a"), deleted("a", "a")).Quiet()
	d.Sleeps() // it is waited for
}

func TestADrainThatBeginsAgainForgetsTheEarlierOne(t *testing.T) {
	d := begun(t, messages.DrainOptions{}, "a")
	d.Tell(refused("a", "x"))
	d.Tell(&messages.BeginDrain{Options: messages.DrainOptions{}}).Quiet()
	d.QuietFor(time.Minute)
	d.Tell(&messages.PodsListed{}).Recorded(&messages.NodeDrainStarted{Node: "n1"}, &messages.NodeDrained{Node: "n1", After: time.Minute})
}
