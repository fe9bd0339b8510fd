package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/kernel"
)

// So many failures of the machines within such a time end the daemon: one that is started later, or another version,
// may fare better.
const (
	tooManyFailures = 5
	failuresWithin  = time.Minute
)

// supervisor keeps the machines at work.
type supervisor struct {
	clock clock.Clock
	log   zerolog.Logger
	// start makes machines of what is stored, and returns what runs them until the context is done.
	start func(context.Context) (run func(context.Context) error, err error)
	// restarted hears that they were built again.
	restarted func()
	// quarantine keeps out those whose steps do not return.
	quarantine *quarantine
}

// run runs machines, and builds them again where one of them fails: what they decided is stored, and nothing else
// matters. A store that is read-only stops them for good, while others still read it; one that is shared ends their term
// when it does not take what they decide.
func (s *supervisor) run(ctx context.Context, run func(context.Context) error) error {
	var failures []time.Time
	for {
		err := run(ctx)
		if err == nil {
			return nil
		}
		for err != nil {
			if isStopped(ctx, err) {
				return nil
			}
			if readOnly := new(engine.ReadOnly); errors.As(err, &readOnly) {
				s.log.Error().Err(err).Msg("the machines are stopped: nothing can be written")
				<-ctx.Done()
				return nil
			}
			if errors.As(err, new(*engine.Deposed)) || errors.As(err, new(*engine.Unreachable)) {
				s.log.Warn().Err(err).Msg("the machines are stopped: they decide again once this daemon leads")
				return nil
			}
			if !s.quarantine.hear(err) {
				s.tell(err)
				now := s.clock.Now()
				failures = append(slices.DeleteFunc(failures, func(at time.Time) bool { return now.Sub(at) >= failuresWithin }), now)
				if len(failures) == tooManyFailures {
					return fmt.Errorf("the machines failed %d times within %s: %w", len(failures), failuresWithin, err)
				}
			}
			s.restarted()
			run, err = s.start(ctx)
		}
	}
}

// isStopped reports whether machines were not made, or given up, because the daemon ends, or leads no more.
func isStopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
}

// tell logs what failed, with the stack of a machine.
func (s *supervisor) tell(err error) {
	event := s.log.Error().Err(err)
	if panicked := new(kernel.MachinePanic); errors.As(err, &panicked) {
		event.Stringer("machine", panicked.Address).Bytes("stack", panicked.Stack)
	}
	event.Msg("the machines failed, and are recreated from the stored objects")
}
