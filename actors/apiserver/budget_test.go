package apiserver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/actors/actorstest"
	"leeward/actors/apiserver"
	"leeward/actors/rules/disruption"
	"leeward/messages"
)

// atLeast is a budget d/b of the pods with label app=web.
func atLeast(available string) *messages.PutPodBudget {
	p := intstr.Parse(available)
	return &messages.PutPodBudget{Object: &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "b"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &p, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}}
}

func webPod(name messages.PodName) *messages.CreatePod {
	c := create(name, types.UID(name))
	c.Labels = map[string]string{"app": "web"}
	return c
}

// protected is a server whose node n1 runs so many ready pods d/1, d/2 ... under a budget.
func protected(t *testing.T, available string, names ...messages.PodName) *driver {
	t.Helper()
	d := drive(t, apiserver.Rules{})
	d.Tell(node("n1"), atLeast(available), &messages.OwnerScaled{Owner: owner, Replicas: int32(len(names))})
	for _, name := range names {
		d.Tell(webPod(name))
		d.Tell(&messages.BindPod{Pod: name, Node: "n1"})
		d.Tell(&messages.PodReported{Pod: name, UID: types.UID(name), Phase: corev1.PodRunning, Ready: true})
	}
	return d
}

func evict(name messages.PodName) *messages.EvictPod {
	return &messages.EvictPod{Pod: name, UID: types.UID(name)}
}

// answers are what the taint evictions of pods were answered, by their names.
func (d *driver) answers() map[messages.PodName]string {
	told := map[messages.PodName]string{}
	for _, m := range d.Mail() {
		if a, is := m.Message.(*messages.PodEvictionAnswered); is {
			told[a.Pod] = a.Error
		}
	}
	return told
}

func (d *driver) status() policyv1.PodDisruptionBudgetStatus { return d.server.Budget("d/b").Status }

func TestTheStatusOfABudgetFollowsItsPods(t *testing.T) {
	d := protected(t, "50%", "d/1", "d/2", "d/3")
	s := d.status()
	require.Equal(t, []int32{3, 3, 2, 1}, []int32{s.ExpectedPods, s.CurrentHealthy, s.DesiredHealthy, s.DisruptionsAllowed})
	require.Equal(t, policyv1.SufficientPodsReason, s.Conditions[0].Reason)

	d.Tell(&messages.PodReported{Pod: "d/1", UID: "d/1", Phase: corev1.PodRunning})
	require.Equal(t, &messages.PodBudgetChanged{Budget: "d/b", ExpectedPods: 3, CurrentHealthy: 2, DesiredHealthy: 2}, actorstest.FactsOf[*messages.PodBudgetChanged](d.Facts())[0])
	require.Equal(t, policyv1.InsufficientPodsReason, d.status().Conditions[0].Reason)

	d.Tell(&messages.OwnerScaled{Owner: owner, Replicas: 2})
	require.EqualValues(t, 1, d.status().DisruptionsAllowed, "half of two is one")
	d.Tell(&messages.OwnerScaled{Owner: owner, Gone: true})
	require.Equal(t, `found no controllers for pod "1"`, d.status().Conditions[0].Message)
	require.Zero(t, d.status().DisruptionsAllowed)
}

func TestOfTheEvictionsOfAnInstantOnlyWhatTheBudgetAllowsAreCarriedOut(t *testing.T) {
	d := protected(t, "2", "d/1", "d/2", "d/3")
	d.Tell(evict("d/3"), evict("d/2"), evict("d/1"))
	require.Equal(t, map[messages.PodName]string{"d/1": "", "d/2": disruption.Violates, "d/3": disruption.Violates}, d.answers())
	require.Equal(t, []*messages.PodDeletionRequested{{Pod: "d/1", Node: "n1", GracePeriodSeconds: 30, Eviction: true}}, actorstest.FactsOf[*messages.PodDeletionRequested](d.Facts()))
	c := d.server.Pod("d/1").Status.Conditions
	require.Equal(t, "EvictionByEvictionAPI", c[len(c)-1].Reason)
}

