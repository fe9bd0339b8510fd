package actorstest

import "leeward/messages/api"

// Targets returns clusters with replicas as tests write them: "m1:2", or "m1" for a copy without any. Names
// have two letters and replicas one digit.
func Targets(clusters ...string) []api.TargetCluster {
	var list []api.TargetCluster
	for _, c := range clusters {
		t := api.TargetCluster{Name: c[:2]}
		if len(c) > 2 {
			t.Replicas = int32(c[3] - '0')
		}
		list = append(list, t)
	}
	return list
}
