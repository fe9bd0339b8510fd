package join

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/client"
	"leeward/runtime/client/credentials"
	"leeward/runtime/fleet/catalog"
)

// Leaving is a cluster that its hub gives up.
type Leaving struct {
	Hub   *client.Client
	Clock clock.Clock
	Name  string
	// Timeout is how long it may take until the cluster is empty. Force then removes the finalizers of what remains: its objects
	// remain in the member.
	Timeout time.Duration
	Force   bool
}

// errNothing says that there is nothing to take back.
var errNothing = errors.New("not found")

// Find returns the cluster; nil: there is none, and only a Secret that a join left.
func (l *Leaving) Find(ctx context.Context) (*api.Cluster, error) {
	o, err := l.Hub.Get(ctx, catalog.Clusters, "", l.Name)
	if err == nil {
		return o.(*api.Cluster), nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read cluster %s: %w", l.Name, err)
	}
	switch s, err := l.secret(ctx); {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, fmt.Errorf("cluster %s: %w", l.Name, errNothing)
	}
	return nil, nil
}

// secret is that of the cluster, if a join created it; nil: there is none.
func (l *Leaving) secret(ctx context.Context) (*corev1.Secret, error) {
	o, err := l.Hub.Get(ctx, catalog.Secrets, credentials.Namespace, l.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the Secret %s/%s: %w", credentials.Namespace, l.Name, err)
	}
	if s := o.(*corev1.Secret); s.Labels[credentials.LabelCluster] == l.Name {
		return s, nil
	}
	return nil, nil
}

// Leave deletes the cluster, waits until its Works are gone, and deletes what belongs to it. The error of a cluster that is not
// empty in time says what remains.
func (l *Leaving) Leave(ctx context.Context) error {
	c, err := l.Find(ctx)
	if err != nil {
		return err
	}
	if c != nil {
		if err := l.Hub.Delete(ctx, catalog.Clusters, "", l.Name); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete cluster %s: %w", l.Name, err)
		}
		if err := l.emptied(ctx); err != nil {
			return err
		}
	}
	err = l.clear(ctx, c)
	if err == nil && c != nil && l.Force {
		err = l.kept(ctx)
	}
	return err
}

// kept says for which evictions the hub makes a cluster again that was forced out; nil: for none.
func (l *Leaving) kept(ctx context.Context) error {
	_, evicting, err := l.evictions(ctx)
	if err != nil || len(evicting) == 0 {
		return err
	}
	return fmt.Errorf("cluster %s: its finalizers and credentials are removed, and what runs in the member remains; the hub keeps the Cluster, being deleted, until %d evictions end, which wait until the new copies are healthy, or for the end of the grace period:\n  %s",
		l.Name, len(evicting), listed(evicting))
}

// emptied waits until the cluster is gone.
func (l *Leaving) emptied(ctx context.Context) error {
	gone, err := l.await(ctx)
	if err != nil || gone {
		return err
	}
	if !l.Force {
		return l.remains(ctx)
	}
	// The Cluster goes first: while it is there, the daemon writes again what workloads are evicted from it.
	if err := l.finish(ctx, catalog.Clusters, "", l.Name); err != nil {
		return err
	}
	works, err := l.works(ctx)
	if err != nil {
		return err
	}
	for _, w := range works {
		if err := l.finish(ctx, catalog.Works, w.Namespace, w.Name); err != nil {
			return err
		}
	}
	return nil
}

// await waits until the Cluster is gone; false: it is not, in time.
func (l *Leaving) await(ctx context.Context) (bool, error) {
	ctx, cancel := l.Clock.WithTimeout(ctx, l.Timeout)
	defer cancel()
	var patience client.Patience
	for {
		switch _, err := l.Hub.Get(ctx, catalog.Clusters, "", l.Name); {
		case apierrors.IsNotFound(err):
			return true, nil
		case ctx.Err() != nil:
			return false, nil
		case client.Refused(err):
			return false, fmt.Errorf("read cluster %s: %w", l.Name, err)
		}
		patience.Wait(ctx, l.Clock)
	}
}

// finish deletes an object whatever waits for it.
func (l *Leaving) finish(ctx context.Context, r *catalog.Resource, namespace, name string) error {
	err := l.Hub.Patch(ctx, &client.Patch{Resource: r, Namespace: namespace, Name: name, Body: map[string]any{"metadata": map[string]any{"finalizers": nil}}})
	if err == nil {
		err = l.Hub.Delete(ctx, r, namespace, name)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("remove the finalizers of %s %s: %w", r.Kind.Kind, name, err)
	}
	return nil
}

