// Package clienttest serves as much of a Kubernetes API as clients need that are tested without a real server: any
// object of any kind, in memory, with lists, watches, updates, merge patches and JSON patches. It numbers generations, and of clients that
// name themselves it keeps who wrote which field of the spec last.
package clienttest

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"

	"leeward/runtime/client"
)

// Server holds objects by the paths of their URLs: "/apis/cluster.karmada.io/v1alpha1/clusters/member1".
type Server struct {
	t    *testing.T
	http *httptest.Server

	mu       sync.Mutex
	changed  *sync.Cond
	version  int
	objects  map[string]*unstructured.Unstructured
	changes  []watchEvent
	requests []string
	// forbidden are the paths that may not be listed; cut ends all watches, once.
	forbidden map[string]bool
	cut       int
	closed    bool
	// forgotten is up to which version changes are not known any more; unwatched are the paths that are not watched, with
	// the code of the answer. torn counts how often watches were broken off.
	forgotten int
	unwatched map[string]int
	torn      int
	// answers are what questions get, by their paths: what is asked there is not stored.
	answers map[string]*unstructured.Unstructured
	lacking map[string]bool
	now     func() time.Time
}

// watchEvent is one of all changes, in order.
type watchEvent struct {
	path, kind string
	object     *unstructured.Unstructured
}

// New serves objects, given by their paths as JSON, until the test ends.
func New(t *testing.T, objects map[string]string) *Server {
	t.Helper()
	s := &Server{t: t, objects: map[string]*unstructured.Unstructured{}, forbidden: map[string]bool{}, unwatched: map[string]int{}, answers: map[string]*unstructured.Unstructured{}, lacking: map[string]bool{}, now: clock.New().Now}
	s.changed = sync.NewCond(&s.mu)
	for _, path := range slices.Sorted(maps.Keys(objects)) {
		s.Put(path, objects[path])
	}
	s.http = httptest.NewServer(s)
	t.Cleanup(func() {
		s.mu.Lock()
		s.closed = true
		s.changed.Broadcast()
		s.mu.Unlock()
		s.http.Close()
	})
	return s
}

// URL is where it listens.
func (s *Server) URL() string { return s.http.URL }

// Client returns a client of the server; warnings go to a writer.
func (s *Server) Client(warnings io.Writer) *client.Client {
	s.t.Helper()
	c, err := client.New(&rest.Config{Host: s.http.URL}, warnings)
	require.NoError(s.t, err)
	return c
}

// Put writes an object, as another client would.
func (s *Server) Put(path, object string) {
	s.t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(s.t, utiljson.Unmarshal([]byte(object), &o.Object))
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lacking, path[:strings.LastIndexByte(path, '/')])
	s.put(path, o)
}

// Date has the server say that writes are of the time that a function returns.
func (s *Server) Date(now func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// Get returns an object, nil if there is none. It must not be changed.
func (s *Server) Get(path string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[path]
}

// Change changes an object, as a client does that names itself; its status is changed alike.
func (s *Server) Change(by, path string, change func(o *unstructured.Unstructured)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.objects[path]
	o := old.DeepCopy()
	change(o)
	if reflect.DeepEqual(o.Object, old.Object) {
		return
	}
	s.renew(o, old, by)
	s.put(path, o)
}

// renew numbers an object that becomes another one.
func (s *Server) renew(o, old *unstructured.Unstructured, by string) {
	if !reflect.DeepEqual(o.Object["spec"], old.Object["spec"]) && old.GetGeneration() > 0 {
		o.SetGeneration(old.GetGeneration() + 1)
	}
	if by != "" {
		note(o, old, by, s.now())
	}
}

// Remove takes an object away, if it is there.
func (s *Server) Remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[path] != nil {
		s.remove(path)
	}
}

// Forbid answers lists of a path with 403.
func (s *Server) Forbid(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forbidden[path] = true
}

// Cut ends the watches that are open.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut++
	s.changed.Broadcast()
}

// Forget forgets all versions until now, and ends the watches that are open: to go on from where they ended is refused.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++ // of a change that no watcher is told
	s.changes = append(s.changes, watchEvent{})
	s.forgotten = s.version
	s.cut++
	s.changed.Broadcast()
}

// Tear breaks off the watches that are open, as a server does that dies.
func (s *Server) Tear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.torn++
	s.cut++
	s.changed.Broadcast()
}

// Deaf has watches of a path answered with a code of HTTP that says no; 0: no longer.
func (s *Server) Deaf(path string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unwatched[path] = code
}

// Await waits until the object of a path is as a test wants it. It gets nil while there is none.
func (s *Server) Await(path string, right func(*unstructured.Unstructured) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !right(s.objects[path]) {
		s.changed.Wait()
	}
}

