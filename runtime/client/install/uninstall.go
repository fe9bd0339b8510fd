package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/fleet/catalog"
)

// Removal removes what installations of any role applied.
type Removal struct {
	Client    *client.Client
	Server    Server
	Namespace string
	Clock     clock.Clock
	// Objects has the objects of Leeward's kinds be deleted with their kinds; else they keep anything from being removed.
	Objects bool
	// DryRun only looks whether anything keeps it from being removed.
	DryRun bool
	Tell   func(*Step) error
}

// Uninstall removes what was installed, in the reverse order. It refuses, before anything is removed, where a daemon acts, or where there are
// objects that users made of Leeward's kinds.
func (r *Removal) Uninstall(ctx context.Context) error {
	all, err := r.installed()
	if err != nil {
		return err
	}
	if err := errors.Join(r.idle(ctx), r.unused(ctx)); err != nil {
		return err
	}
	for _, o := range slices.Backward(all) {
		step, err := r.remove(ctx, o)
		if err != nil {
			return fmt.Errorf("%s: %w", api.KeyOf(o), err)
		}
		if step != nil {
			err = r.Tell(step)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// installed are the objects of all roles beside the server, each once.
func (r *Removal) installed() (all []*unstructured.Unstructured, err error) {
	for _, role := range Roles {
		if filesOf(role, r.Server) == nil {
			continue
		}
		some, err := (&Choice{Role: role, Server: r.Server, Namespace: r.Namespace}).Manifests()
		if err != nil {
			return nil, err
		}
		for _, o := range some {
			same := func(b *unstructured.Unstructured) bool { return api.KeyOf(b) == api.KeyOf(o) }
			if !slices.ContainsFunc(all, same) {
				all = append(all, o)
			}
		}
	}
	return all, nil
}

// idle reports a daemon that acts by a Lease.
func (r *Removal) idle(ctx context.Context) error {
	all, _, err := r.Client.List(ctx, catalog.Leases, r.Namespace, "")
	if err != nil {
		return fmt.Errorf("list the Leases of %s: %w", r.Namespace, err)
	}
	for _, o := range all {
		l := o.(*coordinationv1.Lease)
		if !strings.HasPrefix(l.Name, "leewardd-") || l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" || l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
			continue
		}
		if lasts := time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second; r.Clock.Now().Before(l.Spec.RenewTime.Add(lasts)) {
			return fmt.Errorf("%s acts by the Lease %s/%s: stop it first", *l.Spec.HolderIdentity, l.Namespace, l.Name)
		}
	}
	return nil
}

// ownKinds are those that an installation defines.
var ownKinds = []api.Key{
	{APIVersion: api.LeewardGroupVersion, Kind: "EvictionBudget"}, {APIVersion: api.LeewardGroupVersion, Kind: "ClusterEvictionBudget"}, catalog.Governors.Key("", ""),
}

// unused reports objects of Leeward's kinds that an installation did not make, or that hold evictions.
func (r *Removal) unused(ctx context.Context) error {
	if r.Objects || r.Server != Karmada {
		return nil
	}
	var there []string
	for _, kind := range ownKinds {
		all, _, err := r.Client.List(ctx, catalog.Of(kind), "", "")
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("list %s: %w", catalog.Of(kind).Name(), err)
		}
		for _, o := range all {
			if g, is := o.(*api.Governor); !is || g.Labels[LabelManaged] != Manager || g.Spec.Pause != nil {
				there = append(there, api.KeyOf(o).String())
			}
		}
	}
	if len(there) == 0 {
		return nil
	}
	const most = 5
	more := ""
	if n := len(there) - most; n > 0 {
		there, more = there[:most], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("%s%s would be deleted with their kinds: delete them, or give --delete-objects", strings.Join(there, ", "), more)
}

// remove deletes an object; nil: it is not there, or is being deleted.
func (r *Removal) remove(ctx context.Context, o *unstructured.Unstructured) (*Step, error) {
	of := catalog.Of(api.KeyOf(o))
	is, err := r.Client.Get(ctx, of, o.GetNamespace(), o.GetName())
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case is.GetDeletionTimestamp() != nil:
		return nil, nil
	case is.GetLabels()[LabelManaged] != Manager:
		return &Step{Object: o, Did: "kept", Why: "leeward attach install did not make it"}, nil
	case r.DryRun:
		return &Step{Object: o, Did: "deleted"}, nil
	}
	if err := r.Client.Delete(ctx, of, o.GetNamespace(), o.GetName()); err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	return &Step{Object: o, Did: "deleted"}, nil
}
