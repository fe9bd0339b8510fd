package main

import (
	"context"
	"os"

	"github.com/spf13/pflag"

	"leeward/runtime/fleet/config"
)

// reloads reads the configuration again at each signal.
func (d *daemon) reloads(ctx context.Context, signals <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-signals:
			d.reload(ctx)
		}
	}
}

// reload has what changed in the configuration hold, as far as a daemon that runs can. One with a mistake in it changes
// nothing.
func (d *daemon) reload(ctx context.Context) {
	next, err := d.line.read()
	d.metrics.Reloaded(err == nil)
	if err != nil {
		d.log.Error().Err(err).Msg("configuration refused: nothing changes")
		return
	}
	setLogLevel(&next.options)
	before := d.machines.settings.Load()
	if changes := config.Changes(before, &next.settings); len(changes) > 0 && !d.machines.govern(ctx, &next.settings) {
		return // the daemon ends
	} else if len(changes) > 0 && d.nodes != nil {
		d.nodes.govern()
	}
	d.pusher.Renew()
	d.log.Info().Strs("restartFor", d.restartFor(next)).Msg("configuration read again")
}

// restartFor are the options that a configuration has otherwise than the daemon was started with, and that count from
// its next start on.
func (d *daemon) restartFor(next *configuration) (fields []string) {
	next.flags.VisitAll(func(flag *pflag.Flag) {
		field := config.FieldOf(flag.Name)
		if field != "logLevel" && field != "profile" && flag.Value.String() != d.started.flags.Lookup(flag.Name).Value.String() {
			fields = append(fields, field)
		}
	})
	return fields
}
