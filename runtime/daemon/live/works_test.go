package live

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"

	"leeward/messages"
)

// TestTheNameOfAWorkIsKarmadas: as GenerateWorkName of Karmada 1.14.10 made it.
func TestTheNameOfAWorkIsKarmadas(t *testing.T) {
	for binding, want := range map[messages.BindingName]string{
		"shop/web-deployment": "web-56d6c779bb", "default/a.b-configmap": "a.b-5656b544d5", "system.x-clusterrole": "system.x-6ffff577cc",
	} {
		require.Equal(t, want, workName(binding))
	}
	long := workName(messages.BindingName("shop/" + strings.Repeat("a", 300) + "-deployment"))
	require.Empty(t, validation.IsDNS1123Subdomain(long))
}
