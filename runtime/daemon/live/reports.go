package live

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
)

// reports are what the Works that a start finds say of their copies.
type reports struct {
	works []report
	err   error
}

// report is what one Work says, to the machine of its cluster's agent; none where it is that of no copy.
type report struct {
	cluster messages.ClusterName
	says    *messages.WorkObserved
}

// reportingWork is a Work without what it asks for, its status as it reads.
type reportingWork struct {
	Metadata struct {
		Namespace         string            `json:"namespace"`
		Annotations       map[string]string `json:"annotations"`
		Generation        int64             `json:"generation"`
		DeletionTimestamp *metav1.Time      `json:"deletionTimestamp"`
	} `json:"metadata"`
	Spec   engine.Skipped `json:"spec"`
	Status jsontext.Value `json:"status"`
}

// work is the Work but for its spec and its status.
func (r *reportingWork) work() *api.Work {
	return &api.Work{ObjectMeta: metav1.ObjectMeta{
		Namespace: r.Metadata.Namespace, Annotations: r.Metadata.Annotations,
		Generation: r.Metadata.Generation, DeletionTimestamp: r.Metadata.DeletionTimestamp,
	}}
}

// readReports reads the Works on a goroutine of its own: there are more of them than of all else.
func (f *Fleet) readReports() <-chan reports {
	read := make(chan reports, 1)
	table := f.config.Engine.Table(catalog.Works.Name())
	if table == nil {
		read <- reports{}
		return read
	}
	works := table.Snapshot()
	f.loaded[catalog.Works] = works.Version
	go func() {
		all, said := reports{works: make([]report, 0, works.Len())}, observed.Reports{}
		wrong := engine.ReadAs(works, func(place string, _ int64, w *reportingWork) {
			var r report
			says, whole, err := said.Of(w.Status)
			switch {
			case err != nil:
				all.err = errors.Join(all.err, fmt.Errorf("read %s: %w", place, err))
			case whole:
				r.cluster, r.says = observedOf(works.Get(place).(*api.Work))
			default:
				r.cluster, r.says = saidOf(w.work(), says)
			}
			all.works = append(all.works, r)
		})
		all.err = errors.Join(all.err, wrong)
		read <- all
	}()
	return read
}

// takeReports passes reports to the machines that they are for. About as many Works will be asked for together.
func (f *Fleet) takeReports(r reports) error {
	f.wishes = make([]wish, 0, len(r.works))
	for i := range r.works {
		w := &r.works[i]
		if w.says != nil {
			f.world.TellAgent(w.cluster, w.says)
			f.lookAfter(w)
		}
	}
	return r.err
}

// lookAfter has a Work removed, unless its binding runs there: a kill may have come between what was decided and that.
func (f *Fleet) lookAfter(w *report) {
	name := w.says.Binding
	b := f.world.Store().Binding(name)
	switch {
	case f.world.Store().Cluster(w.cluster) == nil:
		f.wishes = append(f.wishes, wishOf(&messages.CopyUnwanted{Binding: name, Cluster: w.cluster}))
	case b == nil || api.FindTarget(b.Spec.Clusters, string(w.cluster)) < 0:
		f.world.CopyLeft(name, w.cluster)
	}
}

// observedOf reads what a Work says of its copy; nothing where it is that of none.
func observedOf(w *api.Work) (messages.ClusterName, *messages.WorkObserved) {
	return saidOf(w, observed.Report(w))
}

func saidOf(w *api.Work, says *messages.WorkReport) (messages.ClusterName, *messages.WorkObserved) {
	cluster, binding, ours := observed.Copy(w)
	if !ours {
		return "", nil
	}
	return cluster, &messages.WorkObserved{
		Binding: binding, Generation: w.Generation, Leaving: w.DeletionTimestamp != nil, Report: dated(says),
	}
}

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
