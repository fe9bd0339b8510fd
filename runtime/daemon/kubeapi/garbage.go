package kubeapi

import (
	"context"
	"slices"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// looksAgainAfter is how long it is waited until a store that took no write is asked again.
const looksAgainAfter = time.Second

// collector deletes what belonged to what is gone, as Kubernetes does: an object goes when none of the owners that it
// names remains. It looks at what is stored, and remembers nothing but who names whom, so that it does after a restart what
// it would have done before; and what it could not do, while the store takes no writes. What names no owner, nearly all of
// a fleet, costs it a glance at each change.
//
// Source: kubernetes, pkg/controller/garbagecollector.
type collector struct {
	engine *engine.Engine
	clock  clock.Clock
	// tables are the names of the tables that it looks at.
	tables []schema.GroupResource
	served map[schema.GroupResource]rest.StandardStorage
	// untyped makes what serves a kind without a Go type.
	untyped func(*catalog.Resource) (rest.StandardStorage, error)
	log     zerolog.Logger
	feed    *engine.Feed
	// owned are the objects that name an owner, by its UID; owners are the UIDs that each of them names.
	owned  map[types.UID]sets.Set[site]
	owners map[site][]types.UID
	// again are the objects to look at when the store takes writes, refused says that it did not take one last time.
	again   sets.Set[site]
	refused bool
}

// site is where an object is stored.
type site struct {
	resource        schema.GroupResource // as the table is named
	namespace, name string
}

func (p site) key() string { return engine.Key(p.resource, p.namespace, p.name) }

func newCollector(c *Config, keeps *keeper, served map[schema.GroupVersion]map[string]rest.Storage) *collector {
	collects := &collector{
		engine: c.Engine, clock: c.Clock, log: c.Logger, untyped: keeps.untyped,
		tables: []schema.GroupResource{catalog.Definitions.Name(), catalog.Customs.Name()},
		served: map[schema.GroupResource]rest.StandardStorage{}, owned: map[types.UID]sets.Set[site]{}, owners: map[site][]types.UID{}, again: sets.New[site](),
	}
	for _, k := range kindsIn(c.Engine) {
		collects.served[k.Name()] = served[k.version()][k.Plural].(rest.StandardStorage)
		collects.tables = append(collects.tables, k.Name())
	}
	return collects
}

// storage returns what serves the objects of a resource.
func (c *collector) storage(p site) (rest.StandardStorage, error) {
	if s := c.served[p.resource]; s != nil {
		return s, nil
	}
	r := catalog.Definitions
	if p.resource != r.Name() {
		o, _ := c.engine.Table(p.resource).Get(p.key())
		if o == nil {
			return nil, apierrors.NewNotFound(p.resource, p.name)
		}
		r = catalog.Custom(o.GetObjectKind().GroupVersionKind())
		r.Plural, r.ClusterScoped = r.Kind.Kind, p.namespace == ""
	}
	return c.untyped(r)
}

// run collects until the context is done.
func (c *collector) run(ctx context.Context) {
	c.feed = c.engine.Follow()
	defer c.feed.Close()
	c.begin(ctx)
	var due <-chan time.Time
	for {
		if due == nil && len(c.again) > 0 {
			due = c.clock.After(looksAgainAfter)
		}
		select {
		case <-ctx.Done():
			return
		case <-due:
			due = nil
			c.lookAgain(ctx)
		case _, open := <-c.feed.News():
			if !open {
				return
			}
			for _, change := range c.feed.Take() {
				c.hear(ctx, &change)
			}
		}
	}
}

// begin looks at all that is stored: a process that was killed may have left work.
func (c *collector) begin(ctx context.Context) {
	var concerned []engine.Object
	for _, name := range c.tables {
		for _, o := range c.engine.Table(name).Snapshot().Mentioning(engine.Prefix(name), "", "ownerReferences", "deletionTimestamp") {
			c.note(o)
			if len(o.GetOwnerReferences()) > 0 || waits(o) {
				concerned = append(concerned, o)
			}
		}
	}
	for _, o := range concerned {
		c.look(ctx, siteOf(o))
	}
}

// hear looks at the objects that a change concerns: itself, those that it owned, and those that it belongs to.
func (c *collector) hear(ctx context.Context, change *engine.Change) {
	o, gone := change.Object, change.Object == nil
	if gone {
		if len(c.owners) == 0 { // no object owns anything: what it was need not be read
			return
		}
		o = change.Previous()
	}
	c.forget(siteOf(o))
	switch {
	case gone:
		for p := range c.owned[o.GetUID()].Clone() { // order-free: each is looked at alone
			c.look(ctx, p)
		}
	case len(o.GetOwnerReferences()) > 0 || waits(o):
		c.note(o)
		c.look(ctx, siteOf(o))
	}
	for _, r := range o.GetOwnerReferences() {
		if owner, known := ownerOf(c.engine, r, o.GetNamespace()); known {
			c.look(ctx, owner)
		}
	}
}

// note remembers whom an object names as its owners.
func (c *collector) note(o engine.Object) {
	here := siteOf(o)
	for _, r := range o.GetOwnerReferences() {
		if c.owned[r.UID] == nil {
			c.owned[r.UID] = sets.New[site]()
		}
		c.owned[r.UID].Insert(here)
		c.owners[here] = append(c.owners[here], r.UID)
	}
}

func (c *collector) forget(p site) {
	for _, owner := range c.owners[p] {
		if c.owned[owner].Delete(p); len(c.owned[owner]) == 0 {
			delete(c.owned, owner)
		}
	}
	delete(c.owners, p)
}

// lookAgain looks at what could not be written, as far as it can be now.
func (c *collector) lookAgain(ctx context.Context) {
	for p := range c.again.Clone() { // order-free: each is looked at alone
		if c.look(ctx, p); c.refused {
			return
		}
	}
	c.log.Info().Msg("the store takes writes again: what lost its owners is collected")
}

// look does what an object asks for as it is now, or notes that it could not be done.
func (c *collector) look(ctx context.Context, p site) {
	c.refused = false
	if c.collect(ctx, p); !c.refused {
		c.again.Delete(p)
		return
	}
	if len(c.again) == 0 {
		c.log.Warn().Str("object", p.key()).Msg("the store takes no writes: what lost its owners stays until it does")
	}
	c.again.Insert(p)
}

func (c *collector) collect(ctx context.Context, p site) {
	o, _ := c.engine.Table(p.resource).Get(p.key())
	switch {
	case o == nil:
	case o.GetDeletionTimestamp() == nil:
		c.lookAtOwners(ctx, p, o)
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents):
		c.orphan(ctx, p, o)
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerDeleteDependents):
		c.deleteOwned(ctx, p, o)
	}
}

