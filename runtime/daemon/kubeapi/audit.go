package kubeapi

import (
	"path/filepath"
	"slices"

	lumberjack "gopkg.in/natefinch/lumberjack.v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/server"
	auditlog "k8s.io/apiserver/plugin/pkg/audit/log"

	"leeward/runtime/fleet/catalog"
)

// auditing writes who changed what into audit.jsonl, one JSON object per request: five files of 100 MB at most.
// Reads are not written, but for those in members, nor what machines renew all the time: leases and events. Of what holds secrets no body is written,
// and no answer that could repeat a part of one.
func auditing(c *server.Config, dataDir string) {
	file := &lumberjack.Logger{Filename: filepath.Join(dataDir, "audit.jsonl"), MaxSize: 100, MaxBackups: 4}
	c.AuditBackend = discreet{auditlog.NewBackend(file, auditlog.FormatJson, auditv1.SchemeGroupVersion)}
	c.AuditPolicyRuleEvaluator = policy.NewPolicyRuleEvaluator(&auditinternal.Policy{
		OmitStages: []auditinternal.Stage{auditinternal.StageRequestReceived},
		Rules: []auditinternal.PolicyRule{
			{Level: auditinternal.LevelMetadata, Resources: []auditinternal.GroupResources{{Group: catalog.Clusters.Kind.Group, Resources: []string{clusterProxy}}}},
			{Level: auditinternal.LevelNone, Verbs: reading},
			{Level: auditinternal.LevelNone, NonResourceURLs: []string{"*"}},
			{Level: auditinternal.LevelNone, Resources: []auditinternal.GroupResources{
				{Group: "coordination.k8s.io", Resources: []string{"leases"}},
				{Group: "", Resources: []string{"events"}},
				{Group: "events.k8s.io", Resources: []string{"events"}},
				{Group: "authorization.k8s.io"},
				{Group: "authentication.k8s.io"},
			}},
			{Level: auditinternal.LevelMetadata, Resources: secretive},
			{Level: auditinternal.LevelRequest},
		},
	})
}

// secretive are the resources whose bodies are not written down: those that hold secrets, and previews, which may be asked
// about manifests of any kind.
var secretive = func() []auditinternal.GroupResources {
	all := []auditinternal.GroupResources{{Group: leewardVersion.Group, Resources: []string{"failoverpreviews"}}}
	for _, k := range kinds {
		if k.holdsSecrets() {
			all = append(all, auditinternal.GroupResources{Group: k.Kind.Group, Resources: []string{k.Plural, k.Plural + "/*"}})
		}
	}
	return all
}()

// discreet leaves out what a refusal of something secretive says, beyond its code and reason: it may quote what was sent.
type discreet struct{ audit.Backend }

// ProcessEvents writes the events down.
func (d discreet) ProcessEvents(events ...*auditinternal.Event) bool {
	events = slices.Clone(events)
	for i, e := range events {
		if e.ResponseStatus == nil || e.ObjectRef == nil || !slices.ContainsFunc(secretive, func(r auditinternal.GroupResources) bool {
			return r.Group == e.ObjectRef.APIGroup && r.Resources[0] == e.ObjectRef.Resource
		}) {
			continue
		}
		quiet := *e // others hear of the event, too
		quiet.ResponseStatus = &metav1.Status{Status: e.ResponseStatus.Status, Code: e.ResponseStatus.Code, Reason: e.ResponseStatus.Reason}
		events[i] = &quiet
	}
	return d.Backend.ProcessEvents(events...)
}
