package lint

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"leeward/messages"
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
		func(u *unit) bool { return !u.settings.Evicts() }, "nothing evicts for taints", shows("nothing-evicts", nil),
	},
	{
		[]string{"enableNoExecuteTaintEviction"}, func(u *unit) bool { return !u.settings.Evicts() }, "enableTaintManager or failover is false", shows("nothing-evicts", nil),
	},
	{
		[]string{"failoverEvictionTimeout"}, with(func(s *messages.Settings) bool { return !s.Failover }), "failover is false: no cluster is tainted for it", shows("not-ready-for-long", nil),
	},
	{
		[]string{"evictionBurst"},
		with(func(s *messages.Settings) bool {
			return s.FleetEvictionRate == 0 && s.RegionEvictionRate == 0 && s.ClusterEvictionRate == 0
		}), "fleetEvictionRate, regionEvictionRate and clusterEvictionRate are 0", shows("storm", fields{"evictionBurst": 1}),
	},
	{
		[]string{"resourceEvictionRate"}, with(func(s *messages.Settings) bool { return s.EvictionWorkers == 0 }),
		"evictionWorkers is 0", shows("storm", fields{"resourceEvictionRate": "0.001"}),
	},
	{
		[]string{"largeFleetSize", "secondaryEvictionRate", "stormCooldown"},
		with(func(s *messages.Settings) bool {
			return s.UnhealthyClusterThreshold == 0 && s.UnhealthyRegionThreshold == 0 && s.BlackoutThreshold == 0
		}), "unhealthyClusterThreshold, unhealthyRegionThreshold and blackoutThreshold are 0", shows("some-not-ready", nil),
	},
	{
		[]string{"largeFleetSize"}, with(func(s *messages.Settings) bool { return s.SecondaryEvictionRate == 0 }),
		"secondaryEvictionRate is 0: evictions stop in a fleet of any size", shows("stops-not-slows", nil),
	},
	{
		[]string{"breakerMinimum", "breakerWindow", "breakerCooldown", "breakerTrials"}, with(func(s *messages.Settings) bool { return !s.Breaks() }),
		"fleetBreakerShare, regionBreakerShare and priorityBreakerShare are 0", shows("storm", fields{"breakerMinimum": 1, "breakerWindow": "1h", "breakerCooldown": "1h", "breakerTrials": 1}),
	},
	{
		[]string{"startFailureWindow", "startBackoff"}, with(func(s *messages.Settings) bool { return s.StartFailureLimit == 0 }),
		"startFailureLimit is 0", shows("starts-fail", nil),
	},
	{
		[]string{"applicationFailoverWindow"}, with(func(s *messages.Settings) bool { return s.ApplicationFailoverLimit == 0 }),
		"applicationFailoverLimit is 0", shows("application-fails", nil),
	},
	{
		[]string{"applicationFailoverLimit"}, with(func(s *messages.Settings) bool { return s.ApplicationFailoverWindow == 0 }),
		"applicationFailoverWindow is 0", shows("application-fails", fields{"applicationFailoverLimit": 1, "applicationFailoverWindow": 0}),
	},
	{
		[]string{"evictionNeedsState", "stateForAnyPurgeMode"}, with(func(s *messages.Settings) bool { return !s.StatefulFailoverInjection }),
		"statefulFailoverInjection is false", shows("state-lost", nil),
	},
	{
		[]string{"failoverKeepsQuota"}, with(func(s *messages.Settings) bool { return !s.FederatedQuotaEnforcement }),
		"federatedQuotaEnforcement is false", shows("quota-ignored", nil),
	},
	{
		[]string{"exactComponentSets"}, with(func(s *messages.Settings) bool { return !s.MultiplePodTemplatesScheduling }),
		"multiplePodTemplatesScheduling is false", shows("components-do-not-fit", nil),
	},
	{
		[]string{"unschedulableThreshold", "deschedulingInterval"}, with(func(s *messages.Settings) bool { return !s.EnableDescheduler }),
		"enableDescheduler is false", shows("replicas-wait", nil),
	},
	{
		[]string{"policyTieBreak", "policyRemoves", "policyCleanup", "conditionHold", "missingConditionStatus"},
		func(u *unit) bool { return !u.settings.Failover },
		"failover is false: ClusterTaintPolicies are accepted and ignored", shows("policy-ignored", nil),
	},
	{
		[]string{"podNotReadyTolerationSeconds", "podUnreachableTolerationSeconds"}, withNodes(func(s *messages.Settings) bool { return !s.DefaultTolerationSeconds }),
		"defaultTolerationSeconds is false", shows("pods-without-tolerations", nil),
	},
	{
		[]string{"kubeAPIBurst"}, withNodes(func(s *messages.Settings) bool { return s.KubeAPIQPS == 0 }), "kubeAPIQPS is 0", shows("evicted-together", nil),
	},
	{
		[]string{"largeClusterSizeThreshold"}, withNodes(func(s *messages.Settings) bool { return s.SecondaryNodeEvictionRate == 0 }),
		"secondaryNodeEvictionRate is 0: no more nodes are tainted in a zone of any size", shows("zone-stops", nil),
	},
	{
		[]string{"zoneRateRecovers"}, withNodes(func(s *messages.Settings) bool { return s.NodeEvictionRate != 1 && s.SecondaryNodeEvictionRate != 1 }),
		"neither nodeEvictionRate nor secondaryNodeEvictionRate is 1", shows("zone-recovers", nil),
	},
	{
		nil, func(u *unit) bool { return !u.hasNodes() },
		noNodes, shows("storm", nil),
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

//go:embed idle.yaml
var idleScenarios []byte

// scenarioShown is one of idle.yaml: a witness but for what that has of the unit.
type scenarioShown struct {
	Config                  fields
	Duration                string
	Fleet, Timeline, Expect []fields
	Objects                 []any
}

var idleShown = sync.OnceValues(func() (all map[string]json.RawMessage, err error) {
	err = yaml.Unmarshal(idleScenarios, &all)
	return all, err
})

// shows makes a witness of a scenario of idle.yaml, with more settings.
func shows(name string, set fields) func(*unit) *witness {
	return func(u *unit) *witness {
		var s scenarioShown
		all, err := idleShown()
		if err = errors.Join(err, json.Unmarshal(all[name], &s)); err != nil {
			panic(fmt.Sprintf("lint: idle.yaml: %s: %v", name, err))
		}
		w := u.witness()
		w.duration, w.fleet, w.timeline, w.expect, w.objects = cmp.Or(s.Duration, w.duration), s.Fleet, s.Timeline, s.Expect, s.Objects
		maps.Copy(w.config, s.Config)
		maps.Copy(w.config, set)
		return w
	}
}
