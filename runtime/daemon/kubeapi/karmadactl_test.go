package kubeapi_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"leeward/runtime/daemon/kubeapi"
)

// send sends a request as it is written here: a line, headers, an empty line and a body.
func (d *daemon) send(request string) (code int, body string) {
	d.t.Helper()
	c := d.as(kubeapi.Admin())
	client, err := rest.HTTPClientFor(c)
	require.NoError(d.t, err)
	head, content, _ := strings.Cut(request, "\n\n")
	lines := strings.Split(head, "\n")
	words := strings.Fields(lines[0])
	r, err := http.NewRequestWithContext(d.t.Context(), words[0], c.Host+words[1], strings.NewReader(content))
	require.NoError(d.t, err)
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	answer, err := client.Do(r)
	require.NoError(d.t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(d.t, errors.Join(err, answer.Body.Close()))
	return answer.StatusCode, string(text)
}

// What karmadactl sends: it reads the cluster, and then patches the whole list of taints, without a version and without a
// field manager, for which the server takes the program's name. Source: pkg/karmadactl/taint/taint.go, cordon/cordon.go.
const (
	karmadactlReads   = "GET /apis/cluster.karmada.io/v1alpha1/clusters/m1\nAccept: application/json, */*\nUser-Agent: karmadactl/v1.15.0 (linux/amd64) kubernetes/0123abc"
	karmadactlPatches = "PATCH /apis/cluster.karmada.io/v1alpha1/clusters/m1\nAccept: application/json, */*\n" +
		"Content-Type: application/merge-patch+json\nUser-Agent: karmadactl/v1.15.0 (linux/amd64) kubernetes/0123abc\n\n"

	cordons   = `{"spec":{"taints":[{"key":"cluster.karmada.io/unschedulable","effect":"NoSchedule"}]}}`
	uncordons = `{"spec":{"taints":null}}`
	taints    = `{"spec":{"taints":[{"key":"disk","value":"slow","effect":"NoExecute"},{"key":"spot","effect":"NoSchedule"}]}}`
	overwrite = `{"spec":{"taints":[{"key":"disk","value":"broken","effect":"NoExecute","timeAdded":"2026-11-21T12:00:00Z"}]}}`
	unknown   = `{"spec":{"taints":[{"key":"disk","effect":"NoStart"}]}}`
)

func TestTheRequestsOfKarmadactl(t *testing.T) {
	d := serve(t)
	d.create(clusters, cluster("m1"))
	for _, step := range []struct {
		name, query, body string
		code              int
		want              string // the taints afterwards
		manager           string
	}{
		{"cordon", "", cordons, 200, "cluster.karmada.io/unschedulable:NoSchedule", "karmadactl"},
		{"cordon again", "", cordons, 200, "cluster.karmada.io/unschedulable:NoSchedule", "karmadactl"},
		{"uncordon", "", uncordons, 200, "", "karmadactl"},
		{"taint, as a rehearsal of the server's", "?dryRun=All", taints, 200, "", "karmadactl"},
		{"taint", "", taints, 200, "disk:NoExecute spot:NoSchedule", "karmadactl"},
		{"taint --overwrite, and untaint", "", overwrite, 200, "disk:NoExecute", "karmadactl"},
		{"an effect that clusters do not have", "", unknown, 422, "disk:NoExecute", "karmadactl"},
		{"taint, under a name of one's own", "?fieldManager=ops", taints, 200, "disk:NoExecute spot:NoSchedule", "ops"},
	} {
		code, body := d.send(strings.Replace(karmadactlPatches, "/m1", "/m1"+step.query, 1) + step.body)
		require.Equal(t, step.code, code, "%s: %s", step.name, body)
		m1 := d.get(clusters, "m1")
		var stand []string
		for _, word := range strings.Fields(at(t, m1, `.spec.taints[*].key`)) {
			stand = append(stand, word+":"+at(t, m1, `.spec.taints[?(@.key=="`+word+`")].effect`))
		}
		require.Equal(t, step.want, strings.Join(stand, " "), step.name)
		require.Contains(t, at(t, m1, ".metadata.managedFields[*].manager"), step.manager, step.name)
	}
	code, body := d.send(karmadactlReads)
	require.Equal(t, 200, code)
	require.Contains(t, body, `"kind":"Cluster"`)
	require.Contains(t, body, `"timeAdded":`)
	code, body = d.send(strings.ReplaceAll(karmadactlPatches, "m1", "m9") + cordons)
	require.Equal(t, 404, code)
	require.Contains(t, body, `clusters.cluster.karmada.io \"m9\" not found`)
}
