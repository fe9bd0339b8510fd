package taint_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"leeward/actors/rules/taint"
)

// BenchmarkUpstream sets the two questions that are asked of a pod and a node against what Kubernetes has for them, in one run: may the
// pod be bound there (FindMatchingUntoleratedTaint of component-helpers, which kube-scheduler calls), and how long may it remain (the
// loop of GetMatchingTolerations and GetMinTolerationTime in the taint eviction controller, over the matcher of k8s.io/api). The metric
// upstream/ours is how many times as long Kubernetes takes.
func BenchmarkUpstream(b *testing.B) {
	taints, tolerations := fourByEight()
	b.Run("filter/4x8", func(b *testing.B) {
		contest(b, func() {
			first, bad := helpers.FindMatchingUntoleratedTaint(klog.Logger{}, taints, tolerations, doNotSchedule, false)
			sink = taint.Tolerance{Taint: len(first.Key)}
			if bad {
				b.Fatal("it is tolerated")
			}
		}, func() {
			if first := taint.FirstUntolerated(taints, tolerations, false); first >= 0 {
				b.Fatal("it is tolerated")
			}
		})
	})
	b.Run("evict/4x8", func(b *testing.B) {
		contest(b, func() { sinkSeconds = upstreamSeconds(taints, tolerations) }, func() { sinkSeconds = taint.AllowanceOf(taints, tolerations, taint.Rule{}).Seconds })
	})
}

// doNotSchedule is the filter of kube-scheduler.
func doNotSchedule(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

var sinkSeconds int64

// fourByEight are NoExecute taints of a node, and the tolerations of a pod that has one for each of them, behind as many others.
func fourByEight() (taints []corev1.Taint, tolerations []corev1.Toleration) {
	for i := range int64(4) {
		seconds := 300 + i
		taints = append(taints, corev1.Taint{Key: fmt.Sprint("example.com/key-", i), Value: "v", Effect: corev1.TaintEffectNoExecute})
		tolerations = append(tolerations,
			corev1.Toleration{Key: fmt.Sprint("example.com/other-", i), Operator: corev1.TolerationOpEqual, Value: "v", Effect: corev1.TaintEffectNoExecute},
			corev1.Toleration{Key: fmt.Sprint("example.com/key-", i), Operator: corev1.TolerationOpEqual, Value: "v", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds})
	}
	return taints, tolerations
}

// upstreamSeconds collects the toleration that matches each taint first, and takes the least of their seconds.
func upstreamSeconds(taints []corev1.Taint, tolerations []corev1.Toleration) int64 {
	var used []corev1.Toleration
	for i := range taints {
		for j := range tolerations {
			if tolerations[j].ToleratesTaint(klog.Logger{}, &taints[i], false) {
				used = append(used, tolerations[j])
				break
			}
		}
	}
	least := int64(-1)
	for i := range used {
		if s := used[i].TolerationSeconds; s != nil && (least < 0 || *s < least) {
			least = max(*s, 0)
		}
	}
	return least
}

// contest runs both, turn by turn, and reports what one takes of each, and their ratio.
func contest(b *testing.B, upstream, ours func()) {
	const turns = 1000
	var theirs, own float64
	n := 0
	for b.Loop() {
		n++
		before := b.Elapsed()
		for range turns {
			upstream()
		}
		between := b.Elapsed()
		for range turns {
			ours()
		}
		theirs += float64((between - before).Nanoseconds())
		own += float64((b.Elapsed() - between).Nanoseconds())
	}
	b.ReportMetric(theirs/float64(n*turns), "upstream-ns/op")
	b.ReportMetric(own/float64(n*turns), "ours-ns/op")
	b.ReportMetric(theirs/own, "upstream/ours")
}
