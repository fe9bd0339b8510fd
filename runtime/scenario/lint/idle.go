package lint

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/config"
)

// idleSettings are settings that do nothing while others are as they are.
type idleSettings struct {
	fields []string
	when   func(*unit) bool
	why    string
	// shows has what the settings would change if they did something; its expectations hold because they do not.
	shows func(*unit) *witness
}

// idle is what is known of settings that depend on others. TestEverySettingThatNamesAnotherIsJudged holds it to their comments.
var idle = []idleSettings{
	{
		[]string{
			"resourceEvictionRate", "evictionWorkers", "evictionOrder", "fleetEvictionRate", "regionEvictionRate", "clusterEvictionRate", "evictionBurst",
			"evictionBudgets", "unhealthyClusterThreshold", "unhealthyRegionThreshold", "largeFleetSize", "secondaryEvictionRate", "stormCooldown",
			"fleetBreakerShare", "regionBreakerShare", "priorityBreakerShare", "breakerMinimum", "breakerWindow", "breakerCooldown", "breakerTrials",
			"taintRelistPeriod", "enableTaintManager", "noExecuteTaintEvictionPurgeMode", "withdrawOnRecovery",
		},
		func(u *unit) bool { return !u.settings.Evicts() }, "nothing evicts for taints", nothingEvicts,
	},
	{
		[]string{"enableNoExecuteTaintEviction"}, func(u *unit) bool { return !u.settings.Evicts() }, "enableTaintManager or failover is false", nothingEvicts,
	},
	{
		[]string{"failoverEvictionTimeout"}, with(func(s *messages.Settings) bool { return !s.Failover }), "failover is false: no cluster is tainted for it", notReadyForLong,
	},
	{
		[]string{"evictionBurst"},
		with(func(s *messages.Settings) bool {
			return s.FleetEvictionRate == 0 && s.RegionEvictionRate == 0 && s.ClusterEvictionRate == 0
		}), "fleetEvictionRate, regionEvictionRate and clusterEvictionRate are 0", func(u *unit) *witness { return u.storm().set("evictionBurst", 1) },
	},
	{
		[]string{"resourceEvictionRate"}, with(func(s *messages.Settings) bool { return s.EvictionWorkers == 0 }),
		"evictionWorkers is 0", func(u *unit) *witness { return u.storm().set("resourceEvictionRate", "0.001") },
	},
	{
		[]string{"largeFleetSize", "secondaryEvictionRate", "stormCooldown"},
		with(func(s *messages.Settings) bool {
			return s.UnhealthyClusterThreshold == 0 && s.UnhealthyRegionThreshold == 0 && s.BlackoutThreshold == 0
		}), "unhealthyClusterThreshold, unhealthyRegionThreshold and blackoutThreshold are 0", someNotReady,
	},
	{
		[]string{"largeFleetSize"}, with(func(s *messages.Settings) bool { return s.SecondaryEvictionRate == 0 }),
		"secondaryEvictionRate is 0: evictions stop in a fleet of any size", stopsNotSlows,
	},
	{
		[]string{"breakerMinimum", "breakerWindow", "breakerCooldown", "breakerTrials"}, with(func(s *messages.Settings) bool { return !s.Breaks() }),
		"fleetBreakerShare, regionBreakerShare and priorityBreakerShare are 0", func(u *unit) *witness {
			return u.storm().set("breakerMinimum", 1).set("breakerWindow", "1h").set("breakerCooldown", "1h").set("breakerTrials", 1)
		},
	},
	{
		[]string{"startFailureWindow", "startBackoff"}, with(func(s *messages.Settings) bool { return s.StartFailureLimit == 0 }),
		"startFailureLimit is 0", startsThatFail,
	},
	{
		[]string{"applicationFailoverWindow"}, with(func(s *messages.Settings) bool { return s.ApplicationFailoverLimit == 0 }),
		"applicationFailoverLimit is 0", applicationThatFails,
	},
	{
		[]string{"applicationFailoverLimit"}, with(func(s *messages.Settings) bool { return s.ApplicationFailoverWindow == 0 }),
		"applicationFailoverWindow is 0", func(u *unit) *witness {
			return applicationThatFails(u).set("applicationFailoverLimit", 1).set("applicationFailoverWindow", 0)
		},
	},
	{
		[]string{"evictionNeedsState", "stateForAnyPurgeMode"}, with(func(s *messages.Settings) bool { return !s.StatefulFailoverInjection }),
		"statefulFailoverInjection is false", stateThatIsLost,
	},
	{
		[]string{"failoverKeepsQuota"}, with(func(s *messages.Settings) bool { return !s.FederatedQuotaEnforcement }),
		"federatedQuotaEnforcement is false", quotaThatIsIgnored,
	},
	{
		[]string{"exactComponentSets"}, with(func(s *messages.Settings) bool { return !s.MultiplePodTemplatesScheduling }),
		"multiplePodTemplatesScheduling is false", componentsThatDoNotFit,
	},
	{
		[]string{"unschedulableThreshold", "deschedulingInterval"}, with(func(s *messages.Settings) bool { return !s.EnableDescheduler }),
		"enableDescheduler is false", replicasThatWait,
	},
	{
		[]string{"policyTieBreak", "policyRemoves", "policyCleanup", "conditionHold", "missingConditionStatus"},
		func(u *unit) bool { return !u.settings.Failover },
		"failover is false: ClusterTaintPolicies are accepted and ignored", policyThatIsIgnored,
	},
	{
		[]string{"podNotReadyTolerationSeconds", "podUnreachableTolerationSeconds"}, withNodes(func(s *messages.Settings) bool { return !s.DefaultTolerationSeconds }),
		"defaultTolerationSeconds is false", podsWithoutTolerations,
	},
	{
		[]string{"kubeAPIBurst"}, withNodes(func(s *messages.Settings) bool { return s.KubeAPIQPS == 0 }), "kubeAPIQPS is 0", evictedTogether,
	},
	{
		[]string{"largeClusterSizeThreshold"}, withNodes(func(s *messages.Settings) bool { return s.SecondaryNodeEvictionRate == 0 }),
		"secondaryNodeEvictionRate is 0: no more nodes are tainted in a zone of any size", zoneThatStops,
	},
	{
		[]string{"zoneRateRecovers"}, withNodes(func(s *messages.Settings) bool { return s.NodeEvictionRate != 1 && s.SecondaryNodeEvictionRate != 1 }),
		"neither nodeEvictionRate nor secondaryNodeEvictionRate is 1", zoneThatRecovers,
	},
	{
		nil, func(u *unit) bool { return !u.hasNodes() },
		noNodes, func(u *unit) *witness { return u.storm() },
	},
}

