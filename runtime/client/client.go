package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

// pageSize is how many objects a list asks for in one page.
const pageSize = "1000"

// Client speaks to one server. Errors of the server are Kubernetes' own: package k8s.io/apimachinery/pkg/api/errors
// tells them apart.
type Client struct{ rest rest.Interface }

// Load finds the server and the credentials as kubectl does: in a kubeconfig, or else in those of KUBECONFIG, or else
// in ~/.kube/config. An empty context is the file's own.
func Load(kubeconfig, context string) (*rest.Config, error) {
	c, err := loader(kubeconfig, context).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	return c, nil
}

// Namespace is that of a context, which is default where it names none.
func Namespace(kubeconfig, context string) string {
	namespace, _, err := loader(kubeconfig, context).Namespace()
	if err != nil { // Load says it
		return metav1.NamespaceDefault
	}
	return namespace
}

func loader(kubeconfig, context string) clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: context})
}

// New returns a client that writes the server's warnings to a writer, each a line and once. The server says how fast
// it may be asked, not the client.
func New(c *rest.Config, warnings io.Writer) (*Client, error) {
	own := rest.CopyConfig(c)
	own.UserAgent = "leeward"
	own.QPS = -1
	own.WarningHandler = rest.NewWarningWriter(warnings, rest.WarningWriterOptions{Deduplicate: true})
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	own.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	own.GroupVersion = &schema.GroupVersion{}
	r, err := rest.UnversionedRESTClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", c.Host, err)
	}
	return &Client{r}, nil
}

// path is where the objects of a resource are, in one namespace or, without one, in all.
func path(r *catalog.Resource, namespace string, further ...string) []string {
	p := []string{"api", r.Kind.Version}
	if r.Kind.Group != "" {
		p = []string{"apis", r.Kind.Group, r.Kind.Version}
	}
	if namespace != "" && !r.ClusterScoped {
		p = append(p, "namespaces", namespace)
	}
	p = append(p, r.Plural)
	for _, segment := range further {
		if segment != "" {
			p = append(p, segment)
		}
	}
	return append([]string{"/"}, p...)
}

// decode reads one object of a resource. Servers leave apiVersion and kind out of the items of a list.
func decode(r *catalog.Resource, data []byte) (api.Object, error) {
	o := r.New()
	if err := json.Unmarshal(data, o); err != nil {
		return nil, fmt.Errorf("decode %s: %w", r.Kind.Kind, err)
	}
	o.GetObjectKind().SetGroupVersionKind(r.Kind)
	return o, nil
}

// body is what the server answered, or what it said against the request.
func body(r rest.Result) ([]byte, error) {
	if err := r.Error(); err != nil {
		return nil, err
	}
	return r.Raw()
}

// Get reads one object.
func (c *Client) Get(ctx context.Context, r *catalog.Resource, namespace, name string) (api.Object, error) {
	data, err := body(c.rest.Get().AbsPath(path(r, namespace, name)...).Do(ctx))
	if err != nil {
		return nil, err
	}
	return decode(r, data)
}

// List reads the objects of a resource that a label selector fits, and the version of the list, at which a watch may
// begin. No namespace means all, no selector any object.
func (c *Client) List(ctx context.Context, r *catalog.Resource, namespace, selector string) (all []api.Object, version string, err error) {
	var page struct {
		Metadata metav1.ListMeta
		Items    []json.RawMessage
	}
	for {
		request := c.rest.Get().AbsPath(path(r, namespace)...).Param("limit", pageSize)
		if selector != "" {
			request.Param("labelSelector", selector)
		}
		if next := page.Metadata.Continue; next != "" {
			request.Param("continue", next)
		}
		data, err := body(request.Do(ctx))
		if err != nil {
			return nil, "", err
		}
		page.Metadata, page.Items = metav1.ListMeta{}, nil
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, "", fmt.Errorf("decode the list of %s: %w", r.Plural, err)
		}
		for _, item := range page.Items {
			o, err := decode(r, item)
			if err != nil {
				return nil, "", err
			}
			all = append(all, o)
		}
		if page.Metadata.Continue == "" {
			return all, page.Metadata.ResourceVersion, nil
		}
	}
}

// Create writes a new object, and returns it as the server stored or answered it.
func (c *Client) Create(ctx context.Context, r *catalog.Resource, o api.Object) (api.Object, error) {
	return c.create(ctx, r, o, false)
}

// TryCreate has the server say what it would say to a new object, and change nothing.
func (c *Client) TryCreate(ctx context.Context, r *catalog.Resource, o api.Object) error {
	_, err := c.create(ctx, r, o, true)
	return err
}

func (c *Client) create(ctx context.Context, r *catalog.Resource, o api.Object, dryRun bool) (api.Object, error) {
	o.GetObjectKind().SetGroupVersionKind(r.Kind)
	data, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", api.KeyOf(o), err)
	}
	request := c.rest.Post().AbsPath(path(r, o.GetNamespace())...).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(data)
	if dryRun {
		request.Param("dryRun", metav1.DryRunAll)
	}
	answer, err := body(request.Do(ctx))
	if err != nil {
		return nil, err
	}
	return decode(r, answer)
}

