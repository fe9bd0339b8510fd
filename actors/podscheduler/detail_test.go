package podscheduler_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
)

// spreading is the spec of a pod that is spread over zones, with those of the label app=web.
func spreading() *corev1.PodSpec {
	spec := asking("100m")
	spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: web},
	}}
	return spec
}

var web = map[string]string{"app": "web"}

func labelled(labels map[string]string) edit {
	return func(m *messages.PodViewed) { m.Labels = labels }
}

// skewed is what a pod hears that must be spread over two nodes, where one has too many and the other is tainted.
const skewed = "0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) had untolerated taint(s). " +
	"preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."

// waitsForSpread returns a scheduler in which pod b waits because n1 has pod a and n2 is tainted.
func waitsForSpread(t *testing.T) *driver {
	t.Helper()
	d := drive(t, node("n1", "4"), node("n2", "4", "dedicated"), pod("a", on("n1"), labelled(web)))
	d.Tell(pod("b", with(spreading()), labelled(web))).Told(apiServer, refuse("b", skewed))
	return d
}

func TestWhatHelpsASpreadPod(t *testing.T) {
	t.Run("the other node goes", func(t *testing.T) {
		waitsForSpread(t).Tell(&messages.NodeGone{Name: "n2"}).Told(apiServer, bind("b", "n1"))
	})
	t.Run("a pod comes to the other node", func(t *testing.T) {
		waitsForSpread(t).Tell(pod("c", on("n2"), labelled(web))).Told(apiServer, bind("b", "n1"))
	})
	t.Run("the pod beside it gets another label", func(t *testing.T) {
		waitsForSpread(t).Tell(pod("a", on("n1"))).Told(apiServer, bind("b", "n1"))
	})
	t.Run("a pod of another label does not", func(t *testing.T) {
		waitsForSpread(t).Tell(pod("c", on("n2"))).Quiet()
	})
}

func TestAPodThatIsBoundElsewhereGivesUpItsReservation(t *testing.T) {
	d := drive(t, node("n1", "1"))
	d.Tell(pod("a")).Told(apiServer, bind("a", "n1"))
	d.Tell(pod("b")).Told(apiServer, refuse("b", full))
	d.Tell(pod("a", on("n2"))).Told(apiServer, bind("b", "n1"))
}

func TestAnEditedPriorityCounts(t *testing.T) {
	d := drive(t, node("n1", "1"), pod("old", on("n1")))
	spec := asking("1")
	d.Tell(pod("a", with(spec)), pod("b", with(spec))).Told(apiServer, refuse("a", full), refuse("b", full))
	preempts := full + " Pods of lower priority run; that kube-scheduler may evict some of them is not modelled."
	d.Tell(pod("b", with(spec), priority(5))).Told(apiServer, refuse("b", preempts))
	d.Tell(pod("old", gone)).Told(apiServer, bind("b", "n1"))
	d.Tell(pod("b", gone)).Told(apiServer, bind("a", "n1"))
}

func TestAPodThatGoesInItsFirstInstant(t *testing.T) {
	d := drive(t, node("n1", "4"))
	d.Tell(pod("a"), pod("b"), pod("c"), pod("b", gone), pod("a", gone)).Told(apiServer, bind("c", "n1"))
	d.Tell(pod("a"), pod("a")).Told(apiServer, bind("a", "n1"))
}

func TestAWaitingPodThatEndsIsNotTriedAgain(t *testing.T) {
	for _, end := range []edit{gone, terminating, finished} {
		d := drive(t, node("n1", "1"), pod("old", on("n1")))
		d.Tell(pod("a")).Told(apiServer, refuse("a", full))
		d.Tell(pod("a", end)).Quiet()
		d.Tell(pod("old", gone)).Quiet()
	}
}