// waits reports whether an object is being deleted, and what it owns must be deleted first.
func waits(o engine.Object) bool {
	return takesAlong(o) || o.GetDeletionTimestamp() != nil && slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents)
}

// takesAlong reports whether an object is being deleted, and what it owns before it.
func takesAlong(o engine.Object) bool {
	return o.GetDeletionTimestamp() != nil && slices.Contains(o.GetFinalizers(), metav1.FinalizerDeleteDependents)
}

// lookAtOwners deletes an object that has lost its owners; one that has lost some no longer names them.
func (c *collector) lookAtOwners(ctx context.Context, p site, o engine.Object) {
	var stay []metav1.OwnerReference
	foreground := false
	for _, r := range o.GetOwnerReferences() {
		switch owner, there := c.owner(r, o.GetNamespace()); {
		case !there:
		case owner != nil && takesAlong(owner):
			foreground = true
		default:
			stay = append(stay, r)
		}
	}
	switch {
	case len(stay) == len(o.GetOwnerReferences()):
	case len(stay) > 0:
		c.update(ctx, p, o, func(o engine.Object) { o.SetOwnerReferences(stay) })
	default:
		c.remove(ctx, p, o, foreground && c.ownsWhatStays(o))
	}
}

// owner returns the owner that a reference names, and whether it is there. Of what is not kept here it cannot be said that it
// is gone.
func (c *collector) owner(r metav1.OwnerReference, namespace string) (engine.Object, bool) {
	p, known := ownerOf(c.engine, r, namespace)
	if !known {
		return nil, true
	}
	o, _ := c.engine.Table(p.resource).Get(p.key())
	return o, o != nil && o.GetUID() == r.UID
}

// ownsWhatStays reports whether an object owns any that are not being deleted. Two that own each other would wait for each
// other.
func (c *collector) ownsWhatStays(o engine.Object) bool {
	for p := range c.ownedBy(o) { // order-free: is there one
		if owned, _ := c.engine.Table(p.resource).Get(p.key()); owned != nil && owned.GetDeletionTimestamp() == nil {
			return true
		}
	}
	return false
}

// ownedBy returns the objects that an object owns. What names its UID from another namespace is not among them: an owner
// that has a namespace owns nothing outside, and a user who may write there only must not keep it from going.
func (c *collector) ownedBy(o engine.Object) sets.Set[site] {
	all := c.owned[o.GetUID()]
	if o.GetNamespace() == "" {
		return all
	}
	within := sets.New[site]()
	for p := range all { // order-free: a set of a set
		if p.namespace == o.GetNamespace() {
			within.Insert(p)
		}
	}
	return within
}

