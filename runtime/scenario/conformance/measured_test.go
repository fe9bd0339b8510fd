package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
)

// fleet is a recording being written: five clusters under the flags of the measured control plane.
type fleet struct {
	t *testing.T
	r *Recording
	// ids is the uid of every workload.
	ids string
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{t: t, r: &Recording{Format: Format}}
	f.r.Script.ID = t.Name()
	f.r.Script.ControlPlaneFlags = map[string]string{"karmada-controller-manager": "--feature-gates=Failover=true,GracefulEviction=true " +
		"--enable-no-execute-taint-eviction=true --resource-eviction-rate=100 --graceful-eviction-timeout=20s"}
	for i := range 5 {
		f.r.Script.Clusters = append(f.r.Script.Clusters, Cluster{Name: fmt.Sprintf("member%d", i+1)})
	}
	return f
}

// policy is a PropagationPolicy for one Deployment.
func policy(name, placement string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": %q, "namespace": "default"},
		"spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": %q}], "placement": %s}}`, name, name, placement))
}

func (f *fleet) deployment(name string, replicas int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": %q, "namespace": "default", "uid": %q},
		"spec": {"replicas": %d, "selector": {}, "template": {"spec": {"containers": [{"name": "c", "image": "nginx"}]}}}}`, name, f.ids, replicas))
}

// uid is that of the workloads that follow.
func (f *fleet) uid(uid string) *fleet {
	f.ids = uid
	return f
}

func (f *fleet) runs(name string, replicas int, placement string) *fleet {
	f.r.Script.PropagationPolicies = append(f.r.Script.PropagationPolicies, policy(name, placement))
	f.r.Script.Deployments = append(f.r.Script.Deployments, f.deployment(name, replicas))
	return f
}

// then adds an event, written as in a recording.
func (f *fleet) then(at float64, event string) *fleet {
	e := Event{AtSeconds: at}
	require.NoError(f.t, json.Unmarshal([]byte(event), &e))
	f.r.Script.Events = append(f.r.Script.Events, e)
	return f
}

func (f *fleet) taint(at float64, cluster, effect string) *fleet {
	return f.then(at, fmt.Sprintf(`{"action": "taint", "cluster": %q, "taint": {"key": "f", "effect": %q}}`, cluster, effect))
}

func (f *fleet) untaint(at float64, cluster, effect string) *fleet {
	return f.then(at, fmt.Sprintf(`{"action": "untaint", "cluster": %q, "taint": {"key": "f", "effect": %q}}`, cluster, effect))
}

// unhealthy makes a cluster report every copy as Unhealthy.
func (f *fleet) unhealthy(cluster int) *fleet {
	f.r.Script.Clusters[cluster-1].WorkloadHealth = api.Unhealthy
	return f
}

// until runs what was written. It begins half a second into a second.
func (f *fleet) until(end float64) *replayed {
	f.r.Script.EndSeconds = end
	return play(f.t, f.r, 1, 1500*time.Millisecond)
}

// transcript tells what a workload went through, a line for each state: when, where it is placed, and after
// a dash the clusters that it leaves, with the replicas that it had there.
func (r *replayed) transcript(name string) string {
	var b strings.Builder
	for _, s := range r.bindings()["binding "+name+"-deployment"] {
		text := strings.NewReplacer(" Gracefully TaintUntolerated TaintManager", "", "on ", "", "leaving []", "", "leaving ", "- ").Replace(s.text)
		fmt.Fprintf(&b, "%gs %s\n", s.at.Round(100*time.Millisecond).Seconds(), strings.TrimSpace(text))
	}
	return b.String()
}

