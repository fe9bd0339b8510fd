package main

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/uuid"

	"leeward/runtime/daemon/leadership"
)

// lookAfter looks after the fleet until the context is done. Where the store is this daemon's own, the machines are made
// immediately, while the API is served: those of a large fleet take seconds. Where it is shared, they are whenever this
// daemon leads. In shadow they need not lead.
func (d *daemon) lookAfter(ctx context.Context) error {
	if d.alone() {
		return d.supervise(ctx)
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("name this daemon: %w", err)
	}
	d.log.Info().Msg("started")
	own := host + "_" + string(uuid.NewUUID())
	return d.share(ctx, &leadership.Candidate{
		Engine: d.engine, Clock: d.clock, Timing: d.started.election, Identity: own, Lead: d.lead,
		Leader: func(who string) {
			d.log.Info().Str("leader", who).Msg("leader")
			if who != own {
				d.machines.follow(ctx)
			}
		},
	})
}

// alone reports whether the machines of this daemon act whatever other daemon runs.
func (d *daemon) alone() bool { return d.etcd == nil || d.started.shadow }

func (d *daemon) supervise(ctx context.Context) error {
	began, s := d.clock.Now(), d.supervisor(0)
	first, err := s.start(ctx)
	if isStopped(ctx, err) {
		return nil
	}
	if err != nil {
		return err
	}
	d.metrics.Leads(!d.started.shadow)
	d.log.Info().Stringer("took", d.clock.Now().Sub(began)).Msg("started")
	return d.runAll(ctx, 0, s, first)
}

// runAll runs the machines of the fleet, those of nodes and pods where there are any, and the agents of clusters in push mode, until
// one of the machines ends.
func (d *daemon) runAll(ctx context.Context, term int64, s *supervisor, first func(context.Context) error) error {
	ctx, end := context.WithCancel(ctx)
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error {
		defer end()
		return s.run(ctx, first)
	})
	if d.nodes != nil {
		parts.Go(func() error {
			defer end()
			return d.superviseNodes(ctx, term)
		})
	}
	if !d.started.shadow {
		parts.Go(func() error {
			d.pusher.Run(ctx)
			return nil
		})
	}
	return parts.Wait()
}

// superviseNodes keeps the machines of nodes and pods at work.
func (d *daemon) superviseNodes(ctx context.Context, term int64) error {
	s := &supervisor{
		clock: d.clock, log: d.log, restarted: d.metrics.Restarted, quarantine: &quarantine{clock: d.clock, log: d.log, changed: d.metrics.Quarantined},
		start: func(ctx context.Context) (func(context.Context) error, error) { return d.nodes.start(ctx, term) },
	}
	first, err := s.start(ctx)
	if err != nil {
		first = func(context.Context) error { return err }
	}
	return s.run(ctx, first)
}

// share campaigns for leadership, and keeps the shared store in order meanwhile.
func (d *daemon) share(ctx context.Context, c *leadership.Candidate) error {
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return c.Run(ctx) })
	if every := d.started.etcdCompaction; every > 0 {
		parts.Go(func() error { return d.etcd.KeepCompacted(ctx, every) })
	}
	defer d.machines.followNo(false)
	return parts.Wait()
}

// follow ends where the shared store cannot be followed any more, and says why.
func (d *daemon) follow(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-d.engine.Lost():
		return d.engine.Health()
	}
}

// lead has the machines decide for one term.
func (d *daemon) lead(ctx context.Context, term int64) error {
	d.log.Info().Int64("term", term).Msg("this daemon leads")
	d.metrics.Leads(true)
	defer func() {
		d.machines.rest()
		d.metrics.Leads(false)
		d.log.Info().Int64("term", term).Msg("this daemon leads no longer")
	}()
	s := d.supervisor(term)
	first, err := s.start(ctx)
	if err != nil {
		first = func(context.Context) error { return err }
	}
	return d.runAll(ctx, term, s, first)
}

// supervisor keeps machines at work that decide in a term.
func (d *daemon) supervisor(term int64) *supervisor {
	return &supervisor{
		clock: d.clock, log: d.log, restarted: d.metrics.Restarted, quarantine: &d.machines.quarantine,
		start: func(ctx context.Context) (func(context.Context) error, error) { return d.machines.start(ctx, term) },
	}
}
