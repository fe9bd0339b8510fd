package install

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/fleet/catalog"
)

// Step is what became of one object.
type Step struct {
	Object *unstructured.Unstructured
	// Did is "created", "configured", "unchanged" or "deleted"; or "kept" or "not tried", and Why says why.
	Did, Why string
}

// Name is how kubectl names the object: "clusterrole/leewardd-shadow".
func (s *Step) Name() string {
	return strings.ToLower(s.Object.GetKind()) + "/" + s.Object.GetName()
}

// String is how kubectl tells a step: "clusterrole/leewardd-shadow created".
func (s *Step) String() string {
	if s.Why != "" {
		return fmt.Sprintf("%s %s: %s", s.Name(), s.Did, s.Why)
	}
	return s.Name() + " " + s.Did
}

// ServerOf asks an API server what it is. Karmada's serves its bindings.
func ServerOf(ctx context.Context, c *client.Client) (Server, error) {
	is, err := c.Serves(ctx, catalog.Bindings)
	switch {
	case err != nil:
		return "", fmt.Errorf("ask the API server what it has: %w", err)
	case is:
		return Karmada, nil
	}
	return Kubernetes, nil
}

// Installation applies manifests.
type Installation struct {
	Client *client.Client
	// DryRun has the server say what it would say, and change nothing.
	DryRun bool
	// Tell hears of each step once it is done.
	Tell func(*Step) error
}

// servedWithin is how long a server may take to serve a kind that was defined.
const servedWithin = 30 * time.Second

// Install applies manifests, in their order, and ends at the first that is refused. It may be done again.
func (i *Installation) Install(ctx context.Context, all []*unstructured.Unstructured) error {
	own, err := i.builtIn(ctx)
	if err != nil {
		return err
	}
	for _, o := range all {
		step := &Step{Object: o, Did: "kept", Why: "the server has this kind built in"}
		if o.GetKind() != catalog.Definitions.Kind.Kind || !own {
			if step, err = i.apply(ctx, o); err != nil {
				return fmt.Errorf("%s: %w", api.KeyOf(o), err)
			}
		}
		if err := i.Tell(step); err != nil {
			return err
		}
	}
	return nil
}

// builtIn reports whether the server has Leeward's kinds without definitions, as a leewardd has.
func (i *Installation) builtIn(ctx context.Context) (bool, error) {
	if is, err := i.Client.Serves(ctx, catalog.Governors); err != nil || !is {
		return false, err
	}
	_, err := i.Client.Get(ctx, catalog.Definitions, "", catalog.Governors.Name().String())
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return false, err
}

func (i *Installation) apply(ctx context.Context, o *unstructured.Unstructured) (*Step, error) {
	r := catalog.Of(api.KeyOf(o))
	before, err := i.Client.Get(ctx, r, o.GetNamespace(), o.GetName())
	switch {
	case apierrors.IsNotFound(err):
		before = nil
	case err != nil:
		return nil, err
	case r == catalog.Namespaces && before.GetLabels()[LabelManaged] != Manager:
		return &Step{Object: o, Did: "kept", Why: "it was there before"}, nil
	case r == catalog.Namespaces: // it has nothing to configure
		return &Step{Object: o, Did: "unchanged"}, nil
	}
	applied, err := i.applied(ctx, r, o)
	switch {
	case i.DryRun && apierrors.IsNotFound(err):
		return &Step{Object: o, Did: "not tried", Why: "its namespace or its kind does not exist yet"}, nil
	case err != nil:
		return nil, err
	case before == nil:
		return &Step{Object: applied, Did: "created"}, nil
	case before.GetResourceVersion() == applied.GetResourceVersion():
		return &Step{Object: applied, Did: "unchanged"}, nil
	}
	return &Step{Object: applied, Did: "configured"}, nil
}

// applied applies an object. A kind of Leeward may have been defined just now: it is waited for.
func (i *Installation) applied(ctx context.Context, r *catalog.Resource, o *unstructured.Unstructured) (applied *unstructured.Unstructured, err error) {
	if r == catalog.Namespaces {
		return o, i.create(ctx, r, o)
	}
	once := func(ctx context.Context) (bool, error) {
		applied, err = i.Client.Apply(ctx, r, o, Manager, i.DryRun)
		return err == nil || !apierrors.IsNotFound(err) || r != catalog.Governors || i.DryRun, nil
	}
	if waited := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, servedWithin, true, once); err == nil {
		err = waited
	}
	return applied, err
}

// create makes an object, and none that another made meanwhile.
func (i *Installation) create(ctx context.Context, r *catalog.Resource, o *unstructured.Unstructured) error {
	if i.DryRun {
		return i.Client.TryCreate(ctx, r, o)
	}
	_, err := i.Client.Create(ctx, r, o)
	return err
}
