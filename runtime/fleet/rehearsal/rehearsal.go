// Package rehearsal answers what would happen: it plays a change on a copy of a fleet, on a virtual clock, with the
// machines that would decide for real, and says who would leave which cluster, when, for where and why. Members are
// simulated there: a new copy serves immediately.
package rehearsal

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/messages/manifest"
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
	edits := lists.Of(taints, func(t corev1.Taint) messages.TaintEdit { return messages.TaintEdit{Taint: t} })
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
func (f *Fleet) Play(ctx context.Context, changes ...Edit) (*Prediction, error) {
	with, without, err := f.play(ctx, changes)
	if err != nil {
		return nil, err
	}
	switch {
	case with.quiet():
		without = NewOutcome()
	case without == nil:
		if without, err = f.undisturbed(ctx); err != nil {
			return nil, err
		}
	}
	p := with.Beyond(without, f.Now)
	p.Stays = with.stays
	return &p, nil
}

// undisturbed is what the fleet comes to without any change.
func (f *Fleet) undisturbed(ctx context.Context) (*Outcome, error) {
	o, _, err := f.play(ctx, nil)
	if err != nil {
		return nil, err
	}
	return o.Outcome, nil
}

// played is what a run came to, and the clusters that are not Ready in the end and from which nothing evicts.
type played struct {
	*Outcome
	stays []string
}

// play runs a copy of the fleet until nothing more is due, or the horizon. It tells, too, what it would come to without the
// changes, where that is known by the time that they are made: nothing is due then.
func (f *Fleet) play(ctx context.Context, changes []Edit) (o *played, without *Outcome, err error) {
	o = &played{Outcome: NewOutcome()}
	w := world.New(world.Config{Settings: f.Settings, Seed: f.Seed, Start: f.Now, Hear: o.Hear})
	defer w.Close()
	objects := lists.Of(f.Objects, api.Shallow)
	if f.Settings.CapacityReservation {
		store.WithoutOwn(objects)
	}
	w.Load(store.WithoutRows(objects))
	w.Recover()
	if err := w.Settle(f.Now); err != nil {
		return o, nil, err
	}
	if _, due := w.Next(); !due {
		without = o.Rested()
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
func Stays[O api.Object](objects []O) (lines []string) {
	for _, o := range objects {
		if c, ok := any(o).(*api.Cluster); ok && c.Status.WorkloadsStay != "" {
			f := &messages.WorkloadsStay{Cluster: messages.ClusterName(c.Name), Reason: c.Status.WorkloadsStay}
			lines = append(lines, journal.Tell(time.Time{}, f).Text())
		}
	}
	slices.Sort(lines)
	return lines
}