// Patch is a JSON merge patch of one object, or of its status.
type Patch struct {
	Resource        *catalog.Resource
	Namespace, Name string
	// Subresource is "status", or empty.
	Subresource string
	// Body is encoded as JSON.
	Body any
	// DryRun has the server say what it would say, and change nothing.
	DryRun bool
}

// Patch changes an object.
func (c *Client) Patch(ctx context.Context, p *Patch) error {
	data, err := json.Marshal(p.Body)
	if err != nil {
		return fmt.Errorf("encode a patch of %s %s: %w", p.Resource.Kind.Kind, p.Name, err)
	}
	request := c.rest.Patch(types.MergePatchType).AbsPath(path(p.Resource, p.Namespace, p.Name, p.Subresource)...).Body(data)
	if p.DryRun {
		request.Param("dryRun", metav1.DryRunAll)
	}
	return request.Do(ctx).Error()
}

// Apply has an object be as a manifest says, by server-side apply: a field that the manager applied before, and does not now, is removed. It
// returns the object as the server has it, or would have it where dryRun is set.
func (c *Client) Apply(ctx context.Context, r *catalog.Resource, o *unstructured.Unstructured, manager string, dryRun bool) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", api.KeyOf(o), err)
	}
	request := c.rest.Patch(types.ApplyPatchType).AbsPath(path(r, o.GetNamespace(), o.GetName())...).
		Param("fieldManager", manager).Param("force", "true").Body(data)
	if dryRun {
		request.Param("dryRun", metav1.DryRunAll)
	}
	answer, err := body(request.Do(ctx))
	if err != nil {
		return nil, err
	}
	applied := &unstructured.Unstructured{}
	if err := json.Unmarshal(answer, applied); err != nil {
		return nil, fmt.Errorf("decode %s: %w", api.KeyOf(o), err)
	}
	return applied, nil
}

// Delete deletes an object.
func (c *Client) Delete(ctx context.Context, r *catalog.Resource, namespace, name string) error {
	return c.rest.Delete().AbsPath(path(r, namespace, name)...).Do(ctx).Error()
}

// Removal is how a pod is deleted or evicted.
type Removal struct {
	Namespace, Name string
	// GracePeriodSeconds is granted in place of its own; nil: its own.
	GracePeriodSeconds *int64
	// DryRun has the server say what it would say, and change nothing.
	DryRun bool
}

func (r *Removal) options() *metav1.DeleteOptions {
	o := &metav1.DeleteOptions{GracePeriodSeconds: r.GracePeriodSeconds}
	if r.DryRun {
		o.DryRun = []string{metav1.DryRunAll}
	}
	return o
}

// Evict asks the Eviction API to delete a pod.
func (c *Client) Evict(ctx context.Context, r *Removal) error {
	data, err := json.Marshal(&policyv1.Eviction{
		TypeMeta:   metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "Eviction"},
		ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Name}, DeleteOptions: r.options(),
	})
	if err != nil {
		return fmt.Errorf("encode the eviction of pod %s/%s: %w", r.Namespace, r.Name, err)
	}
	return c.rest.Post().AbsPath(path(catalog.Pods, r.Namespace, r.Name, "eviction")...).SetHeader("Content-Type", runtime.ContentTypeJSON).MaxRetries(0).Body(data).Do(ctx).Error()
}

// DeletePod deletes a pod within its grace period.
func (c *Client) DeletePod(ctx context.Context, r *Removal) error {
	data, err := json.Marshal(r.options())
	if err != nil {
		return fmt.Errorf("encode the deletion of pod %s/%s: %w", r.Namespace, r.Name, err)
	}
	return c.rest.Delete().AbsPath(path(catalog.Pods, r.Namespace, r.Name)...).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(data).Do(ctx).Error()
}

// ServerVersion is what the server says that it is: "v1.37.2".
func (c *Client) ServerVersion(ctx context.Context) (string, error) {
	data, err := body(c.rest.Get().AbsPath("/version").Do(ctx))
	if err != nil {
		return "", err
	}
	var v struct{ GitVersion string }
	if err := json.Unmarshal(data, &v); err != nil {
		return "", fmt.Errorf("decode the version of the server: %w", err)
	}
	return v.GitVersion, nil
}

// Serves reports whether the server has a resource, which it tells every user: to those without the right to list it, it answers the same of
// resources that it does not have.
func (c *Client) Serves(ctx context.Context, r *catalog.Resource) (bool, error) {
	data, err := body(c.rest.Get().AbsPath("/apis", r.Kind.Group, r.Kind.Version).Do(ctx))
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var has metav1.APIResourceList
	if err := json.Unmarshal(data, &has); err != nil {
		return false, fmt.Errorf("decode the resources of %s: %w", r.Kind.GroupVersion(), err)
	}
	return slices.ContainsFunc(has.APIResources, func(of metav1.APIResource) bool { return of.Name == r.Plural }), nil
}

// stream opens the stream of changes after a version.
func (c *Client) stream(ctx context.Context, r *catalog.Resource, namespace, selector, version string) (io.ReadCloser, error) {
	request := c.rest.Get().AbsPath(path(r, namespace)...).
		Param("watch", "true").Param("allowWatchBookmarks", "true").
		Param("resourceVersion", version).Param("timeoutSeconds", strconv.Itoa(watchSeconds))
	if selector != "" {
		request.Param("labelSelector", selector)
	}
	return request.Stream(ctx)
}
