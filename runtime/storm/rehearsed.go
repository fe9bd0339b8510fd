package storm

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/world"
	"leeward/runtime/kernel"
)

// rehearsed is the ground of machines alone: a world on a virtual clock, whose members are simulated.
type rehearsed struct {
	*Storm
	virtual
}

// virtual is a world on a virtual clock, and the clocks of its storm.
type virtual struct {
	clocks *clocks
	world  *world.World
}

func (v *virtual) settle(at time.Time) error {
	v.clocks.enter(at)
	if err := v.world.Settle(at); err != nil {
		return fmt.Errorf("run the storm: %w", err)
	}
	return nil
}

// play makes changes, each at its time, and lets all come to its end that follows from them.
func (v *virtual) play(ctx context.Context, changes []readiness, change func(name string, ready bool) error) error {
	for _, c := range changes {
		at := v.clocks.start.Add(c.after)
		if err := v.world.EachDue(ctx, at.Add(-1), v.settle); err != nil {
			return err
		}
		for _, name := range c.of {
			if err := change(name, c.ready); err != nil {
				return err
			}
		}
		if err := v.settle(at); err != nil {
			return err
		}
	}
	return v.world.EachDue(ctx, v.clocks.start.Add(limit), v.settle)
}

// lead is how long the fleet runs undisturbed before the storm, so that nothing of its beginning is still due.
const lead = time.Hour

// limit is how long a storm may take the fleet.
const limit = 24 * time.Hour

func newRehearsed(s *Storm) *rehearsed {
	return &rehearsed{s, virtual{&s.clocks, world.New(world.Config{
		Settings: s.settings, Seed: s.config.Seed, Lanes: s.config.Lanes, Members: s.config.members(), Clock: s.config.Clock,
		Observe: func(from kernel.Seat, now time.Time, f messages.Fact) {
			s.lanes[from.Lane].observe(from.Number, now, f)
		},
	})}}
}

func (r *rehearsed) build(context.Context) error {
	if err := r.populate(); err != nil {
		return err
	}
	return r.settle(world.Start)
}

// populate applies what the fleet consists of. A fleet of manifests without a ClusterTaintPolicy gets the storm's own, or
// else nothing would ever leave a failed cluster.
func (r *rehearsed) populate() error {
	m := r.config.Manifests
	if m == nil {
		return r.config.Fleet.build(r.world)
	}
	if err := r.world.ApplyAll(m.Objects); err != nil {
		return &Invalid{err}
	}
	if len(r.world.Store().List("ClusterTaintPolicy")) == 0 {
		return r.world.Apply(taintPolicy())
	}
	return nil
}

func (r *rehearsed) calm(ctx context.Context) (time.Time, error) {
	first := world.Start.Add(lead)
	return first, r.world.EachDue(ctx, first.Add(-1), r.settle)
}

func (r *rehearsed) play(ctx context.Context, changes []readiness) error {
	return r.virtual.play(ctx, changes, func(name string, ready bool) error {
		r.world.TellCluster(messages.ClusterName(name), &messages.ConditionReported{
			Type: api.ConditionReady, Status: statusOf(ready), Reason: "Storm", Message: "a storm says so",
		})
		return nil
	})
}

// statusOf is the status of the condition Ready.
func statusOf(ready bool) metav1.ConditionStatus {
	if ready {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

func (r *rehearsed) clusters() []api.Object { return r.world.Store().List("Cluster") }
func (r *rehearsed) now() time.Time         { return r.world.Now() }
func (r *rehearsed) backlog() uint64        { return r.world.Backlog() }
func (r *rehearsed) interrupt()             { r.world.Interrupt() }
func (r *rehearsed) close()                 { r.world.Close() }

func (r *rehearsed) use() (kernel.Counters, [messages.Kinds]kernel.Spent) {
	return r.world.Counters(), r.world.Spent()
}
