package spelling

import (
	"testing"

	"github.com/stretchr/testify/require"
)

var names = []string{"clusterAffinity", "clusterAffinities", "clusterTolerations", "spec"}

func TestSlip(t *testing.T) {
	for word, want := range map[string]string{
		"clusterAffinty":     "clusterAffinity",
		"ClusterAFFINITIES":  "clusterAffinities",
		"tolerations":        "",
		"clutserTolerations": "clusterTolerations",
		"":                   "",
	} {
		require.Equal(t, want, Slip(word, names, len(word)/3), word)
	}
	require.Equal(t, 1, edits("ab", "ba"))
	require.Equal(t, 3, edits("", "abc"))
}

func TestMeant(t *testing.T) {
	for word, want := range map[string]string{
		"clusterAffinty":      "clusterAffinity",
		"sepc":                "spec",
		"tolerations":         "clusterTolerations",
		"cluster-tolerations": "clusterTolerations",
		"replicas":            "",
		"":                    "",
	} {
		require.Equal(t, want, Meant(word, names), word)
	}
}

func TestFew(t *testing.T) {
	require.Equal(t, "a, b", Few([]string{"a", "b"}, 2))
	require.Equal(t, "a, b and 3 more", Few([]string{"a", "b", "c", "d", "e"}, 2))
	require.Empty(t, Few(nil, 2))
}
