package attach

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"leeward/messages"
	"leeward/runtime/daemon/attach/writing"
)

// answering is a server that keeps what it is asked, and answers with a code and a body.
type answering struct {
	asked  []string
	bodies []string
	code   int
	body   string
	header http.Header
}

func (s *answering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.asked, s.bodies = append(s.asked, r.Method+" "+r.URL.RequestURI()), append(s.bodies, string(body))
	w.Header().Set("Content-Type", "application/json")
	for key, values := range s.header {
		w.Header()[key] = values
	}
	w.WriteHeader(s.code)
	_, _ = io.WriteString(w, s.body)
}

func writerTo(t *testing.T, s *answering) *writer {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	require.NoError(t, err)
	mock := clock.NewMock()
	mock.Set(start)
	return &writer{rest: c.CoreV1().RESTClient(), clock: mock, within: always}
}

func always(ctx context.Context) (context.Context, context.CancelFunc, error) {
	ctx, end := context.WithCancel(ctx)
	return ctx, end, nil
}

func asks(verb messages.APIVerb) *request {
	return &request{RequestAsked: messages.RequestAsked{Pod: "d/a", Verb: verb, UID: "u1", Reason: "R", Message: "M"}}
}

// TestRequestsNameOnePodAndTouchOneCondition: these bytes are all that is ever written of a pod.
func TestRequestsNameOnePodAndTouchOneCondition(t *testing.T) {
	s := &answering{code: http.StatusOK, body: "{}"}
	w := writerTo(t, s)
	for _, verb := range []messages.APIVerb{messages.VerbPatch, messages.VerbDelete, messages.VerbEvict} {
		require.NoError(t, w.send(t.Context(), asks(verb)))
	}
	require.Equal(t, []string{
		"PATCH /api/v1/namespaces/d/pods/a/status?fieldManager=leewardd", "DELETE /api/v1/namespaces/d/pods/a", "POST /api/v1/namespaces/d/pods/a/eviction",
	}, s.asked)
	require.JSONEq(t, `{"metadata":{"uid":"u1"},"status":{"conditions":[
		{"type":"DisruptionTarget","status":"True","reason":"R","message":"M","lastTransitionTime":"2026-01-01T12:00:00Z"}]}}`, s.bodies[0])
	require.JSONEq(t, `{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u1"}}`, s.bodies[1])
	require.JSONEq(t, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"namespace":"d","name":"a"},
		"deleteOptions":{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u1"}}}`, s.bodies[2])
}

// TestWhatIsUnknownSurvives: the patch, applied as API servers do, leaves fields of a pod that this build does not know as they are.
func TestWhatIsUnknownSurvives(t *testing.T) {
	s := &answering{code: http.StatusOK, body: "{}"}
	require.NoError(t, writerTo(t, s).send(t.Context(), asks(messages.VerbPatch)))
	const before = `{"metadata":{"name":"a","uid":"u1","future":{"a":[1,{"b":null}]}},"spec":{"future":"x"},
		"status":{"conditions":[{"type":"Ready","status":"True","future":7}],"future":[{"name":"y"}]}}`
	after, err := strategicpatch.StrategicMergePatch([]byte(before), []byte(s.bodies[0]), corev1.Pod{})
	require.NoError(t, err)
	var got, want map[string]any
	require.NoError(t, json.Unmarshal(after, &got))
	require.NoError(t, json.Unmarshal([]byte(before), &want))
	status := got["status"].(map[string]any)
	conditions := status["conditions"].([]any)
	require.Len(t, conditions, 2)
	for i, c := range conditions {
		if c.(map[string]any)["type"] == "DisruptionTarget" {
			status["conditions"] = append(conditions[:i:i], conditions[i+1:]...)
		}
	}
	require.Equal(t, want, got)
}

func TestAnswersAreToldApart(t *testing.T) {
	status := func(code int, reason, message, details string) *answering {
		return &answering{code: code, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","code":` + strconv.Itoa(code) +
			`,"reason":"` + reason + `","message":"` + message + `","details":{` + details + `}}`}
	}
	for name, c := range map[string]struct {
		server *answering
		want   string
	}{
		"served":           {&answering{code: 200, body: "{}"}, outcomeServed},
		"gone":             {status(404, "NotFound", "no", ""), outcomeGone},
		"another UID, 409": {status(409, "Conflict", "Precondition failed: UID in precondition: u1, UID in object meta: u2", ""), outcomeGone},
		"another UID, 422": {status(422, "Invalid", "no", `"causes":[{"reason":"FieldValueInvalid","field":"metadata.uid"}]`), outcomeGone},
		"invalid":          {status(422, "Invalid", "no", `"causes":[{"reason":"FieldValueInvalid","field":"status"}]`), outcomeFailed},
		"a conflict":       {status(409, "Conflict", "the object has been modified", ""), outcomeFailed},
		"busy":             {status(429, "TooManyRequests", "busy", `"retryAfterSeconds":4`), outcomeThrottled},
		"a budget":         {status(429, "TooManyRequests", "no", `"causes":[{"reason":"DisruptionBudget"}]`), outcomeBlocked},
		"an error":         {status(500, "InternalError", "no", ""), outcomeFailed},
		"a proxy's 429":    {&answering{code: 429, body: "slow down", header: http.Header{"Retry-After": {"4"}}}, outcomeThrottled},
		"a proxy's 503":    {&answering{code: 503, body: "starting", header: http.Header{"Retry-After": {"4"}}}, outcomeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			err := writerTo(t, c.server).send(t.Context(), asks(messages.VerbDelete))
			require.Equal(t, c.want, outcomeOf(err), "%v", err)
			require.Len(t, c.server.asked, 1, "only the queue tries again")
			if c.want == outcomeThrottled {
				require.Equal(t, 4*time.Second, writing.PauseOf(err))
			}
			require.Equal(t, strings.HasSuffix(name, "503"), writing.IsOverload(err))
		})
	}
	require.True(t, writing.IsOverload(context.DeadlineExceeded))
}

