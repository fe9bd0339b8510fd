package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"leeward/messages/api"
)

// The bounds of one Work. What exceeds them is refused whole, so that nothing of it is half applied.
const (
	// MostManifests is as many as the status of a Work may report.
	MostManifests = 100
	// LargestManifest is what etcd takes in one request unless it is configured otherwise.
	LargestManifest = 3 << 19
)

// manifestsOf reads the manifests of a Work. The error names the first that no member could apply.
func manifestsOf(w *api.Work) ([]*unstructured.Unstructured, error) {
	raw := w.Spec.Workload.Manifests
	if len(raw) > MostManifests {
		return nil, fmt.Errorf("spec.workload.manifests: %d manifests, the agent takes at most %d", len(raw), MostManifests)
	}
	all := make([]*unstructured.Unstructured, 0, len(raw))
	known := map[identity]int{}
	for i := range raw {
		field := fmt.Sprintf("spec.workload.manifests[%d]", i)
		if n := len(raw[i].Raw); n > LargestManifest {
			return nil, fmt.Errorf("%s: %d bytes, the agent takes at most %d", field, n, LargestManifest)
		}
		o := &unstructured.Unstructured{}
		if err := json.Unmarshal(raw[i].Raw, &o.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		if err := checkManifest(o); err != nil {
			return nil, fmt.Errorf("%s.%w", field, err)
		}
		id := identityOf(o)
		if first, twice := known[id]; twice {
			return nil, fmt.Errorf("%s: %s is manifests[%d], too", field, id, first)
		}
		known[id] = i
		all = append(all, o)
	}
	return all, nil
}

func checkManifest(o *unstructured.Unstructured) error {
	for _, required := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}} {
		name := required[len(required)-1]
		if name == "name" {
			name = "metadata.name"
		}
		switch text, found, err := unstructured.NestedString(o.Object, required...); {
		case err != nil:
			return fmt.Errorf("%s: must be a text", name)
		case !found || text == "":
			return fmt.Errorf("%s: required", name)
		}
	}
	if o.IsList() {
		return fmt.Errorf("kind: %s holds several objects, a manifest is one", o.GetKind())
	}
	return nil
}

// identity names one object of the member. Versions of one kind are the same object.
type identity struct{ group, kind, namespace, name string }

func identityOf(o *unstructured.Unstructured) identity {
	return identity{o.GroupVersionKind().Group, o.GetKind(), o.GetNamespace(), o.GetName()}
}

func (i identity) String() string {
	name := i.name
	if i.namespace != "" {
		name = i.namespace + "/" + name
	}
	return i.kind + " " + name
}

// Panic is a fault of the agent. It ends the agent, and nothing else of the process.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("the agent panicked: %v", p.Value) }

// Guard does one thing, and returns the panic that ended it; nil: none did.
func Guard(do func()) (p *Panic) {
	defer func() {
		if v := recover(); v != nil {
			p = &Panic{v, debug.Stack()}
		}
	}()
	do()
	return nil
}

// border keeps panics inside of one agent. All code of the agent that others call in goroutines of theirs goes through it.
type border struct {
	end context.CancelCauseFunc
}

// within does one thing. A panic ends the agent.
func (b *border) within(do func()) {
	if p := Guard(do); p != nil {
		b.end(p)
	}
}

// handlers tell the agent of objects.
func (b *border) handlers(added func(any), updated func(before, now any), deleted func(any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { b.within(func() { added(o) }) },
		UpdateFunc: func(before, now any) { b.within(func() { updated(before, now) }) },
		DeleteFunc: func(o any) { b.within(func() { deleted(o) }) },
	}
}

// lean is what informers keep of objects. What cannot be made lean is kept whole.
func (b *border) lean(o any) (kept any, err error) {
	kept = o
	b.within(func() { kept, err = lean(o) })
	return kept, err
}

// index is an index of an informer. What cannot be indexed is in none.
func (b *border) index(of func(any) []string) cache.IndexFunc {
	return func(o any) (keys []string, _ error) {
		b.within(func() { keys = of(o) })
		return keys, nil
	}
}
