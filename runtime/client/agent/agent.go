package agent

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/fleet/catalog"
)

// Config says which cluster the agent acts for, and how.
type Config struct {
	// Cluster is its name at the hub.
	Cluster string
	// Hub and Member are the API servers, and what the agent identifies itself by at them.
	Hub, Member *rest.Config
	Clock       clock.Clock
	Log         zerolog.Logger
	// Heartbeat is the time between two renewals of the cluster's Lease, and between two looks at the member.
	Heartbeat time.Duration
	// FailureThreshold and SuccessThreshold are how long the member must fail, or answer, before Ready changes.
	FailureThreshold, SuccessThreshold time.Duration
	// Timeout bounds each request to a server, but for watches.
	Timeout time.Duration
	// Workers is how many Works are applied at the same time.
	Workers int
	// Identity names this replica where several share the work of one cluster; empty: it is the only one. ElectionNamespace is where,
	// in the member, the Lease is by which they agree.
	Identity, ElectionNamespace string
	// CreateNamespaces has the agent create a namespace of the member that a manifest is in.
	CreateNamespaces bool
	Metrics          prometheus.Registerer
}

// Agent acts for one cluster.
type Agent struct {
	Config
	border
	hub       *hub
	member    *member
	metrics   *metrics
	heartbeat renewal
	readiness readiness
	// reachable is whether the last probe reached the member.
	reachable atomic.Bool
	// term is what this replica does while it leads; nil: it does not.
	term atomic.Pointer[term]
	// beaten is whether the hub took the last report.
	beaten atomic.Bool
	// id is that of the registered cluster, empty: any; verified is set once the member has it.
	id       string
	verified bool
}

// New connects to both servers. It asks them nothing yet.
func New(c Config) (*Agent, error) {
	a := &Agent{Config: c, metrics: newMetrics(c.Metrics)}
	var err error
	if a.hub, err = newHub(&a.Config); err != nil {
		return nil, fmt.Errorf("connect to the hub: %w", err)
	}
	if a.member, err = newMember(&a.Config); err != nil {
		return nil, fmt.Errorf("connect to the member: %w", err)
	}
	a.member.waits, a.member.border, a.hub.border = a.lookAt, &a.border, &a.border
	a.heartbeat = renewal{
		leases: a.hub.leases, namespace: api.LeaseNamespace, name: c.Cluster, identity: c.Identity, alone: c.Cluster, seconds: leaseSeconds, takeover: 3 * c.Heartbeat,
	}
	return a, nil
}

// Run acts for the cluster until the context ends. The error is what no time heals: credentials of another cluster, a member that
// is another than the registered one, or a *Panic.
func (a *Agent) Run(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	a.end = end
	defer a.hub.closeEvents()
	a.within(func() { end(a.act(ctx)) })
	var panicked *Panic
	if cause := context.Cause(ctx); errors.Is(cause, errStranger) || errors.As(cause, &panicked) {
		return cause
	}
	return nil
}

// act acts until the context ends. The error is that of a stranger.
func (a *Agent) act(ctx context.Context) error {
	if err := a.begin(ctx); err != nil {
		return err
	}
	a.reachable.Store(a.verified)
	var reporting sync.WaitGroup
	reporting.Go(func() {
		a.within(func() { a.end(a.reportUntil(ctx)) })
	})
	a.leadUntil(ctx)
	reporting.Wait()
	a.member.following.Wait()
	return nil
}

// errStranger is an error that no time heals.
var errStranger = errors.New("the agent must not act for this cluster")

// begin waits until the hub knows the cluster and the member answers, and checks that they belong together.
func (a *Agent) begin(ctx context.Context) error {
	var patience client.Patience
	said := ""
	for ctx.Err() == nil {
		err := a.check(ctx)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errStranger):
			return err
		case err.Error() != said:
			said = err.Error()
			a.Log.Warn().Err(err).Msg("cannot start yet")
		}
		patience.Wait(ctx, a.Clock)
	}
	return nil
}

