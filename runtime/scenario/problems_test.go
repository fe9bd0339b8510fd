package scenario_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/scenario"
)

// The spec begins on line 6, below the fleet of world.
func TestProblems(t *testing.T) {
	for spec, want := range map[string]string{
		"  sed: 1":                         `sed: unknown field; did you mean seed?`,
		"  seed: -1":                       `seed: -1: want an integer, 0 or more`,
		"  seed: many":                     `seed: "many": want an integer, 0 or more`,
		"  duration: 0s":                   `duration: must be more than 0; leave it out to run until nothing more is due`,
		"  duration: -5m":                  `duration: "-5m": must not be negative`,
		"  duration: 10":                   `duration: 10: has no unit: write 10s or 10m`,
		"  duration: soon":                 `duration: "soon": must be a duration such as 90s, 5m30s, 2h or 1d`,
		"  profile: karmda":                `profile: unknown profile "karmda": the profiles are karmada, karmada-legacy, kubernetes, leeward; did you mean karmada?`,
		"  config: [a]":                    `config: want a mapping, not a list`,
		"  config: {resourceEvictRate: 1}": `config.resourceEvictRate: unknown field "resourceEvictRate"; did you mean resourceEvictionRate?`,
		"  config: {gracefulEvictionTimeout: 5x}": `config.gracefulEvictionTimeout: gracefulEvictionTimeout: "5x" is not a duration: give it a unit, such as 90s, 10m or 1d`,

		"  include: [gone.yaml]":   `include[0]: open gone.yaml: no such file`,
		"  include: [gone/*.yaml]": `include[0]: no file matches "gone/*.yaml"`,
		"  include: ['[']":         `include[0]: "[" is not a glob pattern: syntax error in pattern`,
		"  include: [/etc/hosts]":  `include[0]: want a path relative to this file, not "/etc/hosts"`,
		"  include: ['']":          `include[0]: want a path relative to this file, not ""`,
		"  include: [s.yaml]":      `include[0]: s.yaml is this very file`,

		"  fleet: [{region: eu}]":                                  `fleet[0].name: required`,
		"  fleet: [{name: 'a{1..'}]":                               `fleet[0].name: "a{1.." does not close its brace`,
		"  fleet: [{name: 'a{1..10000}'}, {name: b}]":              `fleet[1]: makes more than 10000 clusters`,
		"  fleet: [{name: x, colour: red}]":                        `fleet[0].colour: unknown field`,
		"  fleet: [{name: x}, {name: x, region: us}]":              `fleet[1].name: cluster "x" is defined already: only startup and health may be given here`,
		"  fleet: [{name: x, taints: ['a:Nope']}]":                 `fleet[0].taints[0]: "a:Nope": invalid taint effect: Nope, unsupported taint effect`,
		"  fleet: [{name: x, taints: ['a-']}]":                     `fleet[0].taints[0]: "a-": must not remove a taint`,
		"  fleet: [{name: x, taints: [{key: a}]}]":                 `fleet[0].taints[0]: invalid taint spec: a`,
		"  fleet: [{name: x, taints: [3]}]":                        `fleet[0].taints[0]: 3: want a taint such as key=value:Effect, or {key, value, effect}`,
		"  fleet: [{name: x, capacity: {cpu: much}}]":              `fleet[0].capacity[cpu]: "much": want a quantity, as 500m or 2Gi`,
		"  fleet: [{name: x, startup: -1s}]":                       `fleet[0].startup: "-1s": must not be negative`,
		"  fleet: [{name: x, startup: {min: 5s, max: 2s}}]":        `fleet[0].startup: min must not be more than max`,
		"  fleet: [{name: x, startup: {least: 5s}}]":               `fleet[0].startup: unknown field "least"`,
		"  fleet: [{name: x, health: Fine}]":                       `fleet[0].health: want one of Healthy, Unhealthy, Unknown, not "Fine"`,
		"  fleet: [{name: x, syncMode: Poll}]":                     `fleet[0].syncMode: want one of Push, Pull, not "Poll"`,
		"  fleet: [{name: x, conditions: {Ready: 'Nope'}}]":        `fleet[0].conditions: status of Ready must be True, False or Unknown, in quotes`,
		"  fleet: [{name: x, conditions: {Ready: true}}]":          `fleet[0].conditions: want a string, not bool`,
		"  fleet: [{name: x, conditions: [{status: 'True'}]}]":     `fleet[0].conditions: want a type in every condition`,
		"  fleet: [{name: x, conditions: [{type: A}, {type: A}]}]": `fleet[0].conditions: sets A twice`,

		"  timeline: [{restart: true}]":                                                                                   `timeline[0]: want at or every`,
		"  timeline: [{at: 1s, every: 1s, restart: true}]":                                                                `timeline[0]: want at or every, not both`,
		"  timeline: [{at: -1s, restart: true}]":                                                                          `timeline[0].at: "-1s": must not be negative`,
		"  timeline: [{at: '2026-01-01T00:00:00Z', restart: true}]":                                                       `timeline[0].at: "2026-01-01T00:00:00Z": must be an offset from the start of the run, such as 5m30s, not an instant`,
		"  timeline: [{at: 1s, until: 2s, restart: true}]":                                                                `timeline[0]: from and until go with every, not with at`,
		"  timeline: [{every: 1s, restart: true}]":                                                                        `timeline[0]: want until, for the scenario has no duration`,
		"  timeline: [{every: 0s, until: 1s, restart: true}]":                                                             `timeline[0].every: must be more than 0`,
		"  timeline: [{every: 1s, from: 5s, until: 2s, restart: true}]":                                                   `timeline[0]: ends at 2s, before it begins at 5s`,
		"  timeline: [{every: 1ns, until: 1h, restart: true}]":                                                            `timeline[0]: fires 3600000000001 times; a timeline has at most 1000000 steps`,
		"  duration: 5m\n  timeline: [{at: 6m, restart: true}]":                                                           `timeline[0].at: 6m is after the end of the run at 5m`,
		"  timeline: [{at: 1s}]":                                                                                          `timeline[0]: want one action, not 0`,
		"  timeline: [{at: 1s, restart: true, config: {evictionWorkers: 1}}]":                                             `timeline[0]: want one action, not 2: config, restart`,
		"  timeline: [{at: 1s, explode: {}}]":                                                                             `timeline[0].explode: unknown field`,
		"  timeline: [{at: 1s, restart: now}]":                                                                            `timeline[0].restart: "now": want true`,
		"  timeline: [{at: 1s, restart: true, mayFail: true}]":                                                            `timeline[0].mayFail: goes with apply, not with restart`,
		"  timeline: [{at: 1s, condition: {cluster: us-1, type: Disk, status: 'True', observed: true}}]":                  `timeline[0].condition.observed: goes with a status of Ready`,
		"  timeline: [{at: 1s, refuse: {request: get, error: x}}]":                                                        `timeline: refuse goes with nodes, not with a fleet of clusters`,
		"  timeline: [{at: 1s, cordon: {}}]":                                                                              `timeline[0].cordon: want cluster or node`,
		"  timeline: [{at: 1s, cordon: {cluster: member9}}]":                                                              `timeline[0].cordon.cluster: there is no cluster "member9"; there is member1, member2, member3, us-1, us-2`,
		"  timeline: [{at: 1s, cordon: {cluster: 'member{1..9}'}}]":                                                       `timeline[0].cordon.cluster: there is no cluster "member4"; there is member1, member2, member3, us-1, us-2`,
		"  timeline: [{at: 1s, cordon: {cluster: 'asia-*'}}]":                                                             `timeline[0].cordon.cluster: no cluster matches "asia-*"`,
		"  timeline: [{at: 1s, cordon: {cluster: 'eu-['}}]":                                                               `timeline[0].cordon.cluster: "eu-[" is no pattern: a bracket is open`,
		"  timeline: [{at: 1s, cordon: {cluster: 'eu-{'}}]":                                                               `timeline[0].cordon.cluster: "eu-{" does not close its brace`,
		"  timeline: [{at: 1s, cordon: {cluster: {region: asia}}}]":                                                       `timeline[0].cordon.cluster: no cluster is selected`,
		"  timeline: [{at: 1s, cordon: {cluster: {}}}]":                                                                   `timeline[0].cordon.cluster: want region, zone, provider or labels`,
		"  timeline: [{at: 1s, cordon: {cluster: {colour: red}}}]":                                                        `timeline[0].cordon.cluster: unknown field "colour"`,
		"  timeline: [{at: 1s, cordon: {cluster: []}}]":                                                                   `timeline[0].cordon.cluster: names no cluster`,
		"  timeline: [{at: 1s, cordon: {cluster: 5}}]":                                                                    `timeline[0].cordon.cluster: 5: want a name, a pattern, a list of these, or a selector such as {region: eu}`,
		"  timeline: [{at: 1s, condition: {cluster: us-1, status: 'True'}}]":                                              `timeline[0].condition.type: required`,
		"  timeline: [{at: 1s, condition: {cluster: us-1, type: Ready}}]":                                                 `timeline[0].condition.status: required`,
		"  timeline: [{at: 1s, condition: {cluster: us-1, type: Ready, status: Maybe}}]":                                  `timeline[0].condition.status: want True, False, Unknown or an empty one, not "Maybe"`,
		"  timeline: [{at: 1s, condition: {cluster: us-1, type: Ready, status: True}}]":                                   `timeline[0].condition.status: True: want a string: quote it`,
		"  timeline: [{at: 1s, condition: {cluster: us-1, type: Ready, toggle: true, status: 'True'}}]":                   `timeline[0].condition: want status or toggle, not both`,
		"  timeline: [{at: 1s, taint: {cluster: us-1, taints: [a]}}]":                                                     `timeline[0].taint.taints: invalid taint spec: a`,
		"  timeline: [{at: 1s, taint: {cluster: us-1}}]":                                                                  `timeline[0].taint.taints: required`,
		"  timeline: [{at: 1s, taint: {cluster: us-1, taints: []}}]":                                                      `timeline[0].taint.taints: at least one taint update is required`,
		"  timeline: [{at: 1s, pause: {}}]":                                                                               `timeline[0].pause.reason: required`,
		"  timeline: [{at: 1s, pause: {reason: ' '}}]":                                                                    `timeline[0].pause.reason: must say why`,
		"  timeline: [{at: 1s, pause: {reason: a, for: 1m, until: 2m}}]":                                                  `timeline[0].pause: want until or for, not both`,
		"  timeline: [{at: 1s, pause: {reason: a, for: 0s}}]":                                                             `timeline[0].pause.for: must be more than 0`,
		"  timeline: [{at: 1m, pause: {reason: a, until: 30s}}]":                                                          `timeline[0].pause.until: must be after the hold begins`,
		"  timeline: [{at: 1s, hold: {reason: a}}]":                                                                       `timeline[0].hold: want cluster or binding`,
		"  timeline: [{at: 1s, hold: {cluster: us-1, binding: nginx, reason: a}}]":                                        `timeline[0].hold: want cluster or binding, not both`,
		"  timeline: [{at: 1s, hold: {cluster: us-9, reason: a}}]":                                                        `timeline[0].hold.cluster: there is no cluster "us-9"; there is member1, member2, member3, us-1, us-2`,
		"  timeline: [{at: 1s, release: {cluster: us-1, now: true, reason: a}}]":                                          `timeline[0].release.now: goes with binding`,
		"  timeline: [{at: 1s, release: {binding: nginx, now: true}}]":                                                    `timeline[0].release.reason: must say why`,
		"  timeline: [{at: 1s, release: {binding: nginx, reason: a}}]":                                                    `timeline[0].release.reason: goes with now`,
		"  timeline: [{at: 1s, label: {cluster: us-1, labels: {}}}]":                                                      `timeline[0].label.labels: names no label`,
		"  timeline: [{at: 1s, label: {cluster: us-1, labels: {'a b': null}}}]":                                           `timeline[0].label.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
		"  timeline: [{at: 1s, label: {cluster: us-1, labels: {a: 'c d'}}}]":                                              `timeline[0].label.labels: Invalid value: "c d": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
		"  timeline: [{at: 1s, label: {cluster: us-1, labels: {a: 1}}}]":                                                  `timeline[0].label.labels: want a string, not number`,
		"  timeline: [{at: 1s, apiEnablements: {cluster: us-1, kinds: {a/b/c: [Job]}}}]":                                  `timeline[0].apiEnablements.kinds: want a group and version, such as apps/v1, not "a/b/c"`,
		"  timeline: [{at: 1s, crash: {after: -1}}]":                                                                      `timeline[0].crash.after: must not be negative`,
		"  timeline: [{at: 1s, clock: {}}]":                                                                               `timeline[0].clock: want ahead or back`,
		"  timeline: [{at: 1s, clock: {ahead: 1s, back: 1s}}]":                                                            `timeline[0].clock: want ahead or back`,
		"  timeline: [{at: 1s, reports: {cluster: us-1, fault: late, by: 1s, for: 1s}}]":                                  `timeline[0].reports.fault: want one of lost, delayed, duplicated, reordered, not "late"`,
		"  timeline: [{at: 1s, reports: {cluster: us-1, fault: lost, by: 1s, for: 1s}}]":                                  `timeline[0].reports.by: is required with delayed, duplicated and reordered, and not allowed with lost`,
		"  timeline: [{at: 1s, reports: {cluster: us-1, fault: delayed, for: 1s}}]":                                       `timeline[0].reports.by: is required with delayed, duplicated and reordered, and not allowed with lost`,
		"  timeline: [{at: 1s, outage: {cluster: us-1, kind: water}}]":                                                    `timeline[0].outage.kind: want one of power, network, apiserver, not "water"`,
		"  timeline: [{at: 1s, outage: {cluster: us-1, kind: power, for: 0s}}]":                                           `timeline[0].outage.for: must be more than 0`,
		"  timeline: [{at: 1s, health: {cluster: us-1, status: Bad}}]":                                                    `timeline[0].health.status: want one of Healthy, Unhealthy, Unknown, not "Bad"`,
		"  timeline: [{at: 1s, health: {cluster: us-1, status: Healthy, binding: web}}]":                                  `timeline[0].health.binding: there is no binding "web"; there is default/nginx-deployment, shop/db-statefulset`,
		"  timeline: [{at: 1s, capacity: {cluster: us-1}}]":                                                               `timeline[0].capacity: want capacity or allocated`,
		"  timeline: [{at: 1s, scale: {workload: web, replicas: 1}}]":                                                     `timeline[0].scale.workload: there is no Deployment web`,
		"  timeline: [{at: 1s, scale: {workload: nginx, replicas: -1}}]":                                                  `timeline[0].scale.replicas: must not be negative`,
		"  timeline: [{at: 1s, scale: {workload: nginx}}]":                                                                `timeline[0].scale.replicas: required`,
		"  timeline: [{at: 1s, delete: {kind: Deployment, name: web}}]":                                                   `timeline[0].delete: there is no Deployment web`,
		"  timeline: [{at: 1s, apply: {file: gone.yaml}}]":                                                                `timeline[0].apply.file: open gone.yaml: no such file`,
		"  timeline: [{at: 1s, apply: {file: s.yaml}}]":                                                                   `timeline[0].apply.file: s.yaml is this very file`,
		"  timeline: [{at: 1s, apply: {kind: Cluster, metadata: {name: x}}}]":                                             `timeline[0].apply.apiVersion: required`,
		"  timeline: [{at: 1s, apply: []}]":                                                                               `timeline[0].apply: names no manifest`,
		"  timeline: [{at: 1s, apply: yes}]":                                                                              `timeline[0].apply: yes: want a mapping`,
		"  timeline: [{at: 1s, apply: {apiVersion: leeward.dev/v1alpha1, kind: Scenario, metadata: {name: x}}}]":          `timeline[0].apply: a Scenario cannot be applied`,
		"  timeline: [{at: 1s, apply: {apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {replica: 1}}}]": `timeline[0].apply.spec.replica: unknown field; did you mean replicas?`,
		"  timeline: [{at: 1s, config: {evictionWorkers: x}}]":                                                            `timeline[0].config.evictionWorkers: evictionWorkers: "x" is not a whole number`,
		"  timeline: [{at: 1s, cordon: {cluster: late}}, {at: 2s, apply: {file: late.yaml}}]":                             `timeline[0].cordon.cluster: cluster "late" is applied later`,

		"  expect: [{taint: {cluster: us-1, key: a}}]":                      `expect[0]: want one of at, within, always, never, total, not 0 of them`,
		"  expect: [{at: 1s, never: true, taint: {cluster: us-1, key: a}}]": `expect[0]: want one of at, within, always, never, total, not 2 of them`,
		"  expect: [{at: 1s}]": `expect[0]: want one of taint, binding, pod, pods, event, object, anyOf, not 0 of them`,
		"  expect: [{at: 1s, anyOf: [{binding: {name: nginx, healthy: true}}]}]":                                                           `expect[0].anyOf: want two outcomes or more`,
		"  expect: [{at: 1s, anyOf: [{binding: {name: nginx, healthy: true}}, {}]}]":                                                       `expect[0].anyOf[1]: want one of taint, binding, pod, pods, object, not 0 of them`,
		"  expect: [{at: 1s, anyOf: [{taint: {cluster: member1, key: x}}, {taint: {cluster: member2, key: x}}]}]":                          `expect[0].anyOf[1]: is of another object, Cluster member2, than the first: Cluster member1`,
		"  expect: [{at: 1s, event: {kind: Restarted}, anyOf: [{taint: {cluster: a, key: x}}, {taint: {cluster: a, key: z}}]}]":            `expect[0]: want one of taint, binding, pod, pods, event, object, anyOf, not 2 of them`,
		"  expect: [{at: 1s, from: 1s, taint: {cluster: us-1, key: a}}]":                                                                   `expect[0]: from and until go with always, never and total`,
		"  expect: [{always: true, from: 2s, until: 1s, taint: {cluster: us-1, key: a}}]":                                                  `expect[0]: ends at 1s, before it begins at 2s`,
		"  expect: [{always: 5m, taint: {cluster: us-1, key: a}}]":                                                                         `expect[0].always: "5m": want true`,
		"  expect: [{within: {after: 1s}, taint: {cluster: us-1, key: a}}]":                                                                `expect[0].within.for: required`,
		"  duration: 5m\n  expect: [{at: 6m, taint: {cluster: us-1, key: a}}]":                                                             `expect[0].at: 6m is after the end of the run at 5m`,
		"  duration: 5m\n  expect: [{within: {after: 4m, for: 2m}, taint: {cluster: us-1, key: a}}]":                                       `expect[0].within: 6m is after the end of the run at 5m`,
		"  expect: [{at: 1s, taint: {cluster: eu-9, key: a}}]":                                                                             `expect[0].taint.cluster: there is no cluster "eu-9"; there is member1, member2, member3, us-1, us-2`,
		"  expect: [{at: 1s, taint: {cluster: us-1}}]":                                                                                     `expect[0].taint.key: required`,
		"  expect: [{at: 1s, taint: {cluster: us-1, key: a, effect: No}}]":                                                                 `expect[0].taint.effect: No: want a string: quote it`,
		"  expect: [{at: 1s, taint: {cluster: us-1, key: a, effect: Never}}]":                                                              `expect[0].taint.effect: want one of NoSchedule, PreferNoSchedule, NoExecute, not "Never"`,
		"  expect: [{at: 1s, binding: {name: web, healthy: true}}]":                                                                        `expect[0].binding.name: there is no binding "web"; there is default/nginx-deployment, shop/db-statefulset`,
		"  expect: [{at: 1s, binding: {name: nginx}}]":                                                                                     `expect[0].binding: expects nothing of the binding`,
		"  expect: [{at: 1s, binding: {name: nginx, clusters: {eu-9: 1}}}]":                                                                `expect[0].binding.clusters: there is no cluster "eu-9"; there is member1, member2, member3, us-1, us-2`,
		"  expect: [{at: 1s, binding: {name: nginx, clusters: {us-1: -1}}}]":                                                               `expect[0].binding.clusters: want a number of replicas, 0 or more, for us-1`,
		"  expect: [{at: 1s, binding: {name: nginx, clusters: {us-1: two}}}]":                                                              `expect[0].binding.clusters: want a number, not string`,
		"  expect: [{at: 1s, binding: {name: nginx, clusters: [us-1, us-1]}}]":                                                             `expect[0].binding.clusters: names us-1 twice`,
		"  expect: [{at: 1s, binding: {name: nginx, tasks: us-1}}]":                                                                        `expect[0].binding.tasks: "us-1": want a list of clusters or of tasks`,
		"  expect: [{at: 1s, binding: {name: nginx, tasks: [1]}}]":                                                                         `expect[0].binding.tasks: want the name of a cluster, or fields of a task, in each item`,
		"  expect: [{at: 1s, binding: {name: nginx, tasks: [eu-9]}}]":                                                                      `expect[0].binding.tasks[0]: there is no cluster "eu-9"; there is member1, member2, member3, us-1, us-2`,
		"  expect: [{at: 1s, binding: {name: nginx, tasks: [{from: us-1}]}}]":                                                              `expect[0].binding.tasks[0]: a task has no field "from"; there are clustersBeforeFailover, creationTimestamp, fromAffinity, fromCluster, gracePeriodSeconds, handover, message, preservedLabelState, producer, purgeMode, reason, replacedBy, replicas, suppressDeletion`,
		"  expect: [{at: 1s, binding: {name: nginx, replicas: many}}]":                                                                     `expect[0].binding.replicas: "many": want a number or {min, max}`,
		"  expect: [{at: 1s, binding: {name: nginx, replicas: {}}}]":                                                                       `expect[0].binding.replicas: want min or max`,
		"  expect: [{at: 1s, binding: {name: nginx, replicas: -1}}]":                                                                       `expect[0].binding.replicas: -1: must not be negative`,
		"  expect: [{at: 1s, binding: {name: nginx, replicas: {min: 3, max: 2}}}]":                                                         `expect[0].binding.replicas: min must not be more than max`,
		"  expect: [{at: 1s, binding: {name: nginx, replicas: {least: 3}}}]":                                                               `expect[0].binding.replicas: unknown field "least"`,
		"  expect: [{always: true, event: {kind: Restarted}}]":                                                                             `expect[0]: an event does not last: want at, within, never or total`,
		"  expect: [{never: true, event: {kind: EvictionStarted, colour: red}}]":                                                           `expect[0].event: EvictionStarted has no field "colour"; there are binding, cluster, grounds, task`,
		"  expect: [{never: true, event: {kind: EvictionStarted, grounds: {why: x}}}]":                                                     `expect[0].event: EvictionStarted grounds has no field "why"; there are cause, deadline, reason, taint, toleration`,
		"  expect: [{never: true, event: {kind: EvictionStarted, task: gone}}]":                                                            `expect[0].event: EvictionStarted task is a mapping`,
		"  expect: [{never: true, event: {kind: EvictionStarted, cluster: eu-9}}]":                                                         `expect[0].event.cluster: there is no cluster "eu-9"; there is member1, member2, member3, us-1, us-2`,
		"  expect: [{total: {event: {kind: Restarted}}}]":                                                                                  `expect[0].total: want min or max`,
		"  expect: [{total: {event: {kind: Restarted}, min: 1, exact: 1}}]":                                                                `expect[0].total: want exact, or min and max, not both`,
		"  expect: [{total: {event: {kind: Restarted}, min: -1}}]":                                                                         `expect[0].total: must not be negative`,
		"  expect: [{total: {max: 1}}]":                                                                                                    `expect[0].total.event: required`,
		"  expect: [{total: {event: {kind: Restarted}, max: 1}, taint: {cluster: us-1, key: a}}]":                                          `expect[0]: total has its event inside: {total: {event: ...}}`,
		"  expect: [{at: 1s, object: {kind: Cluster, metadata: {name: us-1}}}]":                                                            `expect[0].object.apiVersion: required`,
		"  expect: [{at: 1s, object: {apiVersion: v1, kind: Pod}}]":                                                                        `expect[0].object.metadata.name: required`,
		"  expect: [{at: 1s, object: {apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu-9}}}]":                   `expect[0].object.metadata.name: there is no cluster "eu-9"; there is member1, member2, member3, us-1, us-2`,
		"  expect: [{at: 1s, object: {apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: us-1}, spec: {taint: 1}}}]": `expect[0].object: Cluster spec has no field "taint"; there are apiEndpoint, id, impersonatorSecretRef, insecureSkipTLSVerification, provider, proxyHeader, proxyURL, region, resourceModels, secretRef, syncMode, taints, zone, zones`,
	} {
		t.Run(spec, func(t *testing.T) {
			f, line := world(spec+"\n"), 6+strings.Count(spec, "\n")
			if strings.HasPrefix(spec, "  fleet") {
				f["s.yaml"], line = head+spec+"\n", 5
			}
			scenarios, problems := f.decode("s.yaml")
			require.Empty(t, scenarios)
			require.EqualError(t, problems, fmt.Sprintf("s.yaml:%d: Scenario s: spec.%s", line, want))
		})
	}
}

