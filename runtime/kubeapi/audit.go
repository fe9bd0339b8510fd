package kubeapi

import (
	"path/filepath"

	lumberjack "gopkg.in/natefinch/lumberjack.v2"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/server"
	auditlog "k8s.io/apiserver/plugin/pkg/audit/log"
)

// auditing writes who changed what into audit.jsonl, one JSON object per request: five files of 100 MB at most.
// Reads are not written, nor what machines renew all the time: leases and events.
func auditing(c *server.Config, dataDir string) {
	file := &lumberjack.Logger{Filename: filepath.Join(dataDir, "audit.jsonl"), MaxSize: 100, MaxBackups: 4}
	c.AuditBackend = auditlog.NewBackend(file, auditlog.FormatJson, auditv1.SchemeGroupVersion)
	c.AuditPolicyRuleEvaluator = policy.NewPolicyRuleEvaluator(&auditinternal.Policy{
		OmitStages: []auditinternal.Stage{auditinternal.StageRequestReceived},
		Rules: []auditinternal.PolicyRule{
			{Level: auditinternal.LevelNone, Verbs: reading},
			{Level: auditinternal.LevelNone, NonResourceURLs: []string{"*"}},
			{Level: auditinternal.LevelNone, Resources: []auditinternal.GroupResources{
				{Group: "coordination.k8s.io", Resources: []string{"leases"}},
				{Group: "", Resources: []string{"events"}},
				{Group: "events.k8s.io", Resources: []string{"events"}},
				{Group: "authorization.k8s.io"},
				{Group: "authentication.k8s.io"},
			}},
			// secrets are not written down
			{Level: auditinternal.LevelMetadata, Resources: []auditinternal.GroupResources{{Group: "", Resources: []string{"secrets"}}}},
			{Level: auditinternal.LevelRequest},
		},
	})
}