// orphan has what an object owns no longer name it, and then lets it go.
func (c *collector) orphan(ctx context.Context, p site, o engine.Object) {
	done := true
	for of := range c.owned[o.GetUID()] { // order-free: each is changed alone
		if owned, _ := c.engine.Table(of.resource).Get(of.key()); owned != nil {
			done = c.update(ctx, of, owned, func(owned engine.Object) {
				owned.SetOwnerReferences(slices.DeleteFunc(owned.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == o.GetUID() }))
			}) && done
		}
	}
	if done {
		c.release(ctx, p, o, metav1.FinalizerOrphanDependents)
	}
}

// deleteOwned deletes what an object owns, or has in it, and lets it go when none remains that it has to wait for.
func (c *collector) deleteOwned(ctx context.Context, p site, o engine.Object) {
	blocked := false
	if n, is := c.served[p.resource].(namespaces); is {
		blocked = !c.done(p, n.empty(ctx, p.name), "namespace not emptied")
	}
	for of := range c.ownedBy(o).Clone() { // order-free: each is deleted alone
		owned, _ := c.engine.Table(of.resource).Get(of.key())
		if owned == nil {
			continue
		}
		blocked = blocked || slices.ContainsFunc(owned.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
			return r.UID == o.GetUID() && ptr.Deref(r.BlockOwnerDeletion, false)
		})
		if owned.GetDeletionTimestamp() == nil {
			c.lookAtOwners(ctx, of, owned)
		}
	}
	if !blocked {
		c.release(ctx, p, o, metav1.FinalizerDeleteDependents)
	}
}

func (c *collector) release(ctx context.Context, p site, o engine.Object, finalizer string) {
	c.update(ctx, p, o, func(o engine.Object) {
		o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
}

// update changes an object, unless another writer has: that is heard of in its turn.
func (c *collector) update(ctx context.Context, p site, o engine.Object, change func(engine.Object)) bool {
	next := api.Copy(o)
	change(next)
	storage, err := c.storage(p)
	if err == nil {
		_, _, err = storage.Update(request.WithNamespace(ctx, p.namespace), p.name, rest.DefaultUpdatedObjectInfo(next),
			rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	}
	return c.done(p, err, "owner references not kept up")
}

// remove deletes an object as it is now, by the policy that its finalizers ask for.
func (c *collector) remove(ctx context.Context, p site, o engine.Object, foreground bool) {
	policy := metav1.DeletePropagationBackground
	switch {
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents):
		policy = metav1.DeletePropagationOrphan
	case foreground, slices.Contains(o.GetFinalizers(), metav1.FinalizerDeleteDependents):
		policy = metav1.DeletePropagationForeground
	}
	storage, err := c.storage(p)
	if err == nil {
		_, _, err = storage.Delete(request.WithNamespace(ctx, p.namespace), p.name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{
			Preconditions:     &metav1.Preconditions{UID: new(o.GetUID()), ResourceVersion: new(o.GetResourceVersion())},
			PropagationPolicy: &policy,
		})
	}
	if c.done(p, err, "object without owner not deleted") && err == nil {
		c.log.Info().Str("object", p.key()).Str("because", "its owners are gone").Msg("deleted")
	}
}

// done reports whether a write was made, or is not needed any more.
func (c *collector) done(p site, err error, wrong string) bool {
	switch {
	case err == nil, apierrors.IsNotFound(err):
		return true
	case apierrors.IsServiceUnavailable(err):
		c.refused = true
	case !apierrors.IsConflict(err):
		c.log.Error().Err(err).Str("object", p.key()).Msg(wrong)
	}
	return false
}

// resourceOf is the resource of an object by its key, nodes and pods among them; nil of a kind that no server keeps.
func resourceOf(k api.Key) *catalog.Resource {
	for _, r := range catalog.OfNodes {
		if k.Kind == r.Kind.Kind && k.APIVersion == r.Kind.GroupVersion().String() {
			return r
		}
	}
	return catalog.Of(k)
}

func siteOf(o engine.Object) site {
	return site{resourceOf(api.KeyOf(o)).Name(), o.GetNamespace(), o.GetName()}
}

// ownerOf is where the owner is stored that an object of a namespace names. It is not known of a kind that is not kept here, nor of one
// within a namespace that something outside names.
func ownerOf(e *engine.Engine, r metav1.OwnerReference, namespace string) (p site, known bool) {
	resource := ownerKind(e, api.Key{APIVersion: r.APIVersion, Kind: r.Kind})
	switch {
	case resource == nil, e.Table(resource.Name()) == nil, !resource.ClusterScoped && namespace == "":
		return site{}, false
	case resource.ClusterScoped:
		namespace = ""
	}
	return site{resource.Name(), namespace, r.Name}, true
}

// ownerKind is the resource that owners of a kind are of; nil where that is not kept here. Of a custom kind there must be a definition.
func ownerKind(e *engine.Engine, k api.Key) *catalog.Resource {
	r := resourceOf(k)
	if r == nil || r.Plural != "" {
		return r
	}
	return definedKind(e, r.Kind.GroupKind())
}