// noNodes is why the settings of the node tier do nothing, which their comments name, and the table does not.
const noNodes = "the scenario has no nodes"

// has reports whether a setting is one of them.
func (s *idleSettings) has(field string) bool {
	return slices.Contains(s.fields, field) || s.why == noNodes && slices.Contains(ofNodeTier(), field)
}

// with asks the settings alone.
func with(when func(*messages.Settings) bool) func(*unit) bool {
	return func(u *unit) bool { return when(&u.settings) }
}

// withNodes asks the settings of a fleet whose clusters have nodes.
func withNodes(when func(*messages.Settings) bool) func(*unit) bool {
	return func(u *unit) bool { return u.hasNodes() && when(&u.settings) }
}

func (u *unit) hasNodes() bool { return u.OfNodes || len(u.MemberNodes) > 0 }

// ofNodeTier returns the settings whose comments say that they are of the node tier.
var ofNodeTier = sync.OnceValue(func() (names []string) {
	comments := config.Comments()
	for i, f := range config.Fields() {
		if strings.HasPrefix(comments[i], "Of the node tier.") {
			names = append(names, f.Name)
		}
	}
	return names
})

// off are the values of settings that are switched off: to say so of one that does nothing is no fault.
var off = []string{"0", "0s", "false", ""}

func (u *unit) idleSettings(r *reporter) {
	for _, o := range u.Config {
		i := slices.IndexFunc(idle, func(s idleSettings) bool { return s.has(o.Field) && s.when(u) })
		if i < 0 || slices.Contains(off, config.String(&u.settings, o.Field)) {
			continue
		}
		r.add(found{
			line: u.lineOf(o), field: "spec.config." + o.Field,
			why: fmt.Sprintf("%s does nothing: %s", o.Field, idle[i].why), fix: "set what it depends on, too, or omit it", witness: idle[i].shows(u),
		})
	}
}

// taintsM1 has everything evicted from m1, if NoExecute taints evict.
func (w *witness) taintsM1() *witness {
	return w.step("1m", "taint", fields{"cluster": "m1", "taints": []string{"example.com/failed:NoExecute"}})
}

// inStorm is how many workloads a storm has.
const inStorm = 5

// storm has several workloads on one cluster that is tainted. Nothing slows them down but what the witness sets: all are evicted immediately.
func (u *unit) storm() *witness {
	w := u.several().set("evictionWorkers", 0).clusters("m1", "m2", "m3", "m4", "m5").taintsM1()
	w.expect = append(w.expect, fields{"total": fields{"event": fields{"kind": "EvictionStarted", "cluster": "m1"}, "exact": inStorm}, "until": "61s"})
	return w
}