func (l *Leaving) works(ctx context.Context) ([]*api.Work, error) {
	objects, _, err := l.Hub.List(ctx, catalog.Works, api.WorkNamespacePrefix+l.Name, "")
	if err != nil {
		err = fmt.Errorf("list the Works of cluster %s: %w", l.Name, err)
	}
	return lists.Of(objects, func(o api.Object) *api.Work { return o.(*api.Work) }), err
}

// mostNamed is how many objects of a kind an error names.
const mostNamed = 10

func few(names []string) string {
	if len(names) > mostNamed {
		names = append(slices.Clip(names[:mostNamed]), "...")
	}
	return strings.Join(names, ", ")
}

// remains says why the cluster is not gone: it waits for evictions that are blocked, or for its agent.
func (l *Leaving) remains(ctx context.Context) error {
	works, err := l.works(ctx)
	if err != nil {
		return err
	}
	o, err := l.Hub.Get(ctx, catalog.Clusters, "", l.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read cluster %s: %w", l.Name, err)
	}
	blocked, evicting, err := l.evictions(ctx)
	if err != nil {
		return err
	}
	names := lists.Of(works, func(w *api.Work) string { return w.Name })
	ready := "not reported"
	if k := meta.FindStatusCondition(o.(*api.Cluster).Status.Conditions, api.ConditionReady); k != nil {
		ready = fmt.Sprintf("%s (%s)", k.Status, k.Reason)
	}
	text := fmt.Sprintf("cluster %s is being deleted, and not gone after %s: Ready is %s; %d Works remain in %s (%s); the Cluster has the finalizers %s",
		l.Name, l.Timeout, ready, len(works), api.WorkNamespacePrefix+l.Name, few(names), few(o.GetFinalizers()))
	if len(evicting) > 0 {
		text += fmt.Sprintf("; %d evictions wait until the new copies are healthy, or for the end of the grace period:\n  %s\n", len(evicting), listed(evicting))
	}
	if len(blocked) > 0 {
		text += fmt.Sprintf("; %d evictions are blocked:\n  %s\n", len(blocked), listed(blocked)) +
			"let another cluster take these workloads, or delete them, and run unjoin again"
	} else {
		text = strings.TrimSuffix(text, "\n") + "; run unjoin again to wait on"
	}
	return errors.New(text + ". --force removes the finalizers, and leaves what runs in the member")
}

// evictions are the bindings that the cluster keeps, each with the reason: those whose eviction may not start, and those whose
// replacement is not healthy yet.
func (l *Leaving) evictions(ctx context.Context) (blocked, evicting []string, err error) {
	bindings, _, err := l.Hub.List(ctx, catalog.Bindings, "", "")
	if err != nil {
		return nil, nil, fmt.Errorf("list bindings: %w", err)
	}
	for _, o := range bindings {
		b := o.(*api.ResourceBinding)
		for _, e := range b.Status.Evictions {
			name := b.Namespace + "/" + b.Name
			switch {
			case e.Cluster != l.Name:
			case e.State == api.EvictionBlocked:
				blocked = append(blocked, fmt.Sprintf("%s  %s  %s", name, e.Reason, e.Message))
			case e.State == api.EvictionEvicting:
				evicting = append(evicting, name+"  "+strings.Join(unhealthy(b), ", "))
			}
		}
	}
	return blocked, evicting, nil
}

// listed has the first of several, a line each.
func listed(all []string) string { return strings.Join(all[:min(len(all), mostNamed)], "\n  ") }

// unhealthy are the targets of a binding whose copies are not healthy, each with how it is.
func unhealthy(b *api.ResourceBinding) (all []string) {
	for _, t := range b.Spec.Clusters {
		is := "no report"
		for _, s := range b.Status.AggregatedStatus {
			if s.ClusterName == t.Name {
				is = cmp.Or(s.AppliedMessage, string(s.Health))
			}
		}
		if is != string(api.Healthy) {
			all = append(all, t.Name+": "+is)
		}
	}
	return all
}

// clear deletes what belongs to a cluster that is gone: its Secret, its Lease and the namespace of its Works.
func (l *Leaving) clear(ctx context.Context, c *api.Cluster) error {
	var problems []error
	remove := func(r *catalog.Resource, namespace, name string) {
		if err := l.Hub.Delete(ctx, r, namespace, name); err != nil && !apierrors.IsNotFound(err) {
			problems = append(problems, fmt.Errorf("cluster %s is gone, and its %s %s remains: %w", l.Name, r.Kind.Kind, name, err))
		}
	}
	switch s, err := l.secret(ctx); {
	case err != nil:
		problems = append(problems, err)
	case s != nil:
		remove(catalog.Secrets, s.Namespace, s.Name)
	}
	if c != nil {
		remove(catalog.Leases, api.LeaseNamespace, l.Name)
		remove(catalog.Namespaces, "", api.WorkNamespacePrefix+l.Name)
	}
	return errors.Join(problems...)
}
