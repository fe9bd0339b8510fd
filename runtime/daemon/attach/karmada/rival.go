package karmada

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/benbjohnson/clock"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// Rival is another controller that decides the bindings that Leeward acts on. Beside one Leeward does not act.
type Rival struct {
	// Who it is, what shows that it acts, and what to do.
	Who, Evidence, Cure string
}

func (r *Rival) Error() string {
	return fmt.Sprintf("another controller acts on these bindings: %s (%s); %s, then start leewardd again", r.Who, r.Evidence, r.Cure)
}

const (
	// quiet is for how long no other controller may have decided a binding before Leeward acts.
	quiet = 2 * time.Minute
	// fights is how often, within quiet, one writer may write over what Leeward wrote of one binding.
	fights = 3

	cureScheduler   = "stop it, or use another --scheduler-name"
	cureTaints      = "start the karmada-controller-manager with --enable-no-execute-taint-eviction=false"
	cureGraceful    = "start the karmada-controller-manager with --controllers=*,-gracefulEviction"
	cureApplication = "start the karmada-controller-manager with --controllers=*,-applicationFailover"
	cureOthers      = "stop it, or give it another schedulerName"
)

// decisive reports which of Karmada's controllers made one version of a binding another, where that is one that Leeward acts in place of;
// nil: none. Where it is not known what the binding was, tasks count that were made since an instant.
func (r *roles) decisive(c *conflict) *Rival {
	evidence := fmt.Sprintf("it wrote %s", c.now.Name())
	if w := writerOf(c.now, fieldClusters); w != nil && w.Manager == c.by {
		evidence += fmt.Sprintf(" at %s", w.Time.UTC().Format(time.RFC3339))
	}
	var was []api.GracefulEvictionTask
	if c.before != nil {
		was = c.before.Spec.GracefulEvictionTasks
	}
	switch c.by {
	case scheduler:
		return &Rival{c.by, evidence, cureScheduler}
	case controllers:
	default:
		return nil
	}
	is := c.now.Spec.GracefulEvictionTasks
	if w := writerOf(c.now, fieldClusters); c.before == nil && r.applications && w != nil && w.Manager == controllers && !w.Time.Time.Before(c.since) {
		return &Rival{c.by + ", taint manager or application failover", evidence + ": it took a cluster off", cureTaints + " and --controllers=*,-applicationFailover"}
	}
	for i := range is {
		if at := is[i].CreationTimestamp; c.before == nil && !at.IsZero() && at.Before(&metav1.Time{Time: c.since}) {
			continue
		}
		if k := &is[i]; k.Reason == api.EvictionReasonTaintUntolerated && !slices.ContainsFunc(was, fromTheSame(k)) {
			return &Rival{c.by + ", taint manager", evidence + ": a task for " + k.FromCluster, cureTaints}
		} else if k.Reason == api.EvictionReasonApplicationFailure && r.applications && !slices.ContainsFunc(was, fromTheSame(k)) {
			return &Rival{c.by + ", application failover", evidence + ": a task for " + k.FromCluster, cureApplication}
		}
	}
	for i := range was {
		if k := &was[i]; r.graceful && !slices.ContainsFunc(is, fromTheSame(k)) {
			return &Rival{c.by + ", graceful eviction", evidence + ": it ended the task for " + k.FromCluster, cureGraceful}
		}
	}
	return nil
}

func fromTheSame(k *api.GracefulEvictionTask) func(api.GracefulEvictionTask) bool {
	return func(o api.GracefulEvictionTask) bool { return o.FromCluster == k.FromCluster }
}

