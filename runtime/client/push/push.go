// Package push acts for the clusters whose credentials the hub has (push mode): it runs the agent of each in this process, apart from
// the others, as long as its Cluster and its Secret say so.
package push

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/client/agent"
	"leeward/runtime/client/credentials"
	"leeward/runtime/fleet/catalog"
)

// Config says how clusters are acted for.
type Config struct {
	// Hub makes a client that reads Clusters and Secrets and reports on Clusters, and Agent what the agent of a cluster needs at the hub.
	// Both are asked again before what they return expires.
	Hub   func() (*client.Client, error)
	Agent func(cluster string) (*rest.Config, error)
	Clock clock.Clock
	Log   zerolog.Logger
	// Metrics gets those of each agent, with the label cluster.
	Metrics prometheus.Registerer
	// Pace is how agents look at their members.
	Pace func() Pace
	// Timeout bounds each request, but for watches.
	Timeout time.Duration
	// Workers is how many Works of one cluster are applied at the same time, and Most how many clusters are acted for.
	Workers, Most int
}

// Pace is how often a member is probed, and for how long probes must fail, or succeed, before Ready changes.
type Pace struct{ Heartbeat, Failure, Success time.Duration }

// The waits of a process that lives long.
const (
	// renewAfter is when what identifies agents at the hub is renewed.
	renewAfter = 30 * 24 * time.Hour
	// againAfter is when an agent begins again that cannot act.
	againAfter = time.Minute
	// firstAgain is when an agent that panicked begins again; each next time twice as late, up to againAfter.
	firstAgain = time.Second
)

// Pusher runs the agents.
type Pusher struct {
	Config

	mu       sync.Mutex
	ctx      context.Context // of Run; agents end with it
	clusters map[string]*api.Cluster
	// secrets are those of the namespace of credentials; nil until they are known.
	secrets map[string]*corev1.Secret
	sites   map[string]*site
	running sync.WaitGroup
}

// New returns a pusher that acts for no cluster yet.
func New(c Config) *Pusher { return &Pusher{Config: c} }

// Run acts for clusters until the context ends, and returns when no agent runs any more.
func (p *Pusher) Run(ctx context.Context) {
	p.begin(ctx)
	var following sync.WaitGroup
	following.Go(func() { p.follow(ctx, catalog.Secrets, credentials.Namespace, p.listedSecrets, p.secretChanged) })
	following.Go(func() { p.follow(ctx, catalog.Clusters, "", p.listedClusters, p.clusterChanged) })
	following.Wait()
	p.running.Wait()
	p.mu.Lock()
	p.clusters = nil
	p.mu.Unlock()
}

func (p *Pusher) begin(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ctx, p.clusters, p.secrets, p.sites = ctx, map[string]*api.Cluster{}, nil, map[string]*site{}
}

// Renew has agents look at their members at another pace, if it is one.
func (p *Pusher) Renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(p.clusters)) {
		p.decide(name)
	}
}

// follow tells of objects until the context ends.
func (p *Pusher) follow(ctx context.Context, r *catalog.Resource, namespace string, listed func([]api.Object), changed func(watch.EventType, api.Object)) {
	var patience client.Patience
	for ctx.Err() == nil {
		period, cancel := p.Clock.WithTimeout(ctx, renewAfter)
		hub, err := p.Hub()
		if err == nil {
			err = hub.Follow(period, &client.Watching{
				Resource: r, Namespace: namespace, Clock: p.Clock, Listed: listed, Changed: changed,
				Lost: func(err error) { p.Log.Warn().Err(err).Str("resource", r.Plural).Msg("cannot be followed") },
			})
		}
		cancel()
		if err != nil && ctx.Err() == nil {
			p.Log.Error().Err(err).Str("resource", r.Plural).Msg("may not be followed")
			patience.Wait(ctx, p.Clock)
		}
	}
}

func (p *Pusher) listedClusters(all []api.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.clusters
	p.clusters = map[string]*api.Cluster{}
	for _, o := range all {
		if c := o.(*api.Cluster); credentials.Pushed(c) {
			p.clusters[c.Name] = c
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if p.clusters[name] == nil {
			p.decide(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.clusters)) {
		p.decide(name)
	}
}

func (p *Pusher) clusterChanged(kind watch.EventType, o api.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := o.(*api.Cluster); kind != watch.Deleted && credentials.Pushed(c) {
		p.clusters[c.Name] = c
	} else if p.clusters[c.Name] == nil {
		return
	} else {
		delete(p.clusters, c.Name)
	}
	p.decide(o.GetName())
}

func (p *Pusher) listedSecrets(all []api.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secrets = map[string]*corev1.Secret{}
	for _, o := range all {
		p.secrets[o.GetName()] = o.(*corev1.Secret)
	}
	for _, name := range slices.Sorted(maps.Keys(p.clusters)) {
		p.decide(name)
	}
}

func (p *Pusher) secretChanged(kind watch.EventType, o api.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kind == watch.Deleted {
		delete(p.secrets, o.GetName())
	} else {
		p.secrets[o.GetName()] = o.(*corev1.Secret)
	}
	for _, name := range slices.Sorted(maps.Keys(p.clusters)) {
		if p.clusters[name].Spec.SecretRef.Name == o.GetName() {
			p.decide(name)
		}
	}
}

// ConditionAgentRunning of a Cluster in push mode is False while its agent keeps panicking. A cluster whose agent never did has no
// such condition.
const ConditionAgentRunning = "AgentRunning"

var running = metav1.Condition{Type: ConditionAgentRunning, Status: metav1.ConditionTrue, Reason: "AgentRuns", Message: "the agent has run for a minute since it panicked"}

// panicked tells of a panic, and waits before the agent begins again.
func (s *site) panicked(ctx context.Context, p *agent.Panic) {
	wait := min(firstAgain<<min(s.panics, 6), againAfter)
	s.panics++
	s.Log.Error().Str("cluster", s.name).Err(p).Bytes("stack", p.Stack).Dur("wait", wait).Msg("the agent panicked, and begins again")
	s.report(ctx, metav1.Condition{Type: ConditionAgentRunning, Status: metav1.ConditionFalse, Reason: "AgentPanicked", Message: p.Error()[:min(len(p.Error()), longestMessage)]})
	s.wait(ctx, wait)
}

// longestMessage bounds what a condition says of a panic.
const longestMessage = 1024

// report gives the Cluster a condition, and reports whether that changed it.
func (s *site) report(ctx context.Context, is metav1.Condition) (changed bool) {
	ctx, cancel := s.Clock.WithTimeout(ctx, againAfter)
	defer cancel()
	err := retry.OnError(retry.DefaultBackoff, func(err error) bool { return ctx.Err() == nil && !client.Refused(err) }, func() error {
		hub, err := s.Hub()
		if err != nil {
			return err
		}
		o, err := hub.Get(ctx, catalog.Clusters, "", s.name)
		if err != nil {
			return err
		}
		conditions := o.(*api.Cluster).Status.Conditions
		is.LastTransitionTime = metav1.NewTime(s.Clock.Now().UTC())
		if changed = meta.SetStatusCondition(&conditions, is); !changed {
			return nil
		}
		return hub.Patch(ctx, &client.Patch{Resource: catalog.Clusters, Name: s.name, Subresource: "status", Body: map[string]any{
			"metadata": map[string]any{"resourceVersion": o.GetResourceVersion()}, "status": map[string]any{"conditions": conditions},
		}})
	})
	if err != nil && ctx.Err() == nil {
		s.Log.Warn().Str("cluster", s.name).Err(err).Msg("hub does not take reports")
	}
	return changed
}
