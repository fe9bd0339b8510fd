package world

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages/api"
)

func needsCPU(cpu string) *api.ReplicaRequirements {
	return &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{
		"memory": resource.MustParse("1Gi"), "cpu": resource.MustParse(cpu),
	}}
}

func TestWhatReadsAlikeIsNeededOnce(t *testing.T) {
	n := needs{}
	first := needsCPU("100m")
	require.Same(t, first, n.shared(first))
	require.Same(t, first, n.shared(needsCPU("0.1")))
	require.NotSame(t, first, n.shared(needsCPU("200m")))
	other := needsCPU("100m")
	other.PriorityClassName = "high"
	require.Same(t, other, n.shared(other))
	claims := needsCPU("100m")
	claims.NodeClaim = &api.NodeClaim{}
	require.Same(t, claims, n.shared(claims), "nodes are seldom claimed alike")
	require.Nil(t, n.shared(nil))
	for i := range mostNeeds {
		n.shared(needsCPU(fmt.Sprintf("%dm", 1000+i)))
	}
	require.LessOrEqual(t, len(n), mostNeeds)
}
