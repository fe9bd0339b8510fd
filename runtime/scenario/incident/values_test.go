package incident_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/incident"
)

// began is when recordings of tests do, ended their last line.
var began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const (
	header = `{"type": "HEADER", "time": "2026-11-21T12:00:00.25Z", "format": "leeward-recording/1"}`
	ended  = `{"type": "END", "time": "2026-11-21T12:10:00Z", "reason": "its time was up"}`
)

// line is one line about an object, so many seconds after the start.
func line(t incident.Type, seconds float64, object string, writers ...string) string {
	at := began.Add(time.Duration(seconds * float64(time.Second))).Format(time.RFC3339Nano)
	by, err := json.Marshal(writersOf(writers))
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"type": %q, "time": %q, "object": %s, "writers": %s}`, t, at, object, by)
}

// writersOf are writers from "kubectl" and "agent/status".
func writersOf(texts []string) []incident.Writer {
	var all []incident.Writer
	for _, text := range texts {
		manager, subresource, _ := strings.Cut(text, "/")
		all = append(all, incident.Writer{Manager: manager, Subresource: subresource})
	}
	return all
}

// about is a line about a resource.
func about(t incident.Type, seconds int, resource string) string {
	return fmt.Sprintf(`{"type": %q, "time": %q, "resource": %q, "reason": "why"}`, t, began.Add(time.Duration(seconds)*time.Second).Format(time.RFC3339), resource)
}

// cluster is a Cluster with fields of its spec and its status.
func cluster(name, spec, status string) string {
	return fmt.Sprintf(`{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": %q}, "spec": {%s}, "status": {%s}}`, name, spec, status)
}

func ready(status, reason string) string {
	return fmt.Sprintf(`"conditions": [{"type": "Ready", "status": %q, "reason": %q}]`, status, reason)
}

func tainted(key, effect string) string {
	return fmt.Sprintf(`"taints": [{"key": %q, "effect": %q}]`, key, effect)
}

// caused is the cause of a taint in a Cluster's status.
func caused(key, effect, by string) string {
	return fmt.Sprintf(`"taintCauses": [{"key": %q, "effect": %q, "by": %q}]`, key, effect, by)
}

func lease(seconds int) string {
	return fmt.Sprintf(`{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"namespace": "karmada-cluster", "name": "m1"}, "spec": {"renewTime": %q, "leaseDurationSeconds": 30}}`,
		began.Add(time.Duration(seconds)*time.Second).Format("2006-01-02T15:04:05.000000Z07:00"))
}

// work is the Work of a copy on m1 with a generation, and what its agent says of one.
func work(generation int, about int, health string) string {
	status := ""
	if health != "" {
		status = fmt.Sprintf(`"conditions": [{"type": "Applied", "status": "True", "observedGeneration": %d}], "manifestStatuses": [{"identifier": {"ordinal": 0, "version": "v1", "kind": "Deployment", "resource": "deployments", "namespace": "shop", "name": "web"}, "health": %q}]`, about, health)
	}
	return fmt.Sprintf(`{"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {"namespace": "karmada-es-m1", "name": "web", "generation": %d,
		"annotations": {"resourcebinding.karmada.io/namespace": "shop", "resourcebinding.karmada.io/name": "web-deployment"}}, "spec": {}, "status": {%s}}`, generation, status)
}

// crowded is the Work of a copy on m1 with so many replicas, of which some cannot start.
func crowded(generation, replicas, unschedulable int) string {
	health := "Healthy"
	if unschedulable > 0 {
		health = "Unhealthy"
	}
	asks := fmt.Sprintf(`"spec": {"workload": {"manifests": [{"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": %d}}]}}`, replicas)
	says := fmt.Sprintf(`"status": {"replicas": %d, "unschedulableReplicas": %d}, "health"`, replicas, unschedulable)
	return strings.NewReplacer(`"spec": {}`, asks, `"health"`, says).Replace(work(generation, generation, health))
}

// binding is a binding with clusters and the clusters that it leaves, as "m1:2".
func binding(metadata string, on, leaves []string) string {
	var targets, tasks []string
	for _, text := range on {
		name, replicas, _ := strings.Cut(text, ":")
		targets = append(targets, fmt.Sprintf(`{"name": %q, "replicas": %s}`, name, replicas))
	}
	for _, name := range leaves {
		tasks = append(tasks, fmt.Sprintf(`{"fromCluster": %q, "reason": "TaintUntolerated", "producer": "TaintManager"}`, name))
	}
	return fmt.Sprintf(`{"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding", "metadata": {"namespace": "shop", "name": "web-deployment"%s},
		"spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}, "clusters": [%s], "gracefulEvictionTasks": [%s]}}`,
		metadata, strings.Join(targets, ", "), strings.Join(tasks, ", "))
}

