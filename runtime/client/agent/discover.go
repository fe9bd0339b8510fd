package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"golang.org/x/sync/errgroup"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// aggregated are the forms of discovery in which a server tells all of its kinds in two answers. Source: KEP-3352.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

// The bounds of discovery: the bytes of one answer, and how many are awaited at the same time.
const (
	largestDiscovery = 64 << 20
	discoveries      = 8
)

// found is what discovery found: the kinds, and why not all of them are known.
type found struct {
	kinds      []*meta.RESTMapping
	incomplete error
}

// discovery asks a server for its kinds. What did not change since it asked last is not sent again.
type discovery struct {
	server *rest.RESTClient
	// last are the tags of the last answers, by path, and what came of them.
	tags map[string]string
	last map[string]*found
}

func newDiscovery(server rest.Interface) *discovery {
	return &discovery{server: server.(*rest.RESTClient), tags: map[string]string{}, last: map[string]*found{}}
}

// all returns all kinds that the server has. The error is that it does not tell of any; groups that do not answer leave what is found incomplete.
func (d *discovery) all(ctx context.Context) (*found, error) {
	sum := &found{}
	for _, path := range [...]string{"/api", "/apis"} {
		f, err := d.under(ctx, path)
		if err != nil {
			return nil, err
		}
		sum.kinds = append(sum.kinds, f.kinds...)
		sum.incomplete = errors.Join(sum.incomplete, f.incomplete)
	}
	return sum, nil
}

// under returns the kinds below a path.
func (d *discovery) under(ctx context.Context, path string) (*found, error) {
	a, err := d.get(ctx, path, d.tags[path])
	switch {
	case err != nil:
		return nil, err
	case a.code == http.StatusNotModified:
		return d.last[path], nil
	case a.code == http.StatusNotFound:
		return &found{}, nil
	}
	var f *found
	if strings.Contains(a.form, "as=APIGroupDiscoveryList") {
		f, err = kindsOfGroups(a.body)
	} else {
		f, err = d.oneByOne(ctx, path, a.body)
	}
	if err != nil {
		return nil, fmt.Errorf("read what %s answers: %w", path, err)
	}
	delete(d.tags, path)
	if f.incomplete == nil && a.tag != "" {
		d.tags[path], d.last[path] = a.tag, f
	}
	return f, nil
}

// answered is an answer of discovery.
type answered struct {
	code      int
	form, tag string
	body      []byte
}

func (d *discovery) get(ctx context.Context, path, tag string) (*answered, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.server.Get().AbsPath(path).URL().String(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", aggregated)
	if tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	response, err := d.server.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was read
	body, err := io.ReadAll(io.LimitReader(response.Body, largestDiscovery+1))
	switch known := response.StatusCode == http.StatusOK || response.StatusCode == http.StatusNotModified || response.StatusCode == http.StatusNotFound; {
	case err != nil:
		return nil, err
	case len(body) > largestDiscovery:
		return nil, fmt.Errorf("%s: the answer is larger than %d bytes", path, largestDiscovery)
	case !known:
		return nil, fmt.Errorf("%s: %s", path, response.Status)
	}
	return &answered{response.StatusCode, response.Header.Get("Content-Type"), response.Header.Get("ETag"), body}, nil
}

// kindsOfGroups reads the kinds of all groups.
func kindsOfGroups(body []byte) (*found, error) {
	var list apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	f := &found{}
	for i := range list.Items {
		g := &list.Items[i]
		for j := range g.Versions {
			v := &g.Versions[j]
			version := schema.GroupVersion{Group: g.Name, Version: v.Version}
			if v.Freshness == apidiscoveryv2.DiscoveryFreshnessStale {
				f.incomplete = errors.Join(f.incomplete, fmt.Errorf("%s does not answer", version))
			}
			for k := range v.Resources {
				if r := &v.Resources[k]; r.ResponseKind != nil {
					f.add(version, r.Resource, r.ResponseKind.Kind, r.Scope == apidiscoveryv2.ScopeNamespace)
				}
			}
		}
	}
	return f, nil
}

// oneByOne asks for the kinds of each version, as servers before Kubernetes 1.26 need it.
func (d *discovery) oneByOne(ctx context.Context, path string, body []byte) (*found, error) {
	versions, err := versionsOf(body)
	if err != nil {
		return nil, err
	}
	lists, problems := make([]metav1.APIResourceList, len(versions)), make([]error, len(versions))
	var asked errgroup.Group
	asked.SetLimit(discoveries)
	for i := range versions {
		asked.Go(func() error {
			a, err := d.get(ctx, path+"/"+versions[i], "")
			if err == nil && a.code != http.StatusOK {
				err = fmt.Errorf("%s: %s", versions[i], http.StatusText(a.code))
			}
			if err == nil {
				err = json.Unmarshal(a.body, &lists[i])
			}
			problems[i] = err
			return nil
		})
	}
	_ = asked.Wait() // each keeps its own
	f := &found{incomplete: errors.Join(problems...)}
	for i := range lists {
		version, err := schema.ParseGroupVersion(versions[i])
		if err != nil {
			return nil, err
		}
		for _, r := range lists[i].APIResources {
			f.add(version, r.Name, r.Kind, r.Namespaced)
		}
	}
	return f, nil
}

// versionsOf are the versions of the core group, or of all others.
func versionsOf(body []byte) ([]string, error) {
	var list struct {
		Versions []string          `json:"versions"`
		Groups   []metav1.APIGroup `json:"groups"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	for i := range list.Groups {
		for _, v := range list.Groups[i].Versions {
			list.Versions = append(list.Versions, v.GroupVersion)
		}
	}
	return list.Versions, nil
}

// add adds a kind, unless it is a subresource.
func (f *found) add(version schema.GroupVersion, resource, kind string, namespaced bool) {
	if kind == "" || strings.Contains(resource, "/") {
		return
	}
	var scope meta.RESTScope = meta.RESTScopeRoot
	if namespaced {
		scope = meta.RESTScopeNamespace
	}
	f.kinds = append(f.kinds, &meta.RESTMapping{Resource: version.WithResource(resource), GroupVersionKind: version.WithKind(kind), Scope: scope})
}
