package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"leeward/cmd/internal/logging"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/client/push"
	"leeward/runtime/daemon/build"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
	"leeward/runtime/daemon/etcd"
	"leeward/runtime/daemon/hugepages"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/daemon/live"
	"leeward/runtime/daemon/nodes"
	"leeward/runtime/daemon/telemetry"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/world"
)

// daemon is a store, the API that people and agents write to it by, and the machines that look after what they
// write.
type daemon struct {
	clock    clock.Clock
	log      zerolog.Logger
	line     *commandLine
	started  *configuration
	metrics  *telemetry.Metrics
	decided  *decisions
	etcd     *etcd.Store // nil: the store is a folder
	memory   *memory
	engine   *engine.Engine
	machines machines
	nodes    *nodeMachines // nil: there are none
	server   *kubeapi.Server
	pusher   *push.Pusher
}

// newDaemon opens the store and listens. The caller must run it.
func newDaemon(line *commandLine, c *configuration, log zerolog.Logger) (*daemon, error) {
	d := &daemon{clock: clock.New(), log: log, line: line, started: c}
	d.metrics = telemetry.New(telemetry.Config{Clock: d.clock, Build: build.Of(debug.ReadBuildInfo()), StoreDir: c.storeDir()})
	logging.HearLibraries(log) // also that etcd cannot be reached
	err := d.openStore(c)
	if err != nil {
		return nil, err
	}
	d.decided, err = newDecisions(c.dataDir, c.shadow, d.clock.Now().UTC(), log)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the record of decisions: %w", err), d.engine.Close())
	}
	d.machines.recorded = d.decided.recorded
	d.machines.metrics, d.machines.always = d.metrics, d.alone()
	d.machines.settings.Store(&c.settings)
	d.machines.quarantine = quarantine{clock: d.clock, log: log, changed: d.metrics.Quarantined}
	d.machines.config = live.Config{
		Engine: d.engine, Seed: world.DaemonSeed, Lanes: runtime.GOMAXPROCS(0), Clock: d.clock, Log: log, Hear: d.hear, Decided: d.decided.decided, Started: d.memory.settle, Broken: d.metrics.Broken, Shadow: c.shadow,
		StepLimit: c.machineStepLimit, Unmonitored: !c.invariantMonitor,
	}
	if c.nodes {
		d.nodes = &nodeMachines{
			config: nodes.Config{
				Engine: d.engine, Seed: world.DaemonSeed, Clock: d.clock, Log: log, Hear: d.metrics.HearNodes, Shadow: c.shadow,
			},
			settings: &d.machines.settings, metrics: d.metrics, changed: make(chan struct{}, 1),
		}
	}
	d.machines.rest()
	d.server, err = kubeapi.New(kubeapi.Config{
		Engine: d.engine, DataDir: c.dataDir, Addr: c.address(), Expose: c.expose, Hosts: c.tlsHosts, Logger: log, Clock: d.clock,
		ServingCert: c.tlsCert, ServingKey: c.tlsKey, ClientCA: c.clientCA, Authentication: c.authentication,
		Settings: d.machines.settings.Load, Preview: d.preview, Answer: d.answer, Metrics: d.metrics.Gatherer(), Ready: d.machines.ready,
		Page: d.page(), Member: c.member(),
	})
	if err != nil {
		return nil, errors.Join(err, d.engine.Close())
	}
	d.pusher = d.newPusher()
	return d, nil
}

// openStore opens the folder of this daemon, or etcd.
func (d *daemon) openStore(c *configuration) (err error) {
	var more []*catalog.Resource
	if c.nodes {
		more = catalog.OfNodes
	}
	e := engine.Config{Resources: engine.Tables(more...), Clock: d.clock, Committed: d.metrics.Committed}
	if d.etcd, err = c.openEtcd(d.clock); err != nil {
		return err
	}
	if d.etcd != nil {
		e.Shared = d.etcd
	} else {
		e.Dir, e.WAL = c.storeDir(), wal.Options{Log: d.log}
	}
	d.memory = hurry(e.Dir, hugepages.Wanted(c.hugePages))
	if d.engine, err = engine.Open(e); err == nil {
		d.memory.opened(forMachines(d.engine))
	}
	return err
}

// forMachines counts the objects that machines look after. Events they only write.
func forMachines(e *engine.Engine) (n int) {
	for i := range catalog.All {
		if r := &catalog.All[i]; r != catalog.Events {
			n += e.Table(r.Name()).Len()
		}
	}
	for _, r := range catalog.OfNodes {
		if table := e.Table(r.Name()); table != nil {
			n += table.Len()
		}
	}
	return n
}

// run looks after the fleet and serves its API until the context is done, and reads the configuration again at each
// signal to reload. What was under way is then finished, and the store closed.
func (d *daemon) run(ctx context.Context, out io.Writer, reload <-chan os.Signal) error {
	if _, err := fmt.Fprintf(out, "listening on https://%s\nexport KUBECONFIG=%s\n", d.server.Addr(), d.server.KubeconfigFile()); err != nil {
		return errors.Join(err, d.engine.Close())
	}
	forget, err := d.started.noteAddress(d.server.Addr())
	if err != nil {
		return errors.Join(err, d.engine.Close())
	}
	d.log.Info().Str("profile", d.started.profile).Bool("shadow", d.started.shadow).Str("address", d.server.Addr()).Msg("listening")
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return d.lookAfter(ctx) })
	parts.Go(func() error { return d.follow(ctx) })
	parts.Go(func() error { return d.server.Run(ctx) })
	parts.Go(func() error { return d.reloads(ctx, reload) })
	parts.Go(func() error { d.memory.keep(ctx, d.clock); return nil })
	err = errors.Join(parts.Wait(), forget(), d.decided.close(), d.engine.Close())
	d.log.Info().Err(err).Msg("stopped")
	return err
}

// hear takes a fact of the machines.
func (d *daemon) hear(_ time.Time, f messages.Fact, _ journal.Phrase) { d.metrics.Hear(f) }

// preview warns of what a write would lead to.
func (d *daemon) preview(ctx context.Context, o, old api.Object) []string {
	if warnings, known := d.nodes.warnings(ctx, o, old); known {
		return warnings
	}
	return d.machines.config.Warnings(ctx, *d.machines.settings.Load(), o, old)
}

// answer fills in a preview that a client asks for.
func (d *daemon) answer(ctx context.Context, p *api.FailoverPreview) error {
	status, err := d.machines.config.Preview(ctx, *d.machines.settings.Load(), &p.Spec)
	if err != nil {
		return err
	}
	p.Status = *status
	return nil
}