// several is a witness with the workloads of a storm.
func (u *unit) several() *witness {
	w := u.witness()
	for i := range inStorm {
		w.web(1)
		w.objects[i].(fields)["metadata"] = fields{"name": fmt.Sprintf("web-%d", i)}
	}
	w.places(firstOn(nil))
	policy := w.objects[inStorm].(fields)["spec"].(fields)
	policy["resourceSelectors"] = []any{fields{"apiVersion": "apps/v1", "kind": "Deployment"}}
	return w
}

func nothingEvicts(u *unit) *witness {
	w := u.several().clusters("m1", "m2", "m3", "m4", "m5").taintsM1()
	return w.expects("never", true, "event", fields{"kind": "EvictionStarted"})
}

// someNotReady is a storm while three clusters of eight are not Ready.
func someNotReady(u *unit) *witness {
	w := u.storm().set("secondaryEvictionRate", 0).set("largeFleetSize", 100).set("stormCooldown", "1h").set("clusterFailureThreshold", "0s")
	w.clusters("n1", "n2", "n3")
	w.timeline = append([]fields{{"at": "30s", "condition": fields{"cluster": "n*", "type": api.ConditionReady, "status": "False"}}}, w.timeline...)
	return w
}

// stopsNotSlows is a storm in which so many clusters are not Ready that evictions slow down in a large fleet.
func stopsNotSlows(u *unit) *witness {
	w := someNotReady(u).set("largeFleetSize", 1).set("blackoutThreshold", 0).set("unhealthyClusterThreshold", "0.3").set("unhealthyRegionThreshold", 0)
	w.expect = nil
	return w.expects("never", true, "event", fields{"kind": "EvictionStarted"})
}

// startsThatFail has copies evicted to a cluster on which nothing becomes healthy.
func startsThatFail(u *unit) *witness {
	w := u.several().clusters("m1", "m2").taintsM1()
	w.duration = "50m"
	w.timeline = append([]fields{{"at": "30s", "health": fields{"cluster": "m2", "status": "Unhealthy"}}}, w.timeline...)
	return w.set("startFailureWindow", "30m").set("startBackoff", "15m").expects("never", true, "event", fields{"kind": "StartsCounted"})
}

// applicationThatFails moves from cluster to cluster.
func applicationThatFails(u *unit) *witness {
	w := u.witness().set("gracefulEviction", true).set("applicationFailoverWindow", "2h").clusters("m1", "m2", "m3", "m4", "m5").web(1)
	w.propagates(fields{
		"propagateDeps": true, "placement": fields{"spreadConstraints": []any{fields{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}}},
		"failover": fields{"application": fields{"decisionConditions": fields{"tolerationSeconds": 60}, "gracePeriodSeconds": 600}},
	})
	w.duration = "1h"
	w.step("10m", "health", fields{"cluster": "m*", "status": "Unhealthy"})
	w.expect = append(w.expect, fields{"total": fields{"event": fields{"kind": "EvictionStarted"}, "min": 2}})
	return w
}

// replicasThatWait cannot start on their cluster, and remain there.
func replicasThatWait(u *unit) *witness {
	w := u.witness().web(6).places(fields{"replicaScheduling": fields{"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}})
	w.fleet = []fields{{"name": "m1", "capacity": fields{"cpu": "10"}}, {"name": "m2", "capacity": fields{"cpu": "8"}}}
	spec := w.objects[0].(fields)["spec"].(fields)["template"].(fields)["spec"].(fields)
	spec["containers"].([]any)[0].(fields)["resources"] = fields{"requests": fields{"cpu": "1"}}
	w.duration = "20m"
	w.step("30s", "schedulableReplicas", fields{"cluster": "m1", "binding": "web", "replicas": 4})
	return w.expects("never", true, "event", fields{"kind": "BindingDescheduled"})
}

// policyThatIsIgnored would add a taint if policies did anything.
func policyThatIsIgnored(u *unit) *witness {
	spec := &api.ClusterTaintPolicySpec{
		AddOnConditions: []api.MatchCondition{{ConditionType: "Disk", Operator: api.MatchIn, StatusValues: []metav1.ConditionStatus{"False"}}},
		Taints:          []api.PolicyTaint{{Key: "example.com/disk", Effect: "NoSchedule"}},
	}
	w := u.witness().in(state{[]string{"Disk"}, []metav1.ConditionStatus{"False"}}).policy("disk", spec).set("conditionHold", "0s")
	return w.expects("always", true, "taint", taintOn(&spec.Taints[0], false))
}
