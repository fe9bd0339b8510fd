package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/engine"
	"leeward/runtime/engine/wal"
	"leeward/runtime/kubeapi"
	"leeward/runtime/live"
	"leeward/runtime/rehearsal"
)

// daemon is a store, the API that people and agents write to it by, and the machines that look after what they
// write.
type daemon struct {
	clock    clock.Clock
	log      zerolog.Logger
	settings atomic.Pointer[messages.Settings]
	engine   *engine.Engine
	fleet    live.Config
	server   *kubeapi.Server
}

// newDaemon opens the store and listens. Whoever makes it must run it.
func newDaemon(f *flags, settings *messages.Settings, log zerolog.Logger) (*daemon, error) {
	d := &daemon{clock: clock.New(), log: log}
	d.settings.Store(settings)
	var err error
	d.engine, err = engine.Open(engine.Config{
		Resources: kubeapi.Resources(), Clock: d.clock, Dir: filepath.Join(f.dataDir, "store"), WAL: wal.Options{Log: log},
	})
	if err != nil {
		return nil, err
	}
	d.fleet = live.Config{
		Engine: d.engine, Settings: *settings, Lanes: runtime.GOMAXPROCS(0), Clock: d.clock, Log: log, Shadow: f.shadow,
	}
	d.server, err = kubeapi.New(kubeapi.Config{
		Engine: d.engine, DataDir: f.dataDir, Addr: f.address(), Expose: f.expose, Hosts: f.hosts,
		Logger: log, Clock: d.clock, Settings: d.settings.Load, Preview: d.preview, Answer: d.answer,
	})
	if err != nil {
		return nil, errors.Join(err, d.engine.Close())
	}
	return d, nil
}

// run looks after the fleet and serves its API until the context is done.
func (d *daemon) run(ctx context.Context, out io.Writer) error {
	fleet, err := live.Open(d.fleet)
	if err != nil {
		return errors.Join(err, d.engine.Close())
	}
	if _, err := fmt.Fprintf(out, "listening on https://%s\nexport KUBECONFIG=%s\n", d.server.Addr(), d.server.KubeconfigFile()); err != nil {
		return errors.Join(err, d.engine.Close())
	}
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return fleet.Run(ctx) })
	parts.Go(func() error { return d.server.Run(ctx) })
	return errors.Join(parts.Wait(), d.engine.Close())
}

// preview warns of what a write would lead to.
func (d *daemon) preview(ctx context.Context, o, old api.Object) []string {
	return d.fleet.Warnings(ctx, *d.settings.Load(), o, old)
}

// answer fills in a preview that somebody asks for.
func (d *daemon) answer(ctx context.Context, p *api.FailoverPreview) error {
	changes, err := rehearsal.Of(&p.Spec)
	if err != nil {
		return err
	}
	status, err := d.fleet.Rehearsal(*d.settings.Load()).Play(ctx, changes...)
	if err != nil {
		return err
	}
	p.Status = *status
	return nil
}
