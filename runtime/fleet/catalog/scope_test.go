package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages/admission"
	"leeward/runtime/fleet/catalog"
)

// An object that was applied comes without its kind: its type alone says whether it is in a namespace.
func TestATypeSaysWhetherItsObjectsAreInNamespaces(t *testing.T) {
	for i := range catalog.All {
		r := &catalog.All[i]
		o := r.New()
		if _, untyped := o.(*unstructured.Unstructured); !untyped {
			require.Equal(t, !r.ClusterScoped, admission.Namespaced(o), r.Kind.Kind)
		}
	}
}