func TestUnknownKindsOfEventsAreListed(t *testing.T) {
	_, problems := world("  expect: [{never: true, event: {kind: Eviction}}]\n").decode("s.yaml")
	require.Len(t, problems, 1)
	require.Contains(t, problems[0].Error(), `s.yaml:6: Scenario s: spec.expect[0].event.kind: want the kind of a fact, not "Eviction": `)
	require.Contains(t, problems[0].Error(), "EvictionStarted, EvictionWithdrawn")
}

func TestAllProblemsComeTogether(t *testing.T) {
	_, problems := world(`  duration: -1s
  timeline:
  - {at: 1s, cordon: {cluster: eu-9}}
  - {restart: true}
  expect:
  - {at: 1s, binding: {name: web, healthy: 1}}
`).decode("s.yaml")
	require.EqualError(t, problems, strings.Join([]string{
		`s.yaml:6: Scenario s: spec.duration: "-1s": must not be negative`,
		`s.yaml:8: Scenario s: spec.timeline[0].cordon.cluster: there is no cluster "eu-9"; there is member1, member2, member3, us-1, us-2`,
		`s.yaml:9: Scenario s: spec.timeline[1]: want at or every`,
		`s.yaml:11: Scenario s: spec.expect[0].binding.healthy: 1: want true or false`,
	}, "\n"))

	_, problems = world(`  duration: 1m
  timeline:
  - {at: 2m, cordon: {cluster: eu-9}}
  - {restart: true}
  - {at: 1s, cordon: {cluster: eu-9}}
  expect:
  - {at: 1s, binding: {name: web, healthy: true}}
`).decode("s.yaml")
	require.EqualError(t, problems, strings.Join([]string{
		`s.yaml:8: Scenario s: spec.timeline[0].at: 2m is after the end of the run at 1m`,
		`s.yaml:9: Scenario s: spec.timeline[1]: want at or every`,
		`s.yaml:10: Scenario s: spec.timeline[2].cordon.cluster: there is no cluster "eu-9"; there is member1, member2, member3, us-1, us-2`,
		`s.yaml:12: Scenario s: spec.expect[0].binding.name: there is no binding "web"; there is default/nginx-deployment, shop/db-statefulset`,
	}, "\n"))
}