// Answer has what is created at a path answered by an object, and not stored.
func (s *Server) Answer(path, object string) {
	s.t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(s.t, utiljson.Unmarshal([]byte(object), &o.Object))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[path] = o
}

// Lack has what is created or listed at a path answered as by a server that has no such resource.
func (s *Server) Lack(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lacking[path] = true
}

// Requests returns the requests that were made so far but for reads: "PATCH /apis/... {...}".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	if r.URL.Query().Get("watch") != "" {
		s.watch(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodGet {
		s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	}
	switch path := strings.TrimSuffix(r.URL.Path, "/status"); r.Method {
	case http.MethodGet:
		s.get(w, r)
	case http.MethodPost:
		s.create(w, path, body, r.URL.Query().Get("dryRun") != "")
	case http.MethodPatch, http.MethodPut:
		s.change(w, r, path, body)
	case http.MethodDelete:
		s.delete(w, path)
	}
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/version" {
		answer(w, map[string]any{"gitVersion": "v1.0.0-test"})
		return
	}
	if o := s.objects[r.URL.Path]; o != nil {
		answer(w, o)
		return
	}
	last := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	switch {
	case s.forbidden[r.URL.Path]:
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden)
	case s.lacking[r.URL.Path], !strings.HasSuffix(last, "s"): // names in tests do not end like plurals
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	default:
		s.list(w, r)
	}
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	wanted, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	items := []any{}
	for _, path := range slices.Sorted(maps.Keys(s.objects)) {
		if o := s.objects[path]; within(path, r.URL.Path) && wanted.Matches(labels.Set(o.GetLabels())) {
			items = append(items, o.Object)
		}
	}
	answer(w, map[string]any{"metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version)}, "items": items})
}

// within reports whether an object is in a list: of its namespace, or of all.
func within(path, list string) bool {
	of, _, _ := strings.Cut(path, "/namespaces/")
	plural := path[:strings.LastIndexByte(path, '/')]
	return plural == list || of != path && of+plural[strings.LastIndexByte(plural, '/'):] == list
}

func (s *Server) create(w http.ResponseWriter, path string, body []byte, dryRun bool) {
	o := &unstructured.Unstructured{}
	if utiljson.Unmarshal(body, &o.Object) != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	if s.lacking[path] {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	if said := s.answers[path]; said != nil {
		answer(w, said)
		return
	}
	if pod, evicts := strings.CutSuffix(path, "/eviction"); evicts {
		s.evict(w, pod, o)
		return
	}
	path += "/" + o.GetName()
	if s.objects[path] != nil {
		refuse(w, http.StatusConflict, metav1.StatusReasonAlreadyExists)
		return
	}
	if !dryRun {
		s.put(path, o)
	}
	answer(w, o)
}

// Refused is the annotation of pods that the Eviction API refuses to evict; with the value "namespace" because their namespace is being
// deleted.
const Refused = "test/refused"

// evict removes a pod in the same step.
func (s *Server) evict(w http.ResponseWriter, path string, eviction *unstructured.Unstructured) {
	pod := s.objects[path]
	dryRun, _, _ := unstructured.NestedStringSlice(eviction.Object, "deleteOptions", "dryRun")
	switch {
	case pod == nil:
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case pod.GetAnnotations()[Refused] == "namespace":
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, metav1.StatusCause{Type: corev1.NamespaceTerminatingCause})
	case pod.GetAnnotations()[Refused] != "":
		refuse(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)
	default:
		if len(dryRun) == 0 {
			s.remove(path)
		}
		answer(w, &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
	}
}

// change updates or patches an object, or its status, which nothing else changes.
func (s *Server) change(w http.ResponseWriter, r *http.Request, path string, body []byte) {
	old := s.objects[path]
	if old == nil && r.Header.Get("Content-Type") == string(types.ApplyPatchType) {
		s.create(w, path[:strings.LastIndexByte(path, '/')], body, r.URL.Query().Get("dryRun") != "")
		return
	}
	if old == nil {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	o, err := changed(old, r, body)
	if err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	if o.GetResourceVersion() != old.GetResourceVersion() {
		refuse(w, http.StatusConflict, metav1.StatusReasonConflict)
		return
	}
	s.renew(o, old, r.URL.Query().Get("fieldManager"))
	if r.URL.Query().Get("dryRun") == "" {
		s.put(path, o)
	}
	answer(w, o)
}

// changed is what a request makes of an object.
func changed(old *unstructured.Unstructured, r *http.Request, body []byte) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(old.Object)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Method == http.MethodPut:
		text = body
	case r.Header.Get("Content-Type") == string(types.JSONPatchType):
		var p jsonpatch.Patch
		if p, err = jsonpatch.DecodePatch(body); err == nil {
			text, err = p.Apply(text)
		}
	default:
		text, err = jsonpatch.MergePatch(text, body)
	}
	o := &unstructured.Unstructured{}
	if err := errors.Join(err, utiljson.Unmarshal(text, &o.Object)); err != nil {
		return nil, err
	}
	if strings.HasSuffix(r.URL.Path, "/status") {
		kept := old.DeepCopy()
		kept.SetResourceVersion(o.GetResourceVersion())
		if kept.Object["status"] = o.Object["status"]; o.Object["status"] == nil {
			delete(kept.Object, "status")
		}
		return kept, nil
	}
	return o, nil
}

// note notes of an object, that was another one, who wrote the fields of its spec that are new, and when.
func note(o, old *unstructured.Unstructured, by string, at time.Time) {
	before, _, _ := unstructured.NestedMap(old.Object, "spec")
	now, _, _ := unstructured.NestedMap(o.Object, "spec")
	wrote := map[string]any{}
	for field, is := range now { // order-free: each field by itself
		if !reflect.DeepEqual(before[field], is) {
			wrote["f:"+field] = map[string]any{}
		}
	}
	var entries []metav1.ManagedFieldsEntry
	for _, e := range old.GetManagedFields() {
		var fields struct {
			Spec map[string]any `json:"f:spec"`
		}
		if e.Subresource != "" || json.Unmarshal([]byte(e.FieldsV1.GetRawString()), &fields) != nil {
			continue
		}
		maps.DeleteFunc(fields.Spec, func(field string, _ any) bool {
			_, is := now[strings.TrimPrefix(field, "f:")]
			return !is || wrote[field] != nil
		})
		if e.Manager == by {
			maps.Copy(wrote, fields.Spec)
		} else if len(fields.Spec) > 0 {
			e.FieldsV1 = fieldsOf(fields.Spec)
			entries = append(entries, e)
		}
	}
	if len(wrote) > 0 {
		entries = append(entries, metav1.ManagedFieldsEntry{Manager: by, Operation: metav1.ManagedFieldsOperationUpdate, Time: &metav1.Time{Time: at}, FieldsType: "FieldsV1", FieldsV1: fieldsOf(wrote)})
	}
	o.SetManagedFields(entries)
}

func fieldsOf(spec map[string]any) *metav1.FieldsV1 {
	text, _ := json.Marshal(map[string]any{"f:spec": spec}) // it has maps alone
	return metav1.NewFieldsV1(string(text))
}

func (s *Server) delete(w http.ResponseWriter, path string) {
	if s.objects[path] == nil {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	if o := s.objects[path].DeepCopy(); len(o.GetFinalizers()) > 0 {
		o.SetDeletionTimestamp(new(metav1.Unix(1, 0)))
		s.put(path, o)
	} else {
		s.remove(path)
	}
	answer(w, metav1.Status{Status: metav1.StatusSuccess})
}

// put stores an object. One that is being deleted goes with its last finalizer.
func (s *Server) put(path string, o *unstructured.Unstructured) {
	if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		s.remove(path)
		return
	}
	kind := "MODIFIED"
	if s.objects[path] == nil {
		kind = "ADDED"
	}
	s.version++
	o.SetResourceVersion(strconv.Itoa(s.version))
	s.objects[path] = o
	s.changes = append(s.changes, watchEvent{path, kind, o})
	s.changed.Broadcast()
}

func (s *Server) remove(path string) {
	o := s.objects[path].DeepCopy()
	delete(s.objects, path)
	s.version++
	o.SetResourceVersion(strconv.Itoa(s.version))
	s.changes = append(s.changes, watchEvent{path, "DELETED", o})
	s.changed.Broadcast()
}

// watch sends changes after a version until the client goes, or watches are cut. Each change is one version.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if err != nil || r.URL.Query().Get("sendInitialEvents") != "" { // it cannot stream lists
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	stop := r.Context().Done()
	go func() {
		<-stop
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	}()
	wanted, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case from < s.forgotten:
		refuse(w, http.StatusGone, metav1.StatusReasonExpired)
		return
	case s.unwatched[r.URL.Path] != 0:
		refuse(w, s.unwatched[r.URL.Path], metav1.StatusReasonUnknown)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	cut, torn := s.cut, s.torn
	for !s.closed && s.cut == cut && r.Context().Err() == nil {
		for ; from < len(s.changes); from++ {
			if c := &s.changes[from]; within(c.path, r.URL.Path) && wanted.Matches(labels.Set(c.object.GetLabels())) {
				answer(w, map[string]any{"type": c.kind, "object": c.object})
			}
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			return
		}
		s.changed.Wait()
	}
	if s.torn != torn {
		panic(http.ErrAbortHandler)
	}
}

func answer(w io.Writer, o any) {
	_ = json.NewEncoder(w).Encode(o) // a client that went away hears nothing
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, causes ...metav1.StatusCause) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	answer(w, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: http.StatusText(code),
		Details: &metav1.StatusDetails{Causes: causes}})
}
