package placement_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// recording is what a Karmada control plane (August 2026) decided in one scenario: every placement of
// every workload, the first ones and those after evictions, scalings and changes of taints. Each
// decision is independent of the others, with the state of the clusters and of the binding just before it.
type recording struct {
	Name     string
	Clusters []struct {
		Name, Region, Provider string
		Labels                 map[string]string
		Zones                  []string
		FreeMilliCPU           int64
	}
	Placements map[string]*api.Placement
	Decisions  []struct {
		At        float64 // seconds
		Placement string
		Taints    map[string][]string
		Request   struct {
			Replicas int32
			MilliCPU int64
			UID      string
			Previous []api.TargetCluster
			Evicting []messages.ClusterName
			Affinity string
		}
		Want struct {
			Targets          map[string]int32
			Affinity, Reason string
		}
	}
}

func TestRecordedDecisions(t *testing.T) {
	text, err := os.ReadFile("testdata/recorded.json")
	require.NoError(t, err)
	var recordings []recording
	require.NoError(t, json.Unmarshal(text, &recordings))
	decisions := 0
	for i := range recordings {
		decisions += len(recordings[i].Decisions)
		t.Run(recordings[i].Name, recordings[i].replay)
	}
	require.Greater(t, decisions, 100)
}

func (c *recording) replay(t *testing.T) {
	fleet := placement.NewFleet()
	planner := placement.NewPlanner(fleet, &messages.Settings{}, 0)
	for i := range c.Decisions {
		d := &c.Decisions[i]
		for _, v := range c.views(d.Taints) {
			fleet.Put(v)
		}
		request := &placement.Request{
			Placement: c.Placements[d.Placement], APIVersion: "apps/v1", Kind: "Deployment",
			Workload: true, Replicas: d.Request.Replicas, UID: d.Request.UID,
			Requirements: requesting(d.Request.MilliCPU),
			Previous:     d.Request.Previous, Evicting: d.Request.Evicting, Affinity: d.Request.Affinity,
		}
		got := planner.Plan(time.Time{}, request)
		says := fmt.Sprintf("%s at %.3f s: %s", d.Placement, d.At, got.Message)
		require.Equal(t, d.Want.Reason, got.Reason, says)
		if d.Want.Reason != "" {
			continue
		}
		targets := make(map[string]int32)
		for _, target := range got.Targets {
			targets[target.Name] = target.Replicas
		}
		require.Equal(t, d.Want.Targets, targets, says)
		require.Equal(t, d.Want.Affinity, got.Affinity, says)
	}
}

// views are the clusters as they are at a decision. A member of the recordings has memory and pods in
// plenty.
func (c *recording) views(taints map[string][]string) []*messages.ClusterView {
	views := make([]*messages.ClusterView, len(c.Clusters))
	for i, k := range c.Clusters {
		views[i] = &messages.ClusterView{
			Name: messages.ClusterName(k.Name), Region: k.Region, Provider: k.Provider, Zones: k.Zones, Labels: k.Labels,
			Resources: &api.ResourceSummary{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewMilliQuantity(k.FreeMilliCPU, resource.DecimalSI),
				corev1.ResourceMemory: resource.MustParse("4000Gi"),
				corev1.ResourcePods:   resource.MustParse("10000"),
			}},
		}
		for _, text := range taints[k.Name] {
			views[i].Taints = append(views[i].Taints, tainting(text))
		}
	}
	return views
}

func requesting(milliCPU int64) *api.ReplicaRequirements {
	if milliCPU == 0 {
		return nil
	}
	cpu := *resource.NewMilliQuantity(milliCPU, resource.DecimalSI)
	return &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{corev1.ResourceCPU: cpu}}
}

// tainting reads a taint written as key=value:effect or key:effect.
func tainting(text string) corev1.Taint {
	pair, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(pair, "=")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
}