// A slip in a manifest must not bring on problems with whatever names it.
func TestBrokenManifestsBringNoFurtherProblems(t *testing.T) {
	f := world("  include: [broken.yaml]\n  expect: [{at: 1s, binding: {name: web, healthy: true}}]\n" +
		"  timeline: [{at: 1s, scale: {workload: web, replicas: 2}}, {at: 1s, cordon: {cluster: [x, 'y*', {region: z}]}}]\n")
	f["broken.yaml"] = strings.Replace(strings.Replace(deployment, "name: nginx}", "name: web}", 1), "replicas: 4", "replicas: four", 1)
	_, problems := f.decode("s.yaml")
	require.EqualError(t, problems, strings.Join([]string{
		`broken.yaml:5: Deployment web: spec.replicas: "four": want an integer`,
		`s.yaml:8: Scenario s: spec.timeline[1].cordon.cluster: want a string, not object`,
	}, "\n"))
}

func TestScenariosCannotBeIncluded(t *testing.T) {
	f := world("  include: [other.yaml, 'polic*/*.yaml', policies/p.yaml]\n  timeline: [{at: 1s, apply: {file: other.yaml}}]\n")
	f["other.yaml"] = strings.Replace(head, "name: s", "name: other", 1)
	_, problems := f.decode("s.yaml")
	require.EqualError(t, problems, strings.Join([]string{
		`s.yaml:6: Scenario s: spec.include[0]: other.yaml holds a Scenario: only manifests can be named here`,
		`s.yaml:7: Scenario s: spec.timeline[0].apply.file: other.yaml holds a Scenario: only manifests can be named here`,
	}, "\n"))
}

