package clienttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Fast serves the requests of an agent for nearly nothing, so that a benchmark measures the agent: objects are kept as the text in which
// they came, and no field is looked at. It applies, patches statuses, lists, watches and deletes; it knows no conflict, and refuses nothing.
type Fast struct {
	http *httptest.Server

	mu       sync.Mutex
	changed  *sync.Cond
	version  int
	kinds    map[string]*fastKind
	closed   bool
	statuses int
	renewals int
	down     bool
	cuts     int
	refused  map[string]bool
	listed   []time.Time
	clock    clock.Clock
}

// fastKind are the objects of one resource, "/apis/apps/v1/deployments", by namespace and name, and all changes of them in order.
type fastKind struct {
	objects map[string]*fastObject
	log     []fastChange
}

// fastObject is the text of an object, and that of its status if it was written apart.
type fastObject struct {
	version      int
	text, status []byte
}

type fastChange struct {
	key, kind string
	version   int
	text      []byte
}

// fastKinds is what is served: of each version its resources, with their kinds; those in no namespace are marked.
var fastKinds = map[string]map[string]string{
	"/api/v1":                           {"configmaps": "ConfigMap", "secrets": "Secret", "events": "Event", "namespaces": "!Namespace", "nodes": "!Node", "pods": "Pod"},
	"/apis/apps/v1":                     {"deployments": "Deployment"},
	"/apis/cluster.karmada.io/v1alpha1": {"clusters": "!Cluster"},
	"/apis/coordination.k8s.io/v1":      {"leases": "Lease"},
	"/apis/work.karmada.io/v1alpha1":    {"works": "Work"},
	"/apis/config.karmada.io/v1alpha1":  {"resourceinterpretercustomizations": "!ResourceInterpreterCustomization"},
}

// NewFast serves until the test ends.
func NewFast(t testing.TB) *Fast {
	s := &Fast{kinds: map[string]*fastKind{}, clock: clock.New()}
	s.changed = sync.NewCond(&s.mu)
	for version, resources := range fastKinds { // order-free: each by itself
		for resource := range resources {
			s.kinds[version+"/"+resource] = &fastKind{objects: map[string]*fastObject{}}
		}
	}
	s.http = httptest.NewUnstartedServer(s)
	s.http.EnableHTTP2 = true
	s.http.StartTLS()
	t.Cleanup(func() {
		s.mu.Lock()
		s.closed = true
		s.changed.Broadcast()
		s.mu.Unlock()
		s.http.Close()
	})
	return s
}

