// Package rehearsal answers what would happen: it plays a change on a copy of a fleet, on a virtual clock, with the
// machines that would decide for real, and says who would leave which cluster, when, for where and why. Members are
// simulated there: a new copy serves immediately.
package rehearsal

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
)

// Horizon is how far a rehearsal looks ahead.
const Horizon = 24 * time.Hour

// Fleet is what a rehearsal starts from. Its objects are copied as far as they are changed.
type Fleet struct {
	Objects  []api.Object
	Settings messages.Settings
	Seed     uint64
	Now      time.Time
}

// Edit does to the copy of a fleet what should be rehearsed.
type Edit func(*world.World) error

// Apply is the change of an object that is applied, new or in place of another. A Cluster may ask for a drain by its
// annotation, and is from now on as the conditions in its status say; those that it does not name stay as they are.
func Apply(o api.Object) Edit {
	return func(w *world.World) error {
		c, ok := o.(*api.Cluster)
		if !ok {
			return w.Apply(api.Copy(o))
		}
		name := messages.ClusterName(c.Name)
		before := w.Store().Cluster(name)
		var reported []*messages.ConditionReported
		if before != nil {
			reported = observed.Conditions(&before.Status, &c.Status)
		}
		if err := w.Apply(api.Copy(o)); err != nil {
			return err
		}
		for _, m := range reported {
			if m.Status != "" {
				w.TellCluster(name, m)
			}
		}
		if d := observed.DrainOf(c); d.Wanted {
			w.TellCluster(name, d.Message())
		}
		return nil
	}
}

// Taint is the change of clusters that get taints.
func Taint(clusters []string, taints []corev1.Taint) Edit {
	var edits []messages.TaintEdit
	for _, t := range taints {
		edits = append(edits, messages.TaintEdit{Taint: t})
	}
	return each(clusters, func(w *world.World, name messages.ClusterName) {
		w.TellCluster(name, &messages.TaintsEdited{Edits: edits})
	})
}

// Lose is the change of clusters that fall silent.
func Lose(clusters []string) Edit {
	return each(clusters, func(w *world.World, name messages.ClusterName) {
		w.TellMember(name, &messages.OutagesSet{Outages: messages.Outages{Network: true}})
	})
}

func each(clusters []string, do func(*world.World, messages.ClusterName)) Edit {
	return func(w *world.World) error {
		for _, c := range clusters {
			if w.Store().Cluster(messages.ClusterName(c)) == nil {
				return fmt.Errorf("there is no cluster %q", c)
			}
			do(w, messages.ClusterName(c))
		}
		return nil
	}
}

// Of is the changes that a preview asks for. The error says what is wrong with it.
func Of(spec *api.FailoverPreviewSpec) ([]Edit, error) {
	var changes []Edit
	if len(spec.Taints) > 0 {
		changes = append(changes, Taint(spec.Clusters, spec.Taints))
	} else if len(spec.Clusters) > 0 {
		changes = append(changes, Lose(spec.Clusters))
	}
	for i := range spec.Objects {
		documents, problems := manifest.Decode(fmt.Sprintf("spec.objects[%d]", i), spec.Objects[i].Raw)
		if len(problems) > 0 {
			return nil, problems
		}
		for _, d := range documents {
			changes = append(changes, Apply(d.Object))
		}
	}
	if len(changes) == 0 {
		return nil, fmt.Errorf("spec: name clusters or objects: nothing is to happen")
	}
	return changes, nil
}

// Play tells what the changes lead to within Horizon that would not happen without them.
func (f *Fleet) Play(ctx context.Context, changes ...Edit) (*api.FailoverPreviewStatus, error) {
	with, without, err := f.play(ctx, changes)
	if err != nil || len(with.evictions)+len(with.unschedulable) == 0 {
		return with.status(nil), err
	}
	if without == nil {
		if without, _, err = f.play(ctx, nil); err != nil {
			return nil, err
		}
	}
	return with.status(without), nil
}

// played is what a run came to.
type played struct {
	failovers failover.Fold
	// evictions are the first of each binding from each cluster.
	evictions map[failover.Key]*failover.Failover
	// unschedulable are the bindings that no cluster can take, with the reason.
	unschedulable map[messages.BindingName]string
	// stays tell of the clusters that are not Ready in the end, and from which nothing evicts.
	stays []string
}

