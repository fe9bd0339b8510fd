package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
	"leeward/runtime/client/agent"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// balking is a member that refuses some objects by their names, as a quota and a webhook do, and everything once the credentials have expired.
type balking struct {
	expired atomic.Bool
}

func (m *balking) before(next http.RoundTripper) http.RoundTripper {
	return &balk{next, m}
}

// balk is one connection to it.
type balk struct {
	http.RoundTripper
	of *balking
}

func (m *balk) RoundTrip(r *http.Request) (*http.Response, error) {
	var said string
	code := http.StatusForbidden
	switch {
	case m.of.expired.Load():
		code, said = http.StatusUnauthorized, `"reason":"Unauthorized","message":"Unauthorized"`
	case r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/quota"):
		said = `"reason":"Forbidden","message":"configmaps \"quota\" is forbidden: exceeded quota: compute, requested: count/configmaps=1, used: count/configmaps=5, limited: count/configmaps=5"`
	case r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/webhook"):
		code, said = http.StatusBadRequest, `"message":"admission webhook \"policy.example.com\" denied the request: no"`
	default:
		return m.RoundTripper.RoundTrip(r)
	}
	body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,%s}`, code, said)
	return &http.Response{
		StatusCode: code, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// Each Work here is refused for another reason, and says so; one that is not is applied beside them.
func TestARefusedWorkStopsNoOther(t *testing.T) {
	t.Parallel()
	m := &balking{}
	p := newPair(t, func(c *agent.Config) { c.Member.Wrap(m.before) })
	p.work("unserved", "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: shop}}")
	p.work("unnamed", "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop}}")
	p.work("twice", settingsOf("twice", "1"), settingsOf("twice", "2"))
	p.work("nowhere", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
	p.work("invalid", strings.Replace(webOf(1), "replicas: 1", "replicas: -1", 1))
	p.work("large", settingsOf("large", strings.Repeat("x", 1<<20-16)))
	p.work("quota", settingsOf("quota", "1"))
	p.work("webhook", settingsOf("webhook", "1"))
	p.work("fine", settingsOf("settings", "1"))
	p.awaitApplied("fine")
	p.awaitApplied("large")
	for name, says := range map[string]string{
		"unserved": "the member does not serve example.com/v1, Kind=Widget",
		"unnamed":  "spec.workload.manifests[0].metadata.name: required",
		"twice":    "spec.workload.manifests[1]: ConfigMap shop/twice is manifests[0], too",
		"nowhere":  "ConfigMap a: metadata.namespace: required",
		"invalid":  "apply Deployment shop/web: ",
		"quota":    `apply ConfigMap shop/quota: configmaps "quota" is forbidden: exceeded quota: compute, requested: count/configmaps=1, used: count/configmaps=5, limited: count/configmaps=5`,
		"webhook":  `apply ConfigMap shop/webhook: admission webhook "policy.example.com" denied the request: no`,
	} {
		p.awaitWork(name, metav1.ConditionFalse, says, nil)
		awaitAny(p.hub, catalog.Events, agentWorks, func(e *corev1.Event) bool {
			return e.InvolvedObject.Name == name && e.Reason == "AppliedFailed" && e.Type == corev1.EventTypeWarning && strings.Contains(e.Message, says)
		})
	}
	_, err := p.member.in(configMaps, "shop").Get(t.Context(), "twice", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "nothing of a Work that cannot be read is applied")
	for _, name := range []string{"unserved", "unnamed", "twice", "nowhere", "invalid", "quota", "webhook"} {
		p.hub.delete(catalog.Works, agentWorks, name)
		awaitAt(p.hub, catalog.Works, agentWorks, name, isAbsent[*api.Work])
	}

	// Credentials of the member that have expired show at the Cluster, and other ones end that.
	m.expired.Store(true)
	p.awaitReadySays(metav1.ConditionFalse, "ClusterNotReady", "the member refuses the agent's credentials: Unauthorized")
	m.expired.Store(false)
	p.awaitReady(metav1.ConditionTrue, "ClusterReady")
	p.work("later", settingsOf("later", "1"))
	p.awaitApplied("later")
}

// ahead is a clock that is set ahead.
type ahead struct {
	clock.Clock
	by atomic.Int64
}

func (a *ahead) Now() time.Time { return a.Clock.Now().Add(time.Duration(a.by.Load())) }

// A member that loses its disk, and is restored from a backup, gets what it lacks and what is older there: its versions begin again.
func TestAMemberThatLosesItsDiskGetsAllAgain(t *testing.T) {
	t.Parallel()
	now := &ahead{Clock: clock.New()}
	p := newPair(t, func(c *agent.Config) { c.Clock = now })
	p.work("web", webOf(2), settingsOf("settings", "1"))
	p.awaitApplied("web")
	saved := &corev1.ConfigMap{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(p.member.get(configMaps, "shop", "settings").Object, saved))
	p.rewrite("web", webOf(2), settingsOf("settings", "2"))
	p.awaitApplied("web")
	p.member.stop()
	p.awaitReady(metav1.ConditionFalse, "ClusterNotReachable")
	restored, err := engine.Open(engine.Config{Resources: engine.Tables(catalog.Nodes, catalog.Pods), Clock: clock.New()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, restored.Close()) })
	require.NoError(t, restored.Commit(engine.Create(engine.Key(configMaps.Name(), "shop", "settings"), saved)))
	now.by.Store(int64(time.Minute)) // it takes no version for one that is on its way
	p.member.engine = restored
	p.member.start()
	t.Cleanup(p.member.stop)
	p.awaitReady(metav1.ConditionTrue, "ClusterReady")
	awaitAt(p.member, configMaps, "shop", "settings", func(c *corev1.ConfigMap) bool { return c.Data["key"] == "2" })
	awaitAt(p.member, deployments, "shop", "web", func(d api.Object) bool { return d != nil })
	p.rewrite("web", settingsOf("settings", "3"))
	p.awaitApplied("web")
	require.Equal(t, "3", p.member.get(configMaps, "shop", "settings").Object["data"].(map[string]any)["key"])
}
