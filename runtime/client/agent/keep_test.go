package agent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFieldsThatTheMemberKeeps(t *testing.T) {
	const deployment = "apiVersion: apps/v1\nkind: Deployment\n"
	for name, c := range map[string]struct{ manifest, live, want string }{
		"what an object was in the control plane is nothing to the member": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u, resourceVersion: '1', generation: 2, creationTimestamp: null, finalizers: [f], ownerReferences: [], managedFields: []}, status: {a: b}, data: {k: v}}",
			"", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}",
		},
		"replicas are the manifest's": {deployment + "spec: {replicas: 2}", deployment + "spec: {replicas: 5}", deployment + "spec: {replicas: 2}"},
		"but where an autoscaler sets them": {
			deployment + "spec: {replicas: 2, paused: true}",
			deployment + "metadata: {managedFields: [{manager: kube-controller-manager, subresource: scale}]}\nspec: {replicas: 5}",
			deployment + "spec: {paused: true}",
		},
		"who scales by hand is no autoscaler": {
			deployment + "spec: {replicas: 2}", deployment + "metadata: {managedFields: [{manager: kubectl, subresource: scale}]}\nspec: {replicas: 5}", deployment + "spec: {replicas: 2}",
		},
		"or where a label says so": {
			deployment + "metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: 'true'}}\nspec: {replicas: 2}", deployment + "spec: {replicas: 5}",
			deployment + "metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: 'true'}}\nspec: {replicas: 5}",
		},
		"a new copy has those of the manifest": {
			deployment + "metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: 'true'}}\nspec: {replicas: 2}", "",
			deployment + "metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: 'true'}}\nspec: {replicas: 2}",
		},
		"addresses of another cluster are dropped": {
			"{apiVersion: v1, kind: Service, spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ports: [{port: 80, nodePort: 30000}]}}", "",
			"{apiVersion: v1, kind: Service, spec: {ports: [{port: 80, nodePort: 30000}]}}",
		},
		"those of the member are kept": {
			"{apiVersion: v1, kind: Service, spec: {clusterIP: 10.0.0.1, ports: [{port: 80, nodePort: 30000}, {port: 80, protocol: UDP}, {port: 81}]}}",
			"{apiVersion: v1, kind: Service, spec: {clusterIP: 10.9.0.1, clusterIPs: [10.9.0.1], healthCheckNodePort: 31999, ports: [{port: 80, protocol: TCP, nodePort: 31000}, {port: 80, protocol: UDP, nodePort: 31001}]}}",
			"{apiVersion: v1, kind: Service, spec: {clusterIP: 10.9.0.1, clusterIPs: [10.9.0.1], healthCheckNodePort: 31999, ports: [{port: 80, nodePort: 31000}, {port: 80, protocol: UDP, nodePort: 31001}, {port: 81}]}}",
		},
		"a headless Service stays headless": {
			"{apiVersion: v1, kind: Service, spec: {clusterIP: None}}", "{apiVersion: v1, kind: Service, spec: {clusterIP: 10.9.0.1}}", "{apiVersion: v1, kind: Service, spec: {clusterIP: None}}",
		},
		"the selector of a Job is the member's": {
			"{apiVersion: batch/v1, kind: Job, spec: {selector: {matchLabels: {controller-uid: x}}, template: {metadata: {labels: {controller-uid: x, batch.kubernetes.io/job-name: j, app: a}}}}}", "",
			"{apiVersion: batch/v1, kind: Job, spec: {template: {metadata: {labels: {app: a}}}}}",
		},
		"unless the user sets it": {
			"{apiVersion: batch/v1, kind: Job, spec: {manualSelector: true, selector: {matchLabels: {app: a}}}}", "",
			"{apiVersion: batch/v1, kind: Job, spec: {manualSelector: true, selector: {matchLabels: {app: a}}}}",
		},
		"a claim keeps its volume": {
			"{apiVersion: v1, kind: PersistentVolumeClaim, spec: {}}", "{apiVersion: v1, kind: PersistentVolumeClaim, spec: {volumeName: pv-1}}", "{apiVersion: v1, kind: PersistentVolumeClaim, spec: {volumeName: pv-1}}",
		},
		"and a volume its claim": {
			"{apiVersion: v1, kind: PersistentVolume, spec: {}}", "{apiVersion: v1, kind: PersistentVolume, spec: {claimRef: {name: c}}}", "{apiVersion: v1, kind: PersistentVolume, spec: {claimRef: {name: c}}}",
		},
		"the rules of a ClusterRole that aggregates others are the member's": {
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, aggregationRule: {clusterRoleSelectors: [{}]}, rules: null}", "",
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, aggregationRule: {clusterRoleSelectors: [{}]}}",
		},
		"tokens of a ServiceAccount are the member's": {
			"{apiVersion: v1, kind: ServiceAccount, secrets: [{name: token}], imagePullSecrets: [{name: pull}]}", "", "{apiVersion: v1, kind: ServiceAccount, imagePullSecrets: [{name: pull}]}",
		},
		"so is the token in a Secret": {
			"{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, data: {token: eA==}}", "", "{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token}",
		},
		"other Secrets are the manifest's": {
			"{apiVersion: v1, kind: Secret, type: Opaque, data: {token: eA==}}", "", "{apiVersion: v1, kind: Secret, type: Opaque, data: {token: eA==}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := object(t, c.manifest)
			if c.live == "" {
				keepMembers(manifest, nil)
			} else {
				keepMembers(manifest, object(t, c.live))
			}
			require.Equal(t, object(t, c.want).Object, manifest.Object)
		})
	}
}
