package kubeapi

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/server"
)

// customKinds is where clients ask for the definitions of custom kinds. There are none, and no such group is served; but
// kubectl asks before it creates what has no PATCH, such as a FailoverPreview, and takes nothing but a list for an answer.
const customKinds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

func withoutCustomKinds(s *server.GenericAPIServer) {
	none := map[string]any{
		"apiVersion": schema.GroupVersion{Group: "apiextensions.k8s.io", Version: "v1"}.String(),
		"kind":       "CustomResourceDefinitionList", "metadata": map[string]any{}, "items": []any{},
	}
	s.Handler.NonGoRestfulMux.HandleFunc(customKinds, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		responsewriters.WriteRawJSON(http.StatusOK, none, w)
	})
}
