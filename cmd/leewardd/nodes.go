package main

import (
	"context"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/nodes"
	"leeward/runtime/daemon/telemetry"
)

// nodeMachines are those that look after nodes and pods: one set after another, where they fail, or settings change.
type nodeMachines struct {
	config   nodes.Config
	settings *atomic.Pointer[messages.Settings]
	metrics  *telemetry.Metrics
	// changed has an item when there may be new settings.
	changed chan struct{}
}

// govern has the settings hold that are in force from now on: machines are made again with them. No deadline is lost, for each is computed
// from what is stored.
func (m *nodeMachines) govern() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// start makes machines of what is stored, which decide in a term; 0 where the store is this daemon's own.
func (m *nodeMachines) start(_ context.Context, term int64) (run func(context.Context) error, err error) {
	controller, err := m.open(term)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		defer m.metrics.ForgetNodes()
		for {
			err := m.runUntilChanged(ctx, controller)
			if err != nil || ctx.Err() != nil {
				return err
			}
			if controller, err = m.open(term); err != nil {
				return err
			}
		}
	}, nil
}

func (m *nodeMachines) open(term int64) (*nodes.Controller, error) {
	m.metrics.ForgetNodes()
	c := m.config
	c.Settings, c.Term = *m.settings.Load(), term
	return nodes.Open(c)
}

// runUntilChanged runs machines until the context is done, they fail, or there are new settings.
func (m *nodeMachines) runUntilChanged(ctx context.Context, c *nodes.Controller) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-ctx.Done():
		case <-m.changed:
			cancel()
		}
	}()
	return c.Run(ctx)
}

// warnings tell users what a write of a node would lead to; known is false where it is not one of a node.
func (m *nodeMachines) warnings(ctx context.Context, o, old api.Object) (warnings []string, known bool) {
	node, known := o.(*corev1.Node)
	if !known || m == nil {
		return nil, false
	}
	before, _ := old.(*corev1.Node)
	return m.config.Warnings(ctx, *m.settings.Load(), node, before), true
}