// Placements, as members of a JSON object.
const (
	members12   = `"clusterAffinity": {"clusterNames": ["member1", "member2"]}`
	member1     = `"clusterAffinity": {"clusterNames": ["member1"]}`
	notMember5  = `"clusterAffinity": {"exclude": ["member5"]}`
	twoClusters = `"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2}]`
	oneToTwo    = `"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted", "weightPreference": {"staticWeightList": [
		{"targetCluster": {"clusterNames": ["member1"]}, "weight": 1}, {"targetCluster": {"clusterNames": ["member2"]}, "weight": 2}]}}`
	byCapacity = `"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted", "weightPreference": {"dynamicWeight": "AvailableReplicas"}}`
	aggregated = `"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}`
)

// tolerating is a toleration of the taint f.
func tolerating(seconds int) string {
	return fmt.Sprintf(`"clusterTolerations": [{"key": "f", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": %d}]`, seconds)
}

func placement(members ...string) string { return "{" + strings.Join(members, ", ") + "}" }

// What else was measured of the control plane, beside the recordings that every clone has: scenarios
// with their outcomes as the study describes them.
func TestGoesAsMeasured(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(*fleet) *replayed
		want string
	}{
		{"Aggregated replicas move together (b13)", func(f *fleet) *replayed {
			return f.runs("w", 6, placement(aggregated)).taint(0, "member1", "NoExecute").taint(5, "member2", "NoExecute").until(8)
		}, `
			0s [member1:6]
			0s [] - [member1:6]
			0s [member2:6] - [member1:6]
			0.1s [member2:6]
			5s [] - [member2:6]
			5s [member3:6] - [member2:6]
			5.1s [member3:6]`},
		{"lost replicas go where capacity is, ties in descending order (b14)", func(f *fleet) *replayed {
			return f.uid("b").runs("w", 10, placement(byCapacity)).taint(0, "member3", "NoExecute").until(8)
		}, `
			0s [member1:2 member2:2 member3:2 member4:2 member5:2]
			0s [member1:2 member2:2 member4:2 member5:2] - [member3:2]
			0s [member1:2 member2:2 member4:3 member5:3] - [member3:2]
			0s [member1:2 member2:2 member4:3 member5:3]`},
		{"the same with another uid: ties in ascending order (b14)", func(f *fleet) *replayed {
			return f.uid("c").runs("w", 10, placement(byCapacity)).taint(0, "member3", "NoExecute").until(8)
		}, `
			0s [member1:2 member2:2 member3:2 member4:2 member5:2]
			0s [member1:2 member2:2 member4:2 member5:2] - [member3:2]
			0s [member1:3 member2:3 member4:2 member5:2] - [member3:2]
			0s [member1:3 member2:3 member4:2 member5:2]`},
		{"a Duplicated workload without a limit shrinks, and comes back by itself (b15)", func(f *fleet) *replayed {
			return f.runs("w", 1, "{}").taint(0, "member4", "NoExecute").untaint(6, "member4", "NoExecute").until(8)
		}, `
			0s [member1:1 member2:1 member3:1 member4:1 member5:1]
			0s [member1:1 member2:1 member3:1 member5:1] - [member4:1]
			0s [member1:1 member2:1 member3:1 member5:1]
			6s [member1:1 member2:1 member3:1 member4:1 member5:1]`},
		{"a Divided workload does not come back before it is scaled (b16)", func(f *fleet) *replayed {
			return f.runs("w", 3, placement(members12, oneToTwo)).taint(0, "member1", "NoExecute").untaint(4, "member1", "NoExecute").
				then(8, `{"action": "scale", "workload": "w", "replicas": 6}`).until(10)
		}, `
			0s [member1:1 member2:2]
			0s [member2:2] - [member1:1]
			0s [member2:3] - [member1:1]
			0s [member2:3]
			8s [member1:2 member2:4]`},
		{"the last copy goes when the grace ends, and the workload runs nowhere (b17, 5.9)", func(f *fleet) *replayed {
			return f.runs("w", 1, placement(member1)).taint(0, "member1", "NoExecute").untaint(30, "member1", "NoExecute").until(32)
		}, `
			0s [member1:1]
			0s [] - [member1:1]
			19.5s []
			30s [member1:1]`},
		{"a healed cluster is barred until the grace ends (b18, 5.10)", func(f *fleet) *replayed {
			return f.runs("w", 1, placement(member1)).taint(0, "member1", "NoExecute").untaint(5, "member1", "NoExecute").until(25)
		}, `
			0s [member1:1]
			0s [] - [member1:1]
			19.5s []
			19.5s [member1:1]`},
		{"one slow substitute holds the tasks of every failed cluster (b21, 5.11)", func(f *fleet) *replayed {
			return f.unhealthy(4).runs("w", 2, placement(notMember5, twoClusters)).
				taint(0, "member1", "NoExecute").taint(0, "member2", "NoExecute").until(25)
		}, `
			0s [member1:2 member2:2]
			0s [member2:2] - [member1:2]
			0s [member2:2 member3:2] - [member1:2]
			0s [member3:2] - [member1:2 member2:2]
			0s [member3:2 member4:2] - [member1:2 member2:2]
			19.5s [member3:2 member4:2]`},
		{"one unhealthy cluster that is kept holds the task (b22, 5.11)", func(f *fleet) *replayed {
			return f.unhealthy(1).runs("w", 2, placement(notMember5, twoClusters)).taint(0, "member2", "NoExecute").until(25)
		}, `
			0s [member1:2 member2:2]
			0s [member1:2] - [member2:2]
			0s [member1:2 member3:2] - [member2:2]
			19.5s [member1:2 member3:2]`},
		{"a toleration ends up to a second early (5.1)", func(f *fleet) *replayed {
			return f.runs("w", 1, placement(members12, tolerating(3), aggregated)).taint(0, "member1", "NoExecute").until(5)
		}, `
			0s [member1:1]
			2.5s [] - [member1:1]
			2.5s [member2:1] - [member1:1]
			2.6s [member2:1]`},
		{"a shortened toleration is noticed at the next look (c07, 5.3)", func(f *fleet) *replayed {
			return f.runs("w", 1, placement(members12, tolerating(60), aggregated)).taint(0, "member1", "NoExecute").
				then(3, edited("w", placement(members12, tolerating(5), aggregated))).until(12)
		}, `
			0s [member1:1]
			10s [] - [member1:1]
			10s [member2:1] - [member1:1]
			10.1s [member2:1]`},
		{"or when the timer of the old one fires", func(f *fleet) *replayed {
			return f.runs("w", 1, placement(members12, tolerating(7), aggregated)).taint(0, "member1", "NoExecute").
				then(3, edited("w", placement(members12, tolerating(5), aggregated))).until(12)
		}, `
			0s [member1:1]
			6.5s [] - [member1:1]
			6.5s [member2:1] - [member1:1]
			6.6s [member2:1]`},
		{"or when anything of the cluster changes", func(f *fleet) *replayed {
			return f.runs("w", 1, placement(members12, tolerating(60), aggregated)).taint(0, "member1", "NoExecute").
				then(3, edited("w", placement(members12, tolerating(5), aggregated))).
				then(8, `{"action": "condition", "cluster": "member1", "conditionType": "X", "conditionStatus": "True"}`).until(12)
		}, `
			0s [member1:1]
			8s [] - [member1:1]
			8s [member2:1] - [member1:1]
			8.1s [member2:1]`},
		{"a lengthened toleration is honoured (5.3)", func(f *fleet) *replayed {
			return f.runs("w", 1, placement(members12, tolerating(4), aggregated)).taint(0, "member1", "NoExecute").
				then(2, edited("w", placement(members12, tolerating(8), aggregated))).until(12)
		}, `
			0s [member1:1]
			7.5s [] - [member1:1]
			7.5s [member2:1] - [member1:1]
			7.6s [member2:1]`},
		{"placement does not see how old a taint is, and goes round in circles (c08, 5.7)", func(f *fleet) *replayed {
			return f.taint(0, "member1", "NoExecute").
				then(7, `{"action": "createPropagationPolicy", "propagationPolicy": `+string(policy("w", placement(member1, tolerating(3))))+`}`).
				then(8, `{"action": "createDeployment", "deployment": `+string(f.deployment("w", 1))+`}`).until(48)
		}, `
			8s []
			8s [member1:1]
			10s [] - [member1:1]
			29.5s []
			29.5s [member1:1]
			30s [] - [member1:1]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := strings.TrimPrefix(strings.ReplaceAll(c.want, "\t", ""), "\n") + "\n"
			ran := c.run(newFleet(t))
			require.Equal(t, want, ran.transcript("w"), timeline(t, ran.run))
		})
	}
}

func edited(name, placement string) string {
	return `{"action": "updatePropagationPolicy", "propagationPolicy": ` + string(policy(name, placement)) + `}`
}

// After a blip of five seconds the cluster is chosen again, and the copy that ran there all the time is
// removed and started again (5.10).
func TestARecoveredClusterIsBounced(t *testing.T) {
	ran := newFleet(t).runs("w", 1, placement(member1)).taint(0, "member1", "NoExecute").untaint(5, "member1", "NoExecute").until(25)
	var moves []string
	for i := range ran.run.Events {
		e := &ran.run.Events[i]
		if strings.HasPrefix(e.Fact.Kind(), "Copy") {
			moves = append(moves, fmt.Sprintf("%s at %gs", e.Fact.Kind(), ran.at(e).Seconds()))
		}
	}
	require.Equal(t, []string{"CopyStarted at 0s", "CopyStopped at 19.5s", "CopyStarted at 19.5s"}, moves)
}

// Three workers rest for 1/rate seconds each: the default of 0.5 means one and a half evictions a second
// (5.14).
func TestThreeWorkersPaceEvictions(t *testing.T) {
	f := newFleet(t)
	f.r.Script.ControlPlaneFlags["karmada-controller-manager"] = "--feature-gates=Failover=true --enable-no-execute-taint-eviction=true"
	var names []string
	for i := range 9 {
		name := fmt.Sprintf("w%d", i+1)
		names = append(names, name)
		f.runs(name, 1, placement(members12, aggregated))
	}
	ran := f.taint(0, "member1", "NoExecute").until(10)
	var at []float64
	for _, name := range names {
		at = append(at, ran.bindings()["binding "+name+"-deployment"][1].at.Seconds())
	}
	require.Equal(t, []float64{0, 0, 0, 2, 2, 2, 4, 4, 4}, at)
}

// Admission takes tolerations that make no sense; it refuses the numeric operators alone (c06, 5.6).
func TestAdmissionTakesNonsenseTolerations(t *testing.T) {
	for _, c := range []struct{ name, toleration, refused string }{
		{"Equal without a key", `{"operator": "Equal", "value": "v"}`, ""},
		{"Exists with a value", `{"key": "f", "operator": "Exists", "value": "v"}`, ""},
		{"seconds on NoSchedule", `{"key": "f", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 5}`, ""},
		{"an unknown operator", `{"key": "f", "operator": "Almost"}`, ""},
		{"PreferNoSchedule", `{"key": "f", "operator": "Exists", "effect": "PreferNoSchedule"}`, ""},
		{"an unknown effect", `{"key": "f", "operator": "Exists", "effect": "Sometimes"}`, ""},
		{"negative seconds", `{"key": "f", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -5}`, ""},
		{"Lt", `{"key": "f", "operator": "Lt", "value": "5"}`, "at 1.0s spec.placement.clusterTolerations[0].operator Unsupported value"},
		{"Gt", `{"key": "f", "operator": "Gt", "value": "5"}`, "at 1.0s spec.placement.clusterTolerations[0].operator Unsupported value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := newFleet(t).runs("w", 1, placement(members12, aggregated)).
				then(1, edited("w", placement(members12, aggregated, `"clusterTolerations": [`+c.toleration+`]`))).until(2)
			require.Equal(t, c.refused, ran.refused())
		})
	}
}