func TestAnEvictionCountsWhatIsDeletedInTheSameInstant(t *testing.T) {
	d := protected(t, "2", "d/1", "d/2", "d/3")
	d.Tell(evict("d/1"), &messages.DeletePod{Pod: "d/3", Cause: apiserver.ByUser})
	require.Equal(t, disruption.Violates, d.answers()["d/1"])
}

func TestATaintEvictionThatABudgetRefusedHearsWhenItIsAllowed(t *testing.T) {
	d := protected(t, "2", "d/1", "d/2")
	d.Tell(evict("d/1"), evict("d/2"))
	require.Equal(t, map[messages.PodName]string{"d/1": disruption.Violates, "d/2": disruption.Violates}, d.answers())
	d.Tell(webPod("d/3")).Told(messages.Address{Kind: messages.KindPodEviction, Name: "d/1"})
	d.Tell(&messages.BindPod{Pod: "d/3", Node: "n1"})
	d.Tell(&messages.PodReported{Pod: "d/3", UID: "d/3", Phase: corev1.PodRunning, Ready: true})
	for _, name := range []string{"d/1", "d/2"} {
		require.Equal(t, []messages.Message{&messages.PodBudgetAllows{}}, actorstest.MailTo(d.Mail(), messages.Address{Kind: messages.KindPodEviction, Name: name}))
	}
	d.Tell(evict("d/1"), evict("d/2"))
	require.Equal(t, map[messages.PodName]string{"d/1": "", "d/2": disruption.Violates}, d.answers())
	d.Tell(&messages.DeletePodBudget{Budget: "d/b"})
	require.Equal(t, []messages.Message{&messages.PodBudgetAllows{}}, actorstest.MailTo(d.Mail(), messages.Address{Kind: messages.KindPodEviction, Name: "d/2"}))
	require.Nil(t, d.server.Budget("d/b"))
}

func TestABudgetFollowsTheLabelsOfPods(t *testing.T) {
	d := protected(t, "2", "d/1", "d/2")
	relabelled := d.server.Pod("d/2").DeepCopy()
	relabelled.Labels = map[string]string{"app": "other"}
	d.Tell(&messages.PutPod{Object: relabelled, Owner: owner})
	require.EqualValues(t, 1, d.status().CurrentHealthy)
	d.Tell(evict("d/2"))
	require.Empty(t, d.answers()["d/2"], "no budget selects it any more")
}

func TestAPodThatTwoBudgetsSelectCannotBeEvicted(t *testing.T) {
	d := protected(t, "0", "d/1")
	other := atLeast("0")
	other.Object.Name = "other"
	other.Object.Spec.Selector = &metav1.LabelSelector{}
	d.Tell(other)
	d.Tell(evict("d/1"))
	require.Equal(t, disruption.Several, d.answers()["d/1"])
	require.Nil(t, d.server.Pod("d/1").DeletionTimestamp)
}

func TestADisruptedPodOfARecordingCountsAgainAfterTwoMinutes(t *testing.T) {
	d := drive(t, apiserver.Rules{})
	b := atLeast("1")
	b.Object.Status.DisruptedPods = map[string]metav1.Time{"1": {Time: actorstest.Start}}
	d.Tell(b, node("n1"), webPod("d/1"))
	d.Tell(&messages.BindPod{Pod: "d/1", Node: "n1"})
	d.Tell(&messages.PodReported{Pod: "d/1", UID: "d/1", Phase: corev1.PodRunning, Ready: true})
	require.Zero(t, d.status().CurrentHealthy)
	require.Contains(t, d.status().DisruptedPods, "1")
	d.Advance(2 * time.Minute)
	require.EqualValues(t, 1, d.status().CurrentHealthy)
	require.Empty(t, d.status().DisruptedPods)
	d.Sleeps()
}
