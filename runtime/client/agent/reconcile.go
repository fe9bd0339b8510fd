package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"leeward/messages/api"
	"leeward/messages/lists"
)

// fieldManager owns in the member what the agent applies.
const fieldManager = "leeward-agent"

// applied is what is known of one object of a Work.
type applied struct {
	// asked is the digest of the manifest, and content that of the object that came of it, at its version, and when.
	asked, content uint64
	version        string
	at             time.Time
	// uid is that of the object: it is of the Work though something else took its marks off.
	uid     types.UID
	repairs repairs
	// misread is what a script failed to read of it last.
	misread news
}

// reconcile has the member hold what a Work holds, and reports what came of it.
func (t *term) reconcile(ctx context.Context, name string) error {
	o, exists, err := t.works.GetStore().GetByKey(t.workNamespace() + "/" + name)
	if err != nil {
		return err
	}
	if !exists {
		t.forget(name) // whatever removed it without its finalizer did not ask the agent to delete anything
		return nil
	}
	w := o.(*api.Work)
	if !t.reachable.Load() {
		return errPending // each Work is looked at when the member is back
	}
	if w.DeletionTimestamp != nil {
		return t.remove(ctx, w)
	}
	manifests, err := manifestsOf(w)
	if err != nil {
		t.metrics.refused.Inc()
		return t.report(ctx, w, nil, err) // another attempt finds the same
	}
	all, pending := t.applyAll(ctx, w, manifests)
	if pending {
		return errPending
	}
	if !suspended(w) {
		all = append(all, t.prune(ctx, w, manifests)...)
	}
	return errors.Join(t.report(ctx, w, all, nil), errors.Join(lists.Of(all, func(one copied) error { return one.err })...))
}

func (t *term) report(ctx context.Context, w *api.Work, all []copied, problem error) error {
	s := reportOf(w, all, problem, t.Clock.Now())
	written, err := t.hub.writeStatus(ctx, w, &s)
	if !written {
		return err
	}
	t.metrics.reported.Inc()
	is, was := meta.FindStatusCondition(s.Conditions, api.ConditionApplied), meta.FindStatusCondition(w.Status.Conditions, api.ConditionApplied)
	if is != nil && is.Status == metav1.ConditionFalse && (was == nil || was.Message != is.Message) {
		t.hub.warn(w, is.Reason, is.Message)
	}
	return nil
}

// applyAll applies the manifests of a Work. One that is refused stops no other. Pending: the member must say more before anything
// can be reported.
func (t *term) applyAll(ctx context.Context, w *api.Work, manifests []*unstructured.Unstructured) (all []copied, pending bool) {
	known := t.knownOf(w.Name)
	current := map[identity]bool{}
	for i, o := range manifests {
		id := identityOf(o)
		current[id] = true
		if known[id] == nil {
			known[id] = &applied{}
		}
		c := copied{identifier: identifierOf(i, o.GroupVersionKind(), id)}
		c.err = t.applyOne(ctx, w, o, known[id], &c)
		t.scripts.judge(&c)
		t.tellMisread(w, known[id], c.misread)
		if errors.Is(c.err, errPending) {
			pending = true
			continue
		}
		if c.err != nil {
			t.metrics.refused.Inc()
		} else if c.live != nil {
			c.unschedulable = t.member.unschedulable(id)
		}
		all = append(all, c)
	}
	for id := range known { // order-free: each by itself
		if !current[id] {
			delete(known, id)
		}
	}
	return all, pending
}

// tellMisread tells of what a script failed to read, if that is news.
func (t *term) tellMisread(w *api.Work, known *applied, failed error) {
	if known.misread.has(failed) {
		t.hub.warn(w, "InterpretationFailed", failed.Error()+"; the rules of its kind are used")
	}
}

func identifierOf(ordinal int, kind schema.GroupVersionKind, id identity) api.ResourceIdentifier {
	return api.ResourceIdentifier{Ordinal: ordinal, Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Namespace: id.namespace, Name: id.name}
}

