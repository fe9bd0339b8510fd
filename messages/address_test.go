package messages_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
)

func TestANameIsSplitAsItWasMade(t *testing.T) {
	for _, test := range []struct{ name, namespace, local string }{
		{"shop/web-deployment", "shop", "web-deployment"},
		{"viewer-clusterrole", "", "viewer-clusterrole"},
	} {
		namespace, local := messages.BindingName(test.name).Split()
		require.Equal(t, test.namespace, namespace)
		require.Equal(t, test.local, local)
		require.Equal(t, messages.BindingName(test.name), messages.NameBinding(namespace, local))
		require.Equal(t, test.namespace, messages.NamePropagation(namespace, local).Namespace())
		require.Equal(t, messages.PodName(test.name), messages.NamePod(messages.PodName(test.name).Split()))
		namespace, local = messages.BudgetName(test.name).Split()
		require.Equal(t, []string{test.namespace, test.local}, []string{namespace, local})
	}
}