func TestScenariosNeedTheirGroupAndSpec(t *testing.T) {
	for written, want := range map[string]string{
		"apiVersion: leeward.dev/v1\nkind: Scenario\nmetadata: {name: s}\nspec: {}\n":        `s.yaml:2: Scenario s: kind: Scenario is not known in leeward.dev/v1; want leeward.dev/v1alpha1`,
		"apiVersion: v1\nkind: Scenario\nmetadata: {name: s}\nspec: {}\n":                    `s.yaml:1: Scenario s: apiVersion: want leeward.dev/v1alpha1`,
		"apiVersion: leeward.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\n":            `s.yaml:1: Scenario s: spec: required`,
		"apiVersion: leeward.dev/v1alpha1\nkind: Scenario\nmetadata: {}\nspec: {}\n":         `s.yaml:3: Scenario: metadata.name: required`,
		"apiVersion: leeward.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec: [a]\n": `s.yaml:4: Scenario s: spec: want a mapping, not a list`,
		"apiVersion: leeward.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec: {":     `s.yaml:5: not YAML: did not find expected node content`,
	} {
		scenarios, problems := files{"s.yaml": written}.decode("s.yaml")
		require.Empty(t, scenarios)
		require.EqualError(t, problems, want)
	}
}

func TestObjectsAreDefinedOnce(t *testing.T) {
	f := world("  include: [again.yaml]\n")
	f["again.yaml"] = deployment
	_, problems := f.decode("s.yaml")
	require.Len(t, problems, 1)
	require.Contains(t, problems[0].Error(), "again.yaml:1: Deployment nginx: defined twice, first at s.yaml:8")
}