// Config is how clients reach it.
func (s *Fast) Config() *rest.Config {
	return &rest.Config{Host: s.http.URL, BearerToken: "any", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
}

// Put writes an object at its path.
func (s *Fast) Put(path, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind, key := split(path)
	s.put(s.kinds[kind], key, []byte(text), nil)
}

// PullCluster is a Cluster whose agent reads its Works.
const PullCluster = `{"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{"name":"m1"},"spec":{"syncMode":"Pull"}}`

// WebWork is a Work of cluster m1 that holds one Deployment: its path, and its text.
func WebWork(i int) (path, text string) {
	return fmt.Sprintf("/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works/work-%d", i), fmt.Sprintf(`{"apiVersion":"work.karmada.io/v1alpha1","kind":"Work",
		"metadata":{"name":"work-%[1]d","namespace":"karmada-es-m1","generation":1,"finalizers":["karmada.io/execution-controller"]},
		"spec":{"workload":{"manifests":[{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web-%[1]d","namespace":"shop","labels":{"app":"web"}},
		"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"nginx",
		"ports":[{"containerPort":80}],"resources":{"requests":{"cpu":"100m","memory":"128Mi"}}}]}}}}]}}}`, i)
}

// WebPod is a pod of the Deployment of a WebWork: its path, and its text.
func WebPod(i, replica int) (path, text string) {
	return fmt.Sprintf("/api/v1/namespaces/shop/pods/web-%d-%d", i, replica), fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-%d-%d","namespace":"shop",
		"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-%[1]d-5d","controller":true}],"labels":{"app":"web","pod-template-hash":"5d"}},
		"spec":{"nodeName":"n1","containers":[{"name":"web","image":"nginx","resources":{"requests":{"cpu":"100m","memory":"128Mi"}}}]},"status":{"phase":"Running"}}`, i, replica)
}

// Empty takes all objects of a resource away.
func (s *Fast) Empty(resource string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kinds[resource]
	for key := range k.objects { // order-free: in a benchmark any order does
		s.delete(k, key)
	}
}

// AwaitStatuses waits until so many statuses of Works were written, and begins to count again.
func (s *Fast) AwaitStatuses(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.statuses < n {
		s.changed.Wait()
	}
	s.statuses = 0
}

// AwaitRenewals waits until so many Leases were written from now on.
func (s *Fast) AwaitRenewals(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for last := s.renewals + n; s.renewals < last; {
		s.changed.Wait()
	}
}

// Down has it refuse all requests and end all watches, as a server does that is gone; false: it is back.
func (s *Fast) Down(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down, s.listed, s.refused = is, nil, map[string]bool{}
	s.cuts++ // also of a watch that sees nothing of a short time
	s.changed.Broadcast()
}

// AwaitRefused waits until the Works of so many clusters were asked for in vain since it went down.
func (s *Fast) AwaitRefused(clusters int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		n := 0
		for asked := range s.refused { // order-free: a count
			if strings.Contains(asked, "/works ") {
				n++
			}
		}
		if n >= clusters {
			return
		}
		s.changed.Wait()
	}
}

// AwaitLists waits until lists of Works were asked for so often since it came back, and says when each was.
func (s *Fast) AwaitLists(n int) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.listed) < n {
		s.changed.Wait()
	}
	return slices.Clone(s.listed)
}

// Forget takes all statuses away.
func (s *Fast) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kinds { // order-free: each by itself
		for _, o := range k.objects {
			o.status = nil
		}
	}
}

// split cuts a path into the resource and "namespace/name"; a list has no name.
func split(path string) (kind, key string) {
	parts := strings.Split(path, "/")
	version := 3 // /api/v1
	if len(parts) > 1 && parts[1] == "apis" {
		version = 4
	}
	if len(parts) <= version {
		return path, ""
	}
	prefix, rest := strings.Join(parts[:version], "/"), parts[version:]
	if rest[0] == "namespaces" && len(rest) > 2 {
		return prefix + "/" + rest[2], rest[1] + "/" + strings.Join(rest[3:], "/")
	}
	return prefix + "/" + rest[0], strings.Join(rest[1:], "/")
}

// ServeHTTP answers one request.
func (s *Fast) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	path, ofStatus := strings.CutSuffix(r.URL.Path, "/status")
	kind, key := split(path)
	k := s.kinds[kind]
	if k == nil {
		discover(w, r.URL.Path)
		return
	}
	s.mu.Lock()
	if s.down {
		s.refused[kind+" "+key] = true
		s.changed.Broadcast()
		s.mu.Unlock()
		refuse(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
		return
	}
	s.mu.Unlock()
	if r.URL.Query().Get("watch") != "" {
		s.watch(w, r, k, key)
		return
	}
	s.mu.Lock()
	answer := s.answer(r, k, kind, key, body, ofStatus)
	s.mu.Unlock()
	if answer == nil {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	_, _ = w.Write(answer) // a client that is gone needs none
}

// answer is what a request gets; nil: there is no such object.
func (s *Fast) answer(r *http.Request, k *fastKind, kind, key string, body []byte, ofStatus bool) []byte {
	old := k.objects[key]
	switch {
	case r.Method == http.MethodGet && (key == "" || strings.HasSuffix(key, "/")):
		if strings.HasSuffix(kind, "/works") {
			s.listed = append(s.listed, s.clock.Now())
			s.changed.Broadcast()
		}
		return s.list(k, kind, key)
	case r.Method == http.MethodPost:
		var o metav1.PartialObjectMetadata
		if json.Unmarshal(body, &o) != nil {
			return nil
		}
		return s.put(k, key+o.Name, body, nil)
	case r.Method == http.MethodPatch && strings.HasPrefix(r.Header.Get("Content-Type"), "application/apply-patch"):
		if old != nil {
			return s.put(k, key, body, old.status)
		}
		return s.put(k, key, body, nil)
	case old == nil:
		return nil
	case r.Method == http.MethodGet:
		return old.whole()
	case r.Method == http.MethodPatch && ofStatus:
		var change struct{ Status json.RawMessage }
		if json.Unmarshal(body, &change) != nil {
			return nil
		}
		s.statuses++
		return s.put(k, key, old.text, change.Status)
	case r.Method == http.MethodPut:
		if strings.HasSuffix(kind, "/leases") {
			s.renewals++
		}
		return s.put(k, key, body, nil)
	case r.Method == http.MethodDelete:
		s.delete(k, key)
		return []byte(`{"kind":"Status","apiVersion":"v1","status":"Success"}`)
	}
	return nil
}

var versioned = []byte(`"resourceVersion":"`)