// applyOne has the member hold one manifest, and notes what it holds then.
func (t *term) applyOne(ctx context.Context, w *api.Work, o *unstructured.Unstructured, known *applied, c *copied) error {
	mapping, err := t.mapped(o)
	if err != nil {
		return err
	}
	c.identifier.Resource = mapping.Resource.Resource
	id := identityOf(o)
	live, err := t.live(ctx, mapping, id, w)
	if err != nil {
		return err
	}
	if suspended(w) {
		if live != nil && workOf(live, w.Namespace) == w.Name {
			c.live = live
		}
		return nil
	}
	if err := mayTake(o, live, w, known.uid); err != nil {
		return err
	}
	asked := digest(o)
	if known.asked == asked {
		switch {
		case live != nil && digest(live) == known.content:
			c.live = live
			return nil
		case live != nil && older(live, known):
			if wait := tellsWithin - t.Clock.Now().Sub(known.at); wait > 0 {
				t.todo.AddAfter(w.Name, wait)
				return errPending // the member has not told of the last change yet
			}
		}
		if wait := known.repairs.due(t.Clock.Now()); wait > 0 {
			t.todo.AddAfter(w.Name, wait)
			if live != nil && workOf(live, w.Namespace) == w.Name {
				c.live = live
			}
			return nil
		}
	}
	return t.put(ctx, w, mapping, o, live, known, asked, c)
}

// mapped is where a manifest is in the member, once its kind can be followed there.
func (t *term) mapped(o *unstructured.Unstructured) (*meta.RESTMapping, error) {
	mapping, err := t.member.mapping(o.GroupVersionKind())
	switch namespaced := err == nil && mapping.Scope.Name() == meta.RESTScopeNameNamespace; {
	case err != nil:
		return nil, err
	case namespaced && o.GetNamespace() == "":
		return nil, fmt.Errorf("%s: metadata.namespace: required", identityOf(o))
	case !namespaced && o.GetNamespace() != "":
		return nil, fmt.Errorf("%s: metadata.namespace: the member has this kind in no namespace", identityOf(o))
	}
	return mapping, nil
}

// live returns an object as the member has it; nil: it has none. What was not applied by an agent is not followed, and asked for.
func (t *term) live(ctx context.Context, mapping *meta.RESTMapping, id identity, w *api.Work) (*unstructured.Unstructured, error) {
	f := t.kinds.follow(t.ctx, mapping)
	if err := f.ready(); err != nil {
		return nil, err
	}
	if o := f.find(id); o != nil && workOf(o, w.Namespace) == w.Name {
		return o, nil
	}
	o, err := t.member.get(ctx, mapping, id)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", id, err)
	}
	return o, nil
}

// tellsWithin is how long after a write a watch may tell of what was before it. What is older then is from a backup that the member was
// restored from, whose versions begin again.
const tellsWithin = 30 * time.Second

// older reports whether an object is of an older version than the one that was applied.
func older(live *unstructured.Unstructured, known *applied) bool {
	order, err := resourceversion.CompareResourceVersion(live.GetResourceVersion(), known.version)
	return err == nil && order < 0
}

// put applies a manifest.
func (t *term) put(ctx context.Context, w *api.Work, mapping *meta.RESTMapping, o, live *unstructured.Unstructured, known *applied, asked uint64, c *copied) error {
	id := identityOf(o)
	keepMembers(o, live)
	o, c.misread = t.scripts.keep(o, live)
	mark(o, w)
	result, err := t.patch(ctx, mapping, o)
	if t.CreateNamespaces && id.namespace != "" && lacksNamespace(err) {
		if err = t.member.createNamespace(ctx, id.namespace); err == nil {
			t.Log.Info().Str("work", w.Name).Str("namespace", id.namespace).Msg("created")
			result, err = t.patch(ctx, mapping, o)
		}
	}
	if err != nil {
		*known = applied{repairs: known.repairs, misread: known.misread, uid: known.uid}
		return fmt.Errorf("apply %s: %w", id, err)
	}
	did := "applied"
	if known.asked == asked {
		did = "repaired"
		t.metrics.repaired.Inc()
	}
	if live == nil || result.GetResourceVersion() != live.GetResourceVersion() {
		t.Log.Info().Str("work", w.Name).Int64("generation", w.Generation).Str("object", id.String()).Msg(did)
	}
	t.metrics.applied.Inc()
	known.asked, known.content, known.version, known.at, known.uid = asked, digest(result), result.GetResourceVersion(), t.Clock.Now(), result.GetUID()
	c.live = result
	return nil
}

