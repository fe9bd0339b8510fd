package agent

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