func write(t *testing.T, dir string, f files) {
	t.Helper()
	for name, text := range f {
		full := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o644))
	}
}

func TestLoadFindsScenarios(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, files{
		"b/two.yml":     head + "  include: [../fleet/*.yaml]\n",
		"a/one.yaml":    head + "  include: [../fleet/*.yaml]\n",
		"a/three.json":  `{"apiVersion": "leeward.dev/v1alpha1", "kind": "Scenario", "metadata": {"name": "three"}, "spec": {}}`,
		"fleet/c.yaml":  world("")["late.yaml"],
		"fleet/d.yaml":  deployment,
		"values.yaml":   "replicas: [not, a, manifest",
		"a/one.txt":     "kind: Scenario",
		"broken/x.yaml": "kind: Scenario\nmetadata: {name: x}\nspec: {}\n",
	})
	scenarios, _, problems := scenario.Find(dir)
	require.Len(t, problems, 1)
	require.Contains(t, problems[0].Error(), "broken/x.yaml:1: Scenario x: apiVersion: required")
	var names []string
	for _, s := range scenarios {
		name, err := filepath.Rel(dir, s.File)
		require.NoError(t, err)
		names = append(names, filepath.ToSlash(name))
	}
	require.Equal(t, []string{"a/one.yaml", "a/three.json", "b/two.yml"}, names)
	require.Equal(t, []string{"Cluster late", "Deployment default/nginx"}, keys(scenarios[0].Objects))

	one, _, problems := scenario.Find(filepath.Join(dir, "a", "one.yaml"))
	require.Empty(t, problems)
	require.Len(t, one, 1)
}

func TestLoadSaysWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, files{"d.yaml": deployment, "dir.yaml/x.yaml": deployment})
	for path, want := range map[string]string{
		"gone":   "gone: stat %: no such file or directory",
		"":       "holds no Scenario",
		"d.yaml": "d.yaml: holds no Scenario",
	} {
		full := filepath.Join(dir, path)
		scenarios, _, problems := scenario.Find(full)
		require.Empty(t, scenarios)
		require.Len(t, problems, 1)
		require.Contains(t, problems[0].Error(), strings.ReplaceAll(want, "%", full))
	}
}