func (a *Agent) check(ctx context.Context) error {
	c, err := a.hub.cluster(ctx)
	switch {
	case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
		return fmt.Errorf("%w: the hub refuses to show cluster %s: are these the credentials of another cluster's agent? %w", errStranger, a.Cluster, err)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("cluster %s is not registered at the hub", a.Cluster)
	case err != nil:
		return fmt.Errorf("read cluster %s: %w", a.Cluster, err)
	}
	a.id, a.readiness = c.typed.Spec.ID, reported(&c.typed.Status)
	return a.verify(ctx)
}

// verify checks that the member is the registered cluster, once it answers.
func (a *Agent) verify(ctx context.Context) error {
	if a.verified || a.id == "" {
		a.verified = true
		return nil
	}
	id, err := a.member.id(ctx)
	if err == nil && id != a.id {
		return fmt.Errorf("%w: the member's id is %s (the uid of its namespace kube-system), that of cluster %s is %s", errStranger, id, a.Cluster, a.id)
	}
	a.verified = err == nil // until it answers, it is reported as not Ready
	return nil
}

// reportUntil renews the Lease, and reports how the member is, until the context ends. The first report of an agent comes
// immediately, and later ones at different times than those of other agents.
func (a *Agent) reportUntil(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := a.look(ctx); err != nil {
			return err
		}
		err := a.beat(ctx)
		if before := a.beaten.Swap(err == nil); err != nil && ctx.Err() == nil {
			a.metrics.unreported.Inc()
			if before {
				a.Log.Warn().Err(err).Msg("hub does not take reports")
			}
		} else if !before {
			a.Log.Info().Msg("hub takes reports")
			a.lookAtAll() // the reports that it did not take
		}
		select {
		case <-ctx.Done():
		case <-a.Clock.After(jittered(a.Heartbeat)):
		}
	}
	return nil
}

// jittered is a time up to a tenth shorter, so that agents that begin together do not stay together.
func jittered(d time.Duration) time.Duration { return d - time.Duration(rand.Float64()*float64(d)/10) }

// look probes the member. The error is that of a member that is another cluster.
func (a *Agent) look(ctx context.Context) error {
	found := a.member.probe(ctx)
	before := a.readiness.current.status
	a.readiness.observe(a.Clock.Now(), found, thresholds{a.FailureThreshold, a.SuccessThreshold})
	if now := a.readiness.current; now.status != before {
		a.Log.Info().Str("ready", string(now.status)).Str("reason", now.reason).Msg("member's Ready changed")
	}
	there := found.reason != unreachable.reason
	if there {
		if err := a.verify(ctx); err != nil {
			return err
		}
	}
	there = there && a.verified
	changed := there && a.member.discover(ctx, found == healthy)
	back := !a.reachable.Swap(there) && there
	a.metrics.reachable(there)
	if t := a.term.Load(); t != nil && back {
		t.kinds.restart()
	}
	if back || changed {
		a.lookAtAll()
	}
	return nil
}

// lookAtAll has every Work looked at.
func (a *Agent) lookAtAll() {
	if t := a.term.Load(); t != nil {
		t.lookAtAll()
	}
}

// lookAt has the Work looked at that an object of the member is of.
func (a *Agent) lookAt(id identity) {
	if t := a.term.Load(); t != nil {
		t.lookAt(id)
	}
}

// Ready is nil while the hub takes what the agent reports.
func (a *Agent) Ready() error {
	if !a.beaten.Load() {
		return errors.New("the hub has not taken the last report")
	}
	return nil
}

// leaseSeconds is what Karmada's agents ask for; the hub goes by its own settings.
const leaseSeconds = 40

// beat renews the Lease and reports the Cluster, unless another replica does.
func (a *Agent) beat(ctx context.Context) error {
	c, err := a.hub.cluster(ctx)
	if err != nil {
		return fmt.Errorf("read cluster %s: %w", a.Cluster, err)
	}
	version, kind := catalog.Clusters.Kind.ToAPIVersionAndKind()
	a.heartbeat.owners = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: a.Cluster, UID: c.typed.UID}}
	renewing, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	mine, err := a.heartbeat.renew(renewing, a.Clock.Now())
	if err != nil || !mine {
		return err
	}
	changed, err := c.with(a.status(c.typed))
	if err != nil || !changed {
		return err
	}
	return a.hub.writeCluster(ctx, c)
}

// workNamespace is where the Works of the cluster are.
func (c *Config) workNamespace() string { return api.WorkNamespacePrefix + c.Cluster }
