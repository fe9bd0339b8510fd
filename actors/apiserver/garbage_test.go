package apiserver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/actorstest"
	"leeward/actors/apiserver"
	"leeward/messages"
)

// stranded are what the pod garbage collector was told in the last step.
func (d *driver) stranded() (told []messages.PodStranded) {
	for _, m := range actorstest.MailTo(d.Mail(), messages.Address{Kind: messages.KindPodGC}) {
		told = append(told, *m.(*messages.PodStranded))
	}
	return told
}

func strandedPod(cause messages.GarbageCause) []messages.PodStranded {
	return []messages.PodStranded{{Pod: "d/p", UID: "1", Node: "n1", Cause: cause}}
}

func TestPodsOfANodeThatDoesNotExistAreStranded(t *testing.T) {
	d := running(t, apiserver.Rules{})
	d.Tell(&messages.DeleteNode{Node: "n1", Cause: "by a user"})
	require.Equal(t, strandedPod(messages.NodeMissing), d.stranded())
	d.Tell(&messages.DeletePod{Pod: "d/p", UID: "1", Cause: "by a user"})
	require.Empty(t, d.stranded(), "it is told once")
	d.Tell(node("n1"))
	require.Equal(t, strandedPod(""), d.stranded(), "the node is back")
	d.Tell(&messages.CollectPod{Pod: "d/p", UID: "1", Cause: messages.NodeMissing}).Quiet()
	d.Tell(&messages.DeleteNode{Node: "n1"}, &messages.PodEnded{Pod: "d/p", UID: "1"})
	require.Empty(t, d.stranded(), "it was gone before it could be stranded")

	d = drive(t, apiserver.Rules{})
	d.Tell(create("d/pending", "2"))
	require.Empty(t, d.stranded(), "a pod without a node waits for one")
}

func TestACollectedPodHasFailed(t *testing.T) {
	d := running(t, apiserver.Rules{})
	d.Tell(&messages.DeleteNode{Node: "n1", Cause: "by a user"})
	d.Tell(&messages.CollectPod{Pod: "d/p", UID: "other", Cause: messages.NodeMissing}).Quiet()
	d.Tell(&messages.CollectPod{Pod: "d/p", UID: "1", Cause: messages.NodeMissing})
	require.Equal(t, []messages.Fact{
		&messages.PodPhaseChanged{Pod: "d/p", Node: "n1", Phase: corev1.PodFailed, Reason: "pod GC: node no longer exists"},
		&messages.PodDeletionRequested{Pod: "d/p", Node: "n1", Cause: "pod GC: node no longer exists"},
		&messages.PodDeleted{Pod: "d/p", Node: "n1"},
	}, d.Facts())
	require.Equal(t, strandedPod(""), d.stranded())
}

func TestFinalizersKeepACollectedPodWithItsCondition(t *testing.T) {
	d := drive(t, apiserver.Rules{})
	kept := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "gone"}}
	kept.Namespace, kept.Name, kept.UID, kept.Finalizers = "d", "p", "1", []string{"example.com/keep"}
	d.Tell(&messages.PutPod{Object: kept})
	d.Tell(&messages.CollectPod{Pod: "d/p", UID: "1", Cause: messages.NodeMissing})
	o := d.server.Pod("d/p")
	require.Equal(t, corev1.PodFailed, o.Status.Phase)
	c := o.Status.Conditions[0]
	require.Equal(t, []string{"DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"}, []string{string(c.Type), string(c.Status), c.Reason, c.Message})
	d.Tell(&messages.CollectPod{Pod: "d/p", UID: "1", Cause: messages.NodeMissing})
	require.Empty(t, d.Facts())
	d.Advance(time.Minute)
	d.Tell(&messages.DeletePod{Pod: "d/p", UID: "1", GracePeriodSeconds: new(int64), Cause: "by a user"}).Quiet()
}

// The taint counts with any effect, and only where the node is not Ready and the pod is being deleted.
func TestPodsThatEndOnANodeOutOfServiceAreStranded(t *testing.T) {
	outOfService := corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown", Effect: corev1.TaintEffectNoSchedule}
	unknown := &messages.ReportNode{Node: "n1", By: "node lifecycle", Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}}
	ready := &messages.ReportNode{Node: "n1", By: "kubelet", Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}

	d := running(t, apiserver.Rules{})
	d.Tell(&messages.EditNode{Node: "n1", Taint: []corev1.Taint{outOfService}})
	d.Tell(&messages.DeletePod{Pod: "d/p", UID: "1", Cause: "by a user"})
	require.Empty(t, d.stranded(), "the node is Ready")
	d.Advance(time.Hour)
	d.Tell(unknown)
	require.Equal(t, strandedPod(messages.NodeOutOfService), d.stranded())
	d.Tell(ready)
	require.Equal(t, strandedPod(""), d.stranded())
	d.Tell(unknown)
	d.Tell(&messages.EditNode{Node: "n1", Untaint: []corev1.Taint{outOfService}})
	require.Equal(t, strandedPod(""), d.stranded())
	d.Tell(&messages.CollectPod{Pod: "d/p", UID: "1", Cause: messages.NodeOutOfService}).Quiet()
	d.Tell(&messages.EditNode{Node: "n1", Taint: []corev1.Taint{outOfService}})
	d.Tell(&messages.CollectPod{Pod: "d/p", UID: "1", Cause: messages.NodeOutOfService})
	require.Equal(t, []string{"PodPhaseChanged d/p", "PodDeleted d/p"}, d.facts(), "however long it has been due")

	d = running(t, apiserver.Rules{})
	d.Tell(unknown, &messages.EditNode{Node: "n1", Taint: []corev1.Taint{outOfService}})
	require.Empty(t, d.stranded(), "it was not deleted")
	d.Tell(&messages.DeletePod{Pod: "d/p", UID: "1", Cause: "by a user"})
	require.Equal(t, strandedPod(messages.NodeOutOfService), d.stranded())
	d.Tell(&messages.ControllersRestarted{})
	require.Equal(t, strandedPod(messages.NodeOutOfService), d.stranded(), "a collector that starts hears of it")
}