// put keeps a text as a new version of an object, and returns it.
func (s *Fast) put(k *fastKind, key string, text, status []byte) []byte {
	s.version++
	kind, version := "ADDED", strconv.Itoa(s.version)
	if k.objects[key] != nil {
		kind = "MODIFIED"
	}
	if at := bytes.Index(text, versioned); at >= 0 {
		rest := text[at+len(versioned):]
		text = slices.Concat(text[:at+len(versioned)], []byte(version), rest[bytes.IndexByte(rest, '"'):])
	} else {
		text = bytes.Replace(text, []byte(`"metadata":{`), []byte(`"metadata":{"uid":"`+key+`","resourceVersion":"`+version+`",`), 1)
	}
	o := &fastObject{s.version, bytes.TrimSpace(text), status}
	k.objects[key] = o
	k.log = append(k.log, fastChange{key, kind, s.version, o.whole()})
	s.changed.Broadcast()
	return o.whole()
}

func (o *fastObject) whole() []byte {
	if o.status == nil {
		return o.text
	}
	return slices.Concat(o.text[:len(o.text)-1], []byte(`,"status":`), o.status, []byte("}"))
}

func (s *Fast) delete(k *fastKind, key string) {
	s.version++
	k.log = append(k.log, fastChange{key, "DELETED", s.version, k.objects[key].whole()})
	delete(k.objects, key)
	s.changed.Broadcast()
}

func (s *Fast) list(k *fastKind, kind, namespace string) []byte {
	var items [][]byte
	for key, o := range k.objects { // order-free: clients sort nothing
		if strings.HasPrefix(key, namespace) {
			items = append(items, o.whole())
		}
	}
	name := strings.TrimPrefix(fastKinds[kind[:strings.LastIndexByte(kind, '/')]][kind[strings.LastIndexByte(kind, '/')+1:]], "!")
	version := strings.TrimPrefix(strings.TrimPrefix(kind[:strings.LastIndexByte(kind, '/')], "/apis/"), "/api/")
	return fmt.Appendf(nil, `{"kind":"%sList","apiVersion":"%s","metadata":{"resourceVersion":"%d"},"items":[%s]}`, name, version, s.version, bytes.Join(items, []byte(",")))
}

// watch sends the changes after a version until the client goes.
func (s *Fast) watch(w http.ResponseWriter, r *http.Request, k *fastKind, namespace string) {
	from, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if err != nil || r.URL.Query().Get("sendInitialEvents") != "" {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonInvalid)
		return
	}
	go func() {
		<-r.Context().Done()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	}()
	s.mu.Lock()
	cuts := s.cuts
	next, _ := slices.BinarySearchFunc(k.log, from+1, func(c fastChange, v int) int { return c.version - v })
	s.mu.Unlock()
	_ = http.NewResponseController(w).Flush()
	for {
		s.mu.Lock()
		for next == len(k.log) && !s.closed && s.cuts == cuts && r.Context().Err() == nil {
			s.changed.Wait()
		}
		news := k.log[next:]
		ended := s.closed || s.cuts != cuts || r.Context().Err() != nil
		s.mu.Unlock()
		if ended {
			return
		}
		for i := range news {
			if strings.HasPrefix(news[i].key, namespace) {
				_, _ = fmt.Fprintf(w, `{"type":"%s","object":%s}`+"\n", news[i].kind, news[i].text)
			}
		}
		next += len(news)
		_ = http.NewResponseController(w).Flush()
	}
}

// discover says what is served.
func discover(w http.ResponseWriter, path string) {
	switch resources := fastKinds[path]; {
	case path == "/readyz":
		_, _ = io.WriteString(w, "ok")
	case path == "/version":
		answer(w, map[string]any{"gitVersion": "v1.0.0-fast"})
	case path == "/api":
		answer(w, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	case path == "/apis":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for p := range fastKinds { // order-free: clients sort
			if group, version, found := strings.Cut(strings.TrimPrefix(p, "/apis/"), "/"); found && strings.HasPrefix(p, "/apis/") {
				v := metav1.GroupVersionForDiscovery{GroupVersion: group + "/" + version, Version: version}
				list.Groups = append(list.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
			}
		}
		answer(w, list)
	case resources != nil:
		list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: strings.TrimPrefix(strings.TrimPrefix(path, "/apis/"), "/api/")}
		for name, kind := range resources { // order-free: clients sort
			kind, ofCluster := strings.CutPrefix(kind, "!")
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: name, Kind: kind, Namespaced: !ofCluster, Verbs: metav1.Verbs{"get", "list", "watch", "patch"}})
		}
		answer(w, list)
	default:
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	}
}