// stubLock is a Lease that takes everything, or nothing.
type stubLock struct {
	resourcelock.Interface
	err error
}

func (*stubLock) Identity() string                                                  { return "me" }
func (l *stubLock) Create(context.Context, resourcelock.LeaderElectionRecord) error { return l.err }
func (l *stubLock) Update(context.Context, resourcelock.LeaderElectionRecord) error { return l.err }

// TestADeposedLeaderWritesNothing: neither one that knows that another leads, nor one that was stopped for a time and does not.
func TestADeposedLeaderWritesNothing(t *testing.T) {
	s := &answering{code: http.StatusOK, body: "{}"}
	lock := &stubLock{}
	w := writerTo(t, s)
	mock := w.clock.(*clock.Mock)
	l := writing.NewLease(lock, mock, 10*time.Second)
	w.within = l.Within
	writes := func() bool {
		err := w.send(t.Context(), asks(messages.VerbDelete))
		if err != nil {
			require.ErrorIs(t, err, writing.ErrNotLeader)
		}
		return err == nil
	}
	mine, theirs := resourcelock.LeaderElectionRecord{HolderIdentity: "me"}, resourcelock.LeaderElectionRecord{}
	require.False(t, writes(), "it has never led")
	require.NoError(t, l.Create(t.Context(), mine))
	mock.Add(4 * time.Second)
	require.True(t, writes())
	mock.Add(6 * time.Second)
	require.False(t, writes(), "it has not been renewed in time")
	lock.err = errors.New("the server is away")
	require.Error(t, l.Update(t.Context(), mine))
	require.False(t, writes(), "nor now")
	lock.err = nil
	require.NoError(t, l.Update(t.Context(), mine))
	require.True(t, writes())
	lock.err = errors.New("the server is away")
	require.Error(t, l.Update(t.Context(), theirs))
	require.False(t, writes(), "it has given up, whatever the server has stored")
	require.Len(t, s.asked, 2)
}
