// Package recorder writes what an API server's objects are and what becomes of them, as package incident reads it.
package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/benbjohnson/clock"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/client"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/scenario/incident"
)

// Config says what is recorded, and where to.
type Config struct {
	Client *client.Client
	Clock  clock.Clock
	// Out gets one line for each write.
	Out       io.Writer
	Resources []*catalog.Resource
	// Namespace limits what is in namespaces to one, with the Works of its bindings; empty: all. Selector limits
	// workloads by their labels, with their bindings and Works; empty: all.
	Namespace, Selector string
	// Leeward is our version; Profile and Settings ("field=value") are those of the engine that is recorded, as far as
	// they are known.
	Leeward, Profile string
	Settings         []string
	// Key hides what secrets hold: without it it is impossible to guess that from its digest.
	Key []byte
	// Tell is told how many objects existed and how many changes there were, after each.
	Tell func(objects, changes int)
}

// ErrNothing says that the server has none of the resources, or shows none.
var ErrNothing = errors.New("nothing could be recorded")

// Run records until the context ends; a server that goes away is waited for, because that is when there is something to
// record. The error says what could not be listed at first, or not be written.
func Run(ctx context.Context, c *Config) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r := &recording{Config: c, stop: stop, chosen: chosen{workloads: map[api.Key]bool{}, bindings: map[messages.BindingName]bool{}}}
	version, err := c.Client.ServerVersion(ctx)
	if err != nil {
		return fmt.Errorf("ask the server for its version: %w", err)
	}
	r.write(&incident.Line{
		Type: incident.Header, Format: incident.Format, Leeward: c.Leeward, ServerVersion: version,
		Resources: names(c.Resources), Profile: c.Profile, Config: c.Settings,
	})
	followed, err := r.begin(ctx)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	for _, f := range followed {
		all.Go(func() { f.follow(ctx) })
	}
	all.Wait()
	reason := "it was interrupted"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		reason = "its time was up"
	}
	r.write(&incident.Line{Type: incident.End, Reason: reason})
	return r.failed
}

func names(all []*catalog.Resource) []string {
	return lists.Of(all, func(r *catalog.Resource) string { return r.Name().String() })
}

// begin lists all resources, and returns those that can be followed.
func (r *recording) begin(ctx context.Context) ([]*followed, error) {
	var all []*followed
	for _, resource := range r.Resources {
		f := r.followed(resource)
		err := f.list(ctx)
		switch {
		case client.Refused(err):
			r.write(&incident.Line{Type: incident.Absent, Resource: f.name, Reason: err.Error()})
			continue
		case err != nil:
			return nil, fmt.Errorf("list %s: %w", resource.Plural, err)
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		return nil, ErrNothing
	}
	return all, r.failed
}

// recording is one file that is being written.
type recording struct {
	*Config
	stop context.CancelFunc // once failed is set

	mu               sync.Mutex
	chosen           chosen
	objects, changes int
	// failed is why nothing can be written any more.
	failed error
}

// write stamps a line and writes it.
func (r *recording) write(l *incident.Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil {
		return
	}
	l.Time = r.Clock.Now().UTC().Truncate(time.Millisecond)
	text, err := json.Marshal(l)
	if err == nil {
		_, err = r.Out.Write(append(text, '\n'))
	}
	if err != nil {
		r.failed = fmt.Errorf("write the recording: %w", err)
		r.stop()
		return
	}
	switch l.Type {
	case incident.Stood:
		r.objects++
	case incident.Added, incident.Modified, incident.Deleted:
		r.changes++
	default:
		return
	}
	r.Tell(r.objects, r.changes)
}

// followed is one resource that is recorded.
type followed struct {
	*recording
	resource *catalog.Resource
	name     string
	// version is up to which its changes are written; lost is set once it is written that they cannot be followed.
	version string
	lost    bool
}

// followed prepares a resource: its objects are read as they are, not as far as we know their fields.
func (r *recording) followed(resource *catalog.Resource) *followed {
	raw := *resource
	raw.New = func() api.Object { return &object{} }
	return &followed{recording: r, resource: &raw, name: resource.Name().String()}
}

func (f *followed) list(ctx context.Context) error {
	objects, version, err := f.Client.List(ctx, f.resource, f.within(), f.labels())
	if err != nil {
		return err
	}
	for _, o := range objects {
		f.object(incident.Stood, o)
	}
	f.write(&incident.Line{Type: incident.Listed, Resource: f.name, ResourceVersion: version, Objects: len(objects)})
	f.version = version
	return nil
}

// object writes one object, if it must be recorded, and then what came too early to be known as its.
func (f *followed) object(kind incident.Type, o api.Object) {
	u := o.(*object)
	if !f.wants(kind, u) {
		return
	}
	f.put(kind, u)
	for _, e := range f.choose(u) {
		e.of.object(e.kind, e.object)
	}
}

// put writes one object.
func (f *followed) put(kind incident.Type, u *object) {
	writers := writersOf(u)
	f.redact(u)
	text, err := u.MarshalJSON()
	if err != nil {
		panic(fmt.Sprintf("recorder: %s was decoded and cannot be encoded: %v", api.KeyOf(u), err))
	}
	f.write(&incident.Line{Type: kind, Object: text, Writers: writers})
}

// follow writes changes until the context ends.
func (f *followed) follow(ctx context.Context) {
	var patience client.Patience
	for {
		before := f.version
		err := f.watch(ctx)
		moved := f.version != before
		f.lost = f.lost && err != nil && !moved
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && moved:
			continue
		case err != nil && !f.lost && !expired(err):
			f.lost = true
			f.write(&incident.Line{Type: incident.Lost, Resource: f.name, Reason: err.Error()})
		}
		patience.Wait(ctx, f.Clock)
	}
}

