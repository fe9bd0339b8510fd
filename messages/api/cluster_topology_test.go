package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAClusterIsWhereItsSpecSaysOrElseItsNodes(t *testing.T) {
	c := &Cluster{}
	c.Locate(nil)
	require.Empty(t, c.Spec, "nothing says")

	c.Status.NodeTopology = &NodeTopology{Region: "eu", Zones: []string{"a"}}
	c.Locate(nil)
	require.Equal(t, ClusterSpec{Region: "eu", Zones: []string{"a"}}, c.Spec)

	before := c.Status.NodeTopology
	c.Spec.Region = "europe"
	c.Status.NodeTopology = &NodeTopology{Region: "us", Zones: []string{"a", "b"}}
	c.Locate(before)
	require.Equal(t, ClusterSpec{Region: "europe", Zones: []string{"a", "b"}}, c.Spec, "the region is what a user wrote")

	c.Spec.Region = ""
	c.Locate(nil)
	require.Equal(t, "us", c.Spec.Region, "users take back what they wrote")

	c.Spec = ClusterSpec{Zone: "old"}
	c.Locate(nil)
	require.Empty(t, c.Spec.Zones, "a user wrote one zone")
}