// play runs a copy of the fleet until nothing more is due, or the horizon. It tells, too, what it would come to without the
// changes, where that is known by the time that they are made: nothing is due then.
func (f *Fleet) play(ctx context.Context, changes []Edit) (o, without *played, err error) {
	o = &played{failover.Fold{}, map[failover.Key]*failover.Failover{}, map[messages.BindingName]string{}, nil}
	w := world.New(world.Config{Settings: f.Settings, Seed: f.Seed, Start: f.Now, Hear: o.hear})
	defer w.Close()
	objects := make([]api.Object, len(f.Objects))
	for i, o := range f.Objects {
		objects[i] = api.Shallow(o)
	}
	if f.Settings.CapacityReservation {
		store.WithoutOwn(objects)
	}
	w.Load(store.WithoutRows(objects))
	w.Recover()
	if err := w.Settle(f.Now); err != nil {
		return o, nil, err
	}
	if _, due := w.Next(); !due {
		without = &played{evictions: maps.Clone(o.evictions), unschedulable: maps.Clone(o.unschedulable)}
	}
	for _, change := range changes {
		if err := change(w); err != nil {
			return o, nil, err
		}
	}
	if err := w.Settle(f.Now); err != nil {
		return o, nil, err
	}
	if err := w.EachDue(ctx, f.Now.Add(Horizon), w.Settle); err != nil {
		return o, nil, fmt.Errorf("rehearse: %w", err)
	}
	o.stays = Stays(w.Store().List("Cluster"))
	return o, without, nil
}

// Stays tells of the clusters that are not Ready and from which nothing evicts their workloads, one line each.
func Stays(objects []api.Object) (lines []string) {
	for _, o := range objects {
		if c, ok := o.(*api.Cluster); ok && c.Status.WorkloadsStay != "" {
			f := &messages.WorkloadsStay{Cluster: messages.ClusterName(c.Name), Reason: c.Status.WorkloadsStay}
			lines = append(lines, journal.Tell(time.Time{}, f).Text())
		}
	}
	slices.Sort(lines)
	return lines
}

func (o *played) hear(at time.Time, f messages.Fact) {
	o.failovers.Take(at, f, o.step)
	switch f := f.(type) {
	case *messages.ScheduleFailed:
		o.note(f.Binding, f.Reason, f.Message)
	case *messages.Scheduled:
		delete(o.unschedulable, f.Binding)
	}
}

func (o *played) step(_ time.Time, s failover.Step, f *failover.Failover) {
	switch s {
	case failover.Blocked:
		o.note(f.Binding, f.BlockedBy.Reason, f.BlockedBy.Message)
	case failover.Evicted:
		if o.evictions[f.Key] == nil {
			o.evictions[f.Key] = f
		}
		delete(o.unschedulable, f.Binding)
	case failover.Cancelled:
		delete(o.unschedulable, f.Binding)
	}
}

// note notes a binding that no cluster can take, if the reason says so.
func (o *played) note(b messages.BindingName, reason, message string) {
	switch reason {
	case api.ReasonNoClusterFit, api.ReasonUnschedulable, api.ReasonQuotaExceeded, api.ReasonSchedulerError:
		o.unschedulable[b] = message
	}
}

// status tells what happened, but for what happens without the changes, too.
func (o *played) status(without *played) *api.FailoverPreviewStatus {
	s := &api.FailoverPreviewStatus{Warnings: o.stays}
	moved := map[messages.BindingName]bool{}
	for key, f := range o.evictions { // sorted below
		if without != nil && without.evictions[key] != nil && without.evictions[key].Evicted.Equal(f.Evicted) {
			continue
		}
		s.Evictions = append(s.Evictions, previewed(f))
		moved[f.Binding] = true
	}
	slices.SortFunc(s.Evictions, func(a, b api.PreviewedEviction) int {
		return cmp.Or(a.At.Compare(b.At.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.FromCluster, b.FromCluster))
	})
	s.Evicted = int32(len(moved))
	for _, b := range slices.Sorted(maps.Keys(o.unschedulable)) {
		if without != nil && without.unschedulable[b] != "" {
			continue
		}
		if s.Unschedulable++; s.Unschedulable <= mostNamed {
			namespace, name := b.Split()
			s.UnschedulableBindings = append(s.UnschedulableBindings, api.UnschedulableBinding{Namespace: namespace, Name: name, Message: o.unschedulable[b]})
		}
	}
	return s
}

// mostNamed is how many bindings that no cluster would take an answer names; all are counted.
const mostNamed = 100

func previewed(f *failover.Failover) api.PreviewedEviction {
	namespace, name := f.Binding.Split()
	return api.PreviewedEviction{
		Namespace: namespace, Name: name, FromCluster: string(f.Cluster), ToClusters: f.To,
		At: metav1.MicroTime{Time: f.Evicted}, Message: journal.Tell(time.Time{}, f.Eviction).Text(),
	}
}
