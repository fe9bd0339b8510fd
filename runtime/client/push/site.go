package push

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"leeward/messages/api"
	"leeward/runtime/client/agent"
	"leeward/runtime/client/credentials"
)

// site is one cluster that is acted for, by one goroutine: whatever its member does, no other waits for it.
type site struct {
	*Pusher
	name string
	// want is what the goroutine does next; nil: it ends. It is guarded by the mutex of the pusher.
	want    *order
	changed chan struct{}
	// panics counts those of the agent since it last ran for againAfter.
	panics int
}

// order is what to do for a cluster.
type order struct {
	uid    types.UID
	id     string
	pace   Pace
	member *credentials.Member
	// problem is why nothing can be done; then there is no member.
	problem error
}

func (o *order) same(other *order) bool {
	if o == nil || other == nil {
		return o == other
	}
	if o.uid != other.uid || o.id != other.id || o.pace != other.pace || (o.problem == nil) != (other.problem == nil) {
		return false
	}
	if o.problem != nil {
		return o.problem.Error() == other.problem.Error()
	}
	return o.member.Same(other.member)
}

// decide has a cluster acted for as its objects say now. The mutex is held.
func (p *Pusher) decide(name string) {
	if p.secrets == nil {
		return // decided once they are known
	}
	s, want := p.sites[name], p.order(name)
	switch {
	case s == nil && want == nil:
		return
	case s == nil:
		s = &site{Pusher: p, name: name, changed: make(chan struct{}, 1)}
		p.sites[name] = s
		p.running.Go(s.run)
	case s.want.same(want):
		return
	}
	freed := s.want != nil && s.want.problem == nil && (want == nil || want.problem != nil)
	s.want = want
	select {
	case s.changed <- struct{}{}:
	default:
	}
	if freed {
		p.admitWaiting()
	}
}

// admitWaiting looks again at clusters that there were too many of.
func (p *Pusher) admitWaiting() {
	for name, s := range p.sites { // order-free: any that waits may be next
		if s.want != nil && errors.Is(s.want.problem, errTooMany) {
			p.decide(name)
			return
		}
	}
}

var errTooMany = errors.New("too many clusters are in push mode: this one is not acted for until another is removed, or has an agent (pull mode)")

// order is what the objects of a cluster ask for; nil: nothing.
func (p *Pusher) order(name string) *order {
	c := p.clusters[name]
	if c == nil {
		return nil
	}
	o := &order{uid: c.UID, id: c.Spec.ID, pace: p.Pace()}
	secret := p.secrets[c.Spec.SecretRef.Name]
	s := p.sites[name]
	acts := s != nil && s.want != nil && s.want.problem == nil
	if secret == nil && c.DeletionTimestamp != nil && acts {
		return s.want // its Works are deleted by the credentials that there were
	}
	if o.member, o.problem = credentials.Read(c, secret); o.problem == nil && !acts && p.acting() >= p.Most {
		o.member, o.problem = nil, errTooMany
	}
	return o
}

// acting counts the clusters that are acted for.
func (p *Pusher) acting() (n int) {
	for _, s := range p.sites { // order-free: a count
		if s.want != nil && s.want.problem == nil {
			n++
		}
	}
	return n
}

// next returns what to do now; nil: the site has ended.
func (s *site) next() *order {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.changed: // this is what it told of
	default:
	}
	if s.want == nil {
		delete(s.sites, s.name)
	}
	return s.want
}

// run does one thing after the other, until there is nothing to do for the cluster.
func (s *site) run() {
	for s.ctx.Err() == nil {
		o := s.next()
		if o == nil {
			return
		}
		ctx, cancel := context.WithCancel(s.ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.act(ctx, o)
		}()
		select {
		case <-s.changed:
		case <-ended:
		}
		cancel()
		<-ended
	}
}

// act does one thing until the context ends, or its time is over.
func (s *site) act(ctx context.Context, o *order) {
	err := o.problem
	if err == nil {
		err = s.runAgent(ctx, o)
	}
	if p := (*agent.Panic)(nil); errors.As(err, &p) {
		s.panicked(ctx, p)
		return
	}
	if err == nil || !s.wait(ctx, o.pace.Failure) { // as long as a member may fail: a Secret may be replaced
		return
	}
	if s.report(ctx, metav1.Condition{Type: api.ConditionReady, Status: metav1.ConditionFalse, Reason: "ClusterNotReachable", Message: err.Error()}) {
		s.Log.Error().Str("cluster", s.name).Err(err).Msg("cluster is not acted for")
	}
	s.wait(ctx, againAfter)
}

// wait waits; false: the context ended before.
func (s *site) wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
	case <-s.Clock.After(d):
	}
	return ctx.Err() == nil
}

// runAgent runs the agent of the cluster. A panic of its is an error.
func (s *site) runAgent(ctx context.Context, o *order) (err error) {
	began := s.Clock.Now()
	if p := agent.Guard(func() { err = s.connect(ctx, o) }); p != nil {
		err = p
	}
	if s.Clock.Since(began) >= againAfter {
		s.panics = 0
	}
	return err
}

// connect runs the agent on connections of its own.
func (s *site) connect(ctx context.Context, o *order) error {
	hub, err := s.Agent(s.name)
	if err != nil {
		return err
	}
	if hub, err = credentials.Apart(hub); err != nil {
		return err
	}
	defer utilnet.CloseIdleConnectionsFor(hub.Transport)
	member, err := o.member.Config()
	if err != nil {
		return err
	}
	defer utilnet.CloseIdleConnectionsFor(member.Transport)
	metrics := &ofCluster{Registerer: prometheus.WrapRegistererWith(prometheus.Labels{"cluster": s.name}, s.Metrics)}
	defer metrics.end()
	log := s.Log.With().Str("cluster", s.name).Logger()
	a, err := agent.New(agent.Config{
		Cluster: s.name, Hub: hub, Member: member, Clock: s.Clock, Log: log, Heartbeat: o.pace.Heartbeat, FailureThreshold: o.pace.Failure,
		SuccessThreshold: o.pace.Success, Timeout: s.Timeout, Workers: s.Workers, CreateNamespaces: true, Metrics: metrics,
	})
	if err != nil {
		return err
	}
	log.Info().Str("member", o.member.Endpoint).Msg("acts for the cluster in push mode")
	defer log.Info().Msg("acts for the cluster no longer")
	ctx, cancel := s.Clock.WithTimeout(ctx, renewAfter)
	defer cancel()
	if s.panics > 0 {
		steady := s.Clock.AfterFunc(againAfter, func() { s.report(ctx, running) })
		defer steady.Stop()
	}
	return a.Run(ctx)
}

// ofCluster registers the metrics of one cluster, until it ends.
type ofCluster struct {
	prometheus.Registerer
	all []prometheus.Collector
}

// MustRegister registers metrics.
func (o *ofCluster) MustRegister(all ...prometheus.Collector) {
	o.Registerer.MustRegister(all...)
	o.all = append(o.all, all...)
}

func (o *ofCluster) end() {
	for _, c := range o.all {
		o.Unregister(c)
	}
}