// rivalAmong looks for a controller that decided one of the bindings that roles are for within the last while; nil: there is none.
func rivalAmong(r *roles, all map[api.Key]api.Object, now time.Time) *Rival {
	t := &twin{roles: r}
	var found *Rival
	for _, o := range all { // order-free: the first by its words
		b := store.AsBinding(o)
		if !t.acts(b) {
			continue
		}
		for _, field := range []string{fieldClusters, fieldTasks} {
			w := writerOf(b, field)
			if w == nil || w.Manager == userAgent || w.Time.Time.Before(now.Add(-quiet).Truncate(time.Second)) {
				continue
			}
			seen := &conflict{binding: b.Name(), by: w.Manager, now: b, since: now.Add(-quiet)}
			if rival := r.decisive(seen); rival != nil && (found == nil || rival.Evidence < found.Evidence) {
				rival.Evidence += fmt.Sprintf("; Leeward acts when none was written for %s", quiet)
				found = rival
			}
		}
	}
	return found
}

// grudges count, for each binding, what others wrote over what Leeward wrote.
type grudges map[messages.BindingName]*grudge

type grudge struct {
	by    string
	times []time.Time
}

// mostGrudges is how many bindings are watched for that: those beyond are not.
const mostGrudges = 10_000

// note notes a conflict, and returns the rival that it shows; nil: it shows none. Who takes all tasks off a binding is not known, for nothing
// remains that has a writer: there it counts how often that happens, whichever the binding.
func (g grudges) note(c *conflict, now time.Time) *Rival {
	if !c.over() {
		return nil
	}
	of, about, cure := c.binding, fmt.Sprintf("it wrote over what Leeward decided of %s", c.binding), cureOthers
	if c.by == unknownWriter && c.ends() {
		of, about, cure = "", "it ended graceful evictions that Leeward had not ended", cureGraceful
	}
	k := g[of]
	if k == nil || k.by != c.by {
		if k == nil && len(g) >= mostGrudges {
			return nil
		}
		k = &grudge{by: c.by}
		g[of] = k
	}
	k.times = slices.DeleteFunc(append(k.times, now), func(at time.Time) bool { return now.Sub(at) > quiet })
	if len(k.times) < fights {
		return nil
	}
	return &Rival{c.by, fmt.Sprintf("%s %d times within %s", about, len(k.times), quiet), cure}
}

// The Lease of the karmada-scheduler. Source: Karmada's --leader-elect-resource-namespace.
const (
	schedulerNamespace = "karmada-system"
	schedulerLease     = schedulerNamespace + "/" + scheduler
)

// leaseholder looks whether a karmada-scheduler renews its Lease.
type leaseholder struct {
	rest  rest.Interface
	clock clock.Clock
	// last is the renewal that was seen last.
	last time.Time
}

// look returns the scheduler that runs; nil: none does, as far as that is known.
func (h *leaseholder) look(ctx context.Context) (*Rival, error) {
	ctx, end := context.WithTimeout(ctx, patience)
	defer end()
	answer := h.rest.Get().AbsPath("apis", "coordination.k8s.io", "v1", "namespaces", schedulerNamespace, "leases", scheduler).Do(ctx)
	if err := answer.Error(); apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, &Missing{"get", "leases.coordination.k8s.io " + schedulerLease, err}
	}
	data, _ := answer.Raw() // it has no error
	var l coordinationv1.Lease
	if err := json.Unmarshal(data, &l); err != nil {
		return nil, fmt.Errorf("decode the Lease %s: %w", schedulerLease, err)
	}
	at := renewal(&l)
	if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" || at.IsZero() {
		return nil, nil
	}
	lasts := 15 * time.Second // Source: Karmada's --leader-elect-lease-duration
	if d := l.Spec.LeaseDurationSeconds; d != nil {
		lasts = time.Duration(*d) * time.Second
	}
	first := h.last.IsZero()
	fresh := first && h.clock.Now().Sub(at) < lasts || !first && at.After(h.last)
	h.last = at
	if !fresh {
		return nil, nil
	}
	return &Rival{scheduler, fmt.Sprintf("%s holds the Lease %s, renewed at %s", *l.Spec.HolderIdentity, schedulerLease, at.Format(time.RFC3339)), cureScheduler}, nil
}
