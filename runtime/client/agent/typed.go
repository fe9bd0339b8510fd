package agent

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

// known are the types that the agent has. client-go's own typed clients, its discovery and its leader election know all of Kubernetes': that
// takes 10 MiB of each agent's memory.
var known = func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(s))
	utilruntime.Must(coordinationv1.AddToScheme(s))
	s.AddKnownTypeWithName(catalog.Works.Kind, &api.Work{})
	s.AddKnownTypeWithName(workVersion.WithKind("WorkList"), &api.List[api.Work]{})
	metav1.AddToGroupVersion(s, workVersion)
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"}) // what every server answers in: its Status
	return s
}()

// clientOf asks a server for objects of one version. Those that have a smaller form than JSON are read in that.
func clientOf(c *rest.Config, version schema.GroupVersion) (rest.Interface, error) {
	own := rest.CopyConfig(c)
	own.GroupVersion, own.APIPath, own.NegotiatedSerializer = &version, "/apis", serializer.NewCodecFactory(known).WithoutConversion()
	own.ContentType = runtime.ContentTypeJSON
	if version.Group == "" {
		own.APIPath, own.AcceptContentTypes = "/api", runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	}
	return rest.RESTClientFor(own)
}

// ask makes a request, and returns its answer.
func ask[O runtime.Object](ctx context.Context, r *rest.Request, answer O) (O, error) {
	return answer, r.Do(ctx).Into(answer)
}

// eventSink writes Events.
type eventSink struct {
	core    rest.Interface
	timeout time.Duration
}

func (s *eventSink) write(r *rest.Request, e *corev1.Event) (*corev1.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	return ask(ctx, r.Namespace(e.Namespace).Resource("events"), &corev1.Event{})
}

// Create writes a new Event.
func (s *eventSink) Create(e *corev1.Event) (*corev1.Event, error) {
	return s.write(s.core.Post().Body(e), e)
}

// Update replaces an Event.
func (s *eventSink) Update(e *corev1.Event) (*corev1.Event, error) {
	return s.write(s.core.Put().Name(e.Name).Body(e), e)
}

// Patch counts an Event that happened again.
func (s *eventSink) Patch(e *corev1.Event, change []byte) (*corev1.Event, error) {
	return s.write(s.core.Patch(types.StrategicMergePatchType).Name(e.Name).Body(change), e)
}
