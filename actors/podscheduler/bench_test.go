package podscheduler_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/actorstest"
	"leeward/actors/podscheduler"
	"leeward/actors/rules/podplacement"
	"leeward/messages"
)

// BenchmarkZoneLost schedules the pods of a zone again: 5,000 nodes in 3 zones, 150,000 pods of 500 Deployments, 50,000 of them deleted
// and replaced in one instant. It reports the time of one pod.
func BenchmarkZoneLost(b *testing.B) {
	const nodes, pods, deployments = 5000, 150_000, 500
	for b.Loop() {
		b.StopTimer()
		s := podscheduler.New(podplacement.Rules{AvoidTimed: true}, 1)
		var out actors.Outbox
		tell := func(m messages.ToPodScheduler) { s.Receive(actorstest.Start, m, &out) }
		view := func(i int, lost bool) *messages.NodeViewed {
			v := &messages.NodeView{
				Name: messages.NodeName(fmt.Sprintf("n%04d", i)), Labels: map[string]string{corev1.LabelTopologyZone: fmt.Sprint(i % 3), corev1.LabelHostname: fmt.Sprintf("n%04d", i)},
				Allocatable: corev1.ResourceList{"cpu": resource.MustParse("32"), "memory": resource.MustParse("128Gi"), "pods": resource.MustParse("110")},
			}
			if lost {
				v.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}}
			}
			return &messages.NodeViewed{View: v}
		}
		for i := range nodes {
			tell(view(i, false))
		}
		specs, labels := make([]*corev1.PodSpec, deployments), make([]map[string]string, deployments)
		for i := range specs {
			specs[i], labels[i] = asking("500m"), map[string]string{"app": fmt.Sprint(i)}
		}
		pod := func(i int, name, on string) *messages.PodViewed {
			return &messages.PodViewed{
				Pod: messages.PodName("default/" + name), Request: 1, Since: actorstest.Start, Spec: specs[i%deployments], Labels: labels[i%deployments],
				Peers: &metav1.LabelSelector{MatchLabels: labels[i%deployments]}, Node: messages.NodeName(on),
			}
		}
		for i := range pods {
			tell(pod(i, fmt.Sprint("p", i), fmt.Sprintf("n%04d", (i+i/nodes)%nodes)))
		}
		b.StartTimer()
		replaced := 0
		for i := range nodes {
			if i%3 == 0 {
				tell(view(i, true))
			}
		}
		for i := range pods {
			if n := (i + i/nodes) % nodes; n%3 == 0 {
				m := pod(i, fmt.Sprint("p", i), fmt.Sprintf("n%04d", n))
				m.Terminating = true
				tell(m)
				tell(pod(i, fmt.Sprint("r", i), ""))
				replaced++
			}
		}
		out.Reset()
		tell(&messages.Woken{})
		if len(out.Mail()) != replaced {
			b.Fatalf("%d of %d pods were answered", len(out.Mail()), replaced)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(replaced)/float64(max(b.N, 1)), "ns/pod")
	}
}