func (t *term) patch(ctx context.Context, mapping *meta.RESTMapping, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	return t.member.in(mapping, o.GetNamespace()).Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
}

// lacksNamespace reports whether a write was refused because its namespace does not exist.
func lacksNamespace(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return status.Status().Details.Kind == "namespaces"
}

// prune deletes what a Work held and holds no longer: objects that say they are of it, and those that its last report names. It
// returns those that remain for now, so that the next report names them, too.
func (t *term) prune(ctx context.Context, w *api.Work, manifests []*unstructured.Unstructured) (remaining []copied) {
	held := map[identity]bool{}
	for _, o := range manifests {
		held[identityOf(o)] = true
	}
	for _, former := range t.formerly(w, held) {
		gone, err := t.delete(ctx, w, former)
		if gone && err == nil {
			continue
		}
		c := copied{identifier: former.identifier, err: err}
		c.identifier.Ordinal = len(manifests) + len(remaining)
		remaining = append(remaining, c)
	}
	return remaining
}

// former is an object that a Work held.
type former struct {
	identifier api.ResourceIdentifier
	id         identity
}

// formerly are the objects that are, or were, of a Work, but for those that it holds, in an order.
func (t *term) formerly(w *api.Work, held map[identity]bool) (all []former) {
	add := func(i api.ResourceIdentifier) {
		id := identity{i.Group, i.Kind, i.Namespace, i.Name}
		if !held[id] && !slices.ContainsFunc(all, func(f former) bool { return f.id == id }) {
			all = append(all, former{i, id})
		}
	}
	for i := range w.Status.ManifestStatuses {
		add(w.Status.ManifestStatuses[i].Identifier)
	}
	for _, o := range t.kinds.ownedBy(w.Name) {
		i := identifierOf(0, o.object.GroupVersionKind(), identityOf(o.object))
		i.Resource = o.mapping.Resource.Resource
		add(i)
	}
	slices.SortFunc(all, func(a, b former) int { return strings.Compare(a.id.String(), b.id.String()) })
	return all
}

// knownOf is what is known of the objects of a Work.
func (t *term) knownOf(work string) map[identity]*applied {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.applied[work] == nil {
		t.applied[work] = map[identity]*applied{}
	}
	return t.applied[work]
}

func (t *term) forget(work string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.applied, work)
}

// digest tells whether an object is as it was, apart from its status and the member's bookkeeping.
func digest(o *unstructured.Unstructured) uint64 {
	content := maps.Clone(o.Object)
	delete(content, "status")
	if m, is := content["metadata"].(map[string]any); is {
		m = maps.Clone(m)
		for _, field := range []string{"managedFields", "resourceVersion", "generation", "selfLink"} {
			delete(m, field)
		}
		content["metadata"] = m
	}
	h := fnv.New64a()
	if err := json.NewEncoder(h).Encode(content); err != nil {
		panic(err) // it was decoded from JSON
	}
	return h.Sum64()
}

// The waits between repairs of one object that something else keeps changing.
const (
	firstRepairWait = time.Second
	lastRepairWait  = 5 * time.Minute
)

// repairs paces the repairs of one object: the first is made immediately, those that follow it wait longer each time, and as at
// first once the object was as it should be for twice the last wait.
type repairs struct {
	last time.Time
	wait time.Duration
}

// due says how long a repair must wait; zero: it is made now, and counted.
func (r *repairs) due(now time.Time) time.Duration {
	since := now.Sub(r.last)
	switch {
	case r.last.IsZero() || since >= 2*max(r.wait, firstRepairWait):
		r.wait = 0
	case since < r.wait:
		return r.wait - since
	}
	r.last, r.wait = now, min(max(2*r.wait, firstRepairWait), lastRepairWait)
	return 0
}