// watch writes the changes of one watch. A server that has forgotten where we were is asked for all there is.
func (f *followed) watch(ctx context.Context) (err error) {
	f.version, err = f.Client.Watch(ctx, &client.Stretch{
		Resource: f.resource, Namespace: f.within(), Selector: f.labels(), Version: f.version,
		Changed: func(kind watch.EventType, o api.Object) { f.object(incident.Type(kind), o) },
	})
	if !expired(err) {
		return err
	}
	f.write(&incident.Line{Type: incident.Gap, Resource: f.name, Reason: err.Error()})
	return f.list(ctx)
}

func expired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// further are resources that the daemon does not have, and that an incident may be understood by.
var further = []catalog.Resource{
	{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Node"}, Plural: "nodes", ClusterScoped: true, New: func() api.Object { return &corev1.Node{} }},
	{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Plural: "pods", New: func() api.Object { return &corev1.Pod{} }},
}

// every resource that can be recorded, each after what it refers to.
func every() []*catalog.Resource {
	var all []*catalog.Resource
	for _, list := range [][]catalog.Resource{catalog.All, further} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
}

// Names are the names of all resources that can be recorded.
func Names() []string {
	return lists.Of(every(), func(r *catalog.Resource) string { return r.Plural })
}

// usual reports whether a resource is recorded without being asked for: what decisions are made of, not what is said of
// them.
func usual(r *catalog.Resource) bool {
	return catalog.Of(r.Key("", "")) != nil && r != catalog.Events && r != catalog.Namespaces
}

// Named are the resources of some names: "deployments", "deployments.apps" or "Deployment". Without names they are the
// usual ones.
func Named(names []string) ([]*catalog.Resource, error) {
	all := every()
	if len(names) == 0 {
		return slices.DeleteFunc(all, func(r *catalog.Resource) bool { return !usual(r) }), nil
	}
	wanted := map[*catalog.Resource]bool{}
	for _, name := range names {
		is := func(r *catalog.Resource) bool {
			return name == r.Plural || name == r.Name().String() || strings.EqualFold(name, r.Kind.Kind)
		}
		i := slices.IndexFunc(all, is)
		if i < 0 {
			return nil, fmt.Errorf("unknown resource %q; there are %s", name, strings.Join(Names(), ", "))
		}
		wanted[all[i]] = true
	}
	return slices.DeleteFunc(all, func(r *catalog.Resource) bool { return !wanted[r] }), nil
}
