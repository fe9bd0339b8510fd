package live

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/runtime/fleet/store"
)

// addresses are those that the load balancers of all clusters give a Service.
func addresses(b *store.Binding) (next corev1.ServiceStatus) {
	for cluster, s := range saidIn[corev1.ServiceStatus](b) {
		for _, i := range s.LoadBalancer.Ingress {
			i.Hostname = cmp.Or(i.Hostname, cluster) // says whose address it is
			next.LoadBalancer.Ingress = append(next.LoadBalancer.Ingress, i)
		}
	}
	return next
}

// claimed is Lost where one copy of a claim is, and Bound where all are that report.
func claimed(b *store.Binding, before corev1.PersistentVolumeClaimStatus) corev1.PersistentVolumeClaimStatus {
	phase := corev1.PersistentVolumeClaimPhase("")
	for s := range said[corev1.PersistentVolumeClaimStatus](b) {
		if phase == "" || s.Phase == corev1.ClaimLost || phase == corev1.ClaimBound {
			phase = s.Phase
		}
	}
	if phase == "" {
		return before // no copy says anything
	}
	return corev1.PersistentVolumeClaimStatus{Phase: phase}
}

// volumePhases are those of a volume, the first of which a copy is in is that of all.
var volumePhases = []corev1.PersistentVolumePhase{corev1.VolumeFailed, corev1.VolumePending, corev1.VolumeAvailable, corev1.VolumeBound, corev1.VolumeReleased}

// provided is the phase of a volume of which every cluster has one. A copy that reports nothing is Pending.
func provided(b *store.Binding, before corev1.PersistentVolumeStatus) corev1.PersistentVolumeStatus {
	found := map[corev1.PersistentVolumePhase]bool{}
	for s := range said[corev1.PersistentVolumeStatus](b) {
		found[s.Phase] = true
	}
	for i := range b.Status.AggregatedStatus {
		if b.Status.AggregatedStatus[i].Status == nil {
			found[corev1.VolumePending] = true
		}
	}
	if i := slices.IndexFunc(volumePhases, func(p corev1.PersistentVolumePhase) bool { return found[p] }); i >= 0 {
		return corev1.PersistentVolumeStatus{Phase: volumePhases[i]}
	}
	return before
}

// scheduled are the Jobs of a CronJob in all clusters, and the latest times.
func scheduled(b *store.Binding) (next batchv1.CronJobStatus) {
	for s := range said[batchv1.CronJobStatus](b) {
		next.Active = append(next.Active, s.Active...)
		next.LastScheduleTime = latest(next.LastScheduleTime, s.LastScheduleTime)
		next.LastSuccessfulTime = latest(next.LastSuccessfulTime, s.LastSuccessfulTime)
	}
	return next
}

func latest(a, b *metav1.Time) *metav1.Time {
	if a == nil || a.Before(b) {
		return b
	}
	return a
}
