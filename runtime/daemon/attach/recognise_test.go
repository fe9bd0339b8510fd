package attach

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

func TestAServerIsRecognisedByWhatItHas(t *testing.T) {
	t.Parallel()
	all := []string{"apps", "cluster.karmada.io", "policy.karmada.io", "work.karmada.io"}
	for name, c := range map[string]struct {
		groups, core []string
		want         Server
		problem      string
	}{
		"Karmada, which has Kubernetes' kinds, too": {all, []string{"nodes", "pods"}, Karmada, ""},
		"Karmada without nodes":                     {all, nil, Karmada, ""},
		"a cluster":                                 {all[:1], []string{"nodes", "pods"}, Kubernetes, ""},
		"a part of Karmada":                         {all[:2], []string{"nodes", "pods"}, "", "not policy.karmada.io, work.karmada.io: it is neither Karmada's nor that of a cluster"},
		"neither":                                   {all[:1], []string{"nodes"}, "", "neither Karmada's API (cluster.karmada.io, policy.karmada.io, work.karmada.io) nor pods"},
		"a server that refuses":                     {nil, nil, "", "ask the API server what it has: GET /apis: not today"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch {
				case c.groups == nil:
					w.WriteHeader(http.StatusForbidden)
					_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "not today"})
				case r.URL.Path == "/apis":
					var list metav1.APIGroupList
					for _, g := range c.groups {
						list.Groups = append(list.Groups, metav1.APIGroup{Name: g})
					}
					_ = json.NewEncoder(w).Encode(list)
				default:
					var list metav1.APIResourceList
					for _, r := range c.core {
						list.APIResources = append(list.APIResources, metav1.APIResource{Name: r})
					}
					_ = json.NewEncoder(w).Encode(list)
				}
			}))
			t.Cleanup(s.Close)
			is, err := Recognise(t.Context(), &rest.Config{Host: s.URL})
			if c.problem != "" {
				require.ErrorContains(t, err, c.problem)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, is)
		})
	}
}