// recorded reads a recording of lines.
func recorded(t *testing.T, lines ...string) *incident.Incident {
	t.Helper()
	i, err := incident.Read("outage.jsonl", text(lines...))
	require.NoError(t, err)
	return i
}

func text(lines ...string) []byte {
	for n := range lines {
		lines[n] = strings.ReplaceAll(lines[n], "\n", " ")
	}
	return []byte(strings.Join(append([]string{header}, append(lines, ended)...), "\n") + "\n")
}

// told are the steps of a scenario in words: "5s m1 ready=False".
func told(s *scenario.Scenario) []string {
	var all []string
	for i := range s.Timeline {
		all = append(all, s.Timeline[i].At.String()+" "+action(s.Timeline[i].Action))
	}
	return all
}

func action(a scenario.Action) string {
	switch a := a.(type) {
	case *scenario.RecordedInput:
		return string(a.Cluster) + " " + said(a)
	case *scenario.Apply:
		return "apply " + manifestOf(a.Documents[0])
	case *scenario.Delete:
		return "delete " + a.Object.String()
	case *scenario.Hold:
		return fmt.Sprintf("hold %s%s for %q until %s", a.Scopes[0].Cluster, a.Scopes[0].Binding, a.Reason, a.Until)
	case *scenario.Config:
		return "set " + strings.Join(fields(a.Settings), " ")
	case *scenario.Release:
		return fmt.Sprintf("release %s for %q", a.Binding, a.Reason)
	}
	return fmt.Sprintf("%T", a)
}

// fields are overrides as flags have them.
func fields(all []config.Override) (texts []string) {
	for _, o := range all {
		texts = append(texts, fmt.Sprintf("%s=%v", o.Field, o.Value))
	}
	return texts
}

// runsWith is the Governor of an engine that runs with a profile and settings.
func runsWith(profile string, settings ...string) string {
	list, err := json.Marshal(settings)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"apiVersion": "leeward.dev/v1alpha1", "kind": "Governor", "metadata": {"name": "fleet"}, "status": {"profile": %q, "settings": %s}}`, profile, list)
}

func manifestOf(d manifest.Document) string {
	return d.Object.GetObjectKind().GroupVersionKind().Kind + " " + d.Object.GetName()
}

func said(a *scenario.RecordedInput) string {
	var words []string
	for _, m := range a.ToIt {
		words = append(words, toCluster(m))
	}
	for _, m := range a.ToMember {
		words = append(words, toMember(m))
	}
	return strings.Join(words, ", ")
}

func toCluster(m messages.ToCluster) string {
	switch m := m.(type) {
	case *messages.ConditionReported:
		return fmt.Sprintf("%s=%s", m.Type, m.Status)
	case *messages.TaintsEdited:
		var words []string
		for _, e := range m.Edits {
			word := taint.String(&e.Taint)
			if e.Remove {
				word += "-"
			}
			words = append(words, word)
		}
		return strings.Join(words, " ")
	case *messages.ClusterEdited:
		return fmt.Sprintf("region %s labels %v taints %d", m.Object.Spec.Region, m.Object.Labels, len(m.Object.Spec.Taints))
	case *messages.DrainRequested:
		return "drain"
	case *messages.ResourcesReported:
		return "resources"
	}
	return fmt.Sprintf("%T", m)
}

func toMember(m messages.ToMember) string {
	switch m := m.(type) {
	case *messages.HealthForced:
		return fmt.Sprintf("%s is %s", m.Binding, m.Health)
	case *messages.OutagesSet:
		if m.Network {
			return fmt.Sprintf("silent, renewed at %s", m.RenewedAt.Sub(began))
		}
		return "back"
	case *messages.SchedulableReplicasSet:
		return fmt.Sprintf("room for %d of %s", m.Replicas, m.Binding)
	case *messages.RunCopy:
		return fmt.Sprintf("runs %d of %s", m.Replicas, m.Binding)
	}
	return fmt.Sprintf("%T", m)
}
