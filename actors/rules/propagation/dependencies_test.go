package propagation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/actors/rules/propagation"
	"leeward/messages/api"
)

// referring is a pod that refers to everything that counts, to some of it twice.
func referring() corev1.PodSpec {
	ref := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	return corev1.PodSpec{
		ServiceAccountName: "runner",
		ImagePullSecrets:   []corev1.LocalObjectReference{ref("registry")},
		InitContainers:     []corev1.Container{{EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref("setup")}}}}},
		Containers: []corev1.Container{{
			EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: ref("login")}}},
			Env: []corev1.EnvVar{
				{Name: "A", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: ref("env")}}},
				{Name: "B", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: ref("key")}}},
				{Name: "C", Value: "plain"},
			},
		}, {
			EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: ref("login")}}},
		}},
		EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref("debug")}}},
		}}},
		Volumes: []corev1.Volume{
			{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: ref("files")}}},
			{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls"}}},
			{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
			{VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{NodePublishSecretRef: &corev1.LocalObjectReference{Name: "mount"}}}},
			{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: ref("ca")}}, {Secret: &corev1.SecretProjection{LocalObjectReference: ref("token")}},
			}}}},
		},
	}
}

func names(keys []api.Key) []string {
	var list []string
	for _, k := range keys {
		list = append(list, k.Kind+" "+k.Namespace+"/"+k.Name)
	}
	return list
}

func TestDependencies(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "shop", Name: "web"}
	template := corev1.PodTemplateSpec{Spec: referring()}
	all := []string{
		"ConfigMap shop/ca", "ConfigMap shop/debug", "ConfigMap shop/env", "ConfigMap shop/files", "ConfigMap shop/setup", "PersistentVolumeClaim shop/data",
		"Secret shop/key", "Secret shop/login", "Secret shop/mount", "Secret shop/registry", "Secret shop/tls", "Secret shop/token", "ServiceAccount shop/runner",
	}
	ownClaims := append(append([]string{}, all[:5]...), all[6:]...)
	for _, c := range []struct {
		name   string
		object api.Object
		want   []string
	}{
		{"a Deployment", &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Template: template}}, all},
		{"a DaemonSet", &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Template: template}}, all},
		{"a StatefulSet makes claims of its own", &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
			Template: template, VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}},
		}}, ownClaims},
		{"a Job", &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Template: template}}, all},
		{"a CronJob", &batchv1.CronJob{ObjectMeta: meta, Spec: batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template}}}}, all},
		{"a Pod", &corev1.Pod{ObjectMeta: meta, Spec: referring()}, all},
		{"the default service account does not count", &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{ServiceAccountName: "default"}}, nil},
		{"an Ingress", &networkingv1.Ingress{ObjectMeta: meta, Spec: networkingv1.IngressSpec{
			TLS: []networkingv1.IngressTLS{{SecretName: "cert"}, {Hosts: []string{"shop.example"}}, {SecretName: "cert"}},
		}}, []string{"Secret shop/cert"}},
		{"a ServiceImport", other("multicluster.x-k8s.io/v1alpha1", "ServiceImport"), []string{"Service shop/derived-web"}},
		{"somebody else's ServiceImport", other("example.io/v1", "ServiceImport"), nil},
		{"what has no pods needs nothing", &corev1.ConfigMap{ObjectMeta: meta}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, names(propagation.Dependencies(c.object)))
		})
	}
}

func other(apiVersion, kind string) api.Object {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace("shop")
	o.SetName("web")
	return o
}

func TestDependenciesOfVolumes(t *testing.T) {
	key := &corev1.LocalObjectReference{Name: "key"}
	for _, c := range []struct {
		name   string
		volume corev1.VolumeSource
		want   []string
	}{
		{"azureFile", corev1.VolumeSource{AzureFile: &corev1.AzureFileVolumeSource{SecretName: "key"}}, []string{"Secret shop/key"}},
		{"cephfs", corev1.VolumeSource{CephFS: &corev1.CephFSVolumeSource{SecretRef: key}}, []string{"Secret shop/key"}},
		{"cinder", corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{SecretRef: key}}, []string{"Secret shop/key"}},
		{"csi", corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{NodePublishSecretRef: key}}, []string{"Secret shop/key"}},
		{"flexVolume", corev1.VolumeSource{FlexVolume: &corev1.FlexVolumeSource{SecretRef: key}}, []string{"Secret shop/key"}},
		{"iscsi", corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{SecretRef: key}}, []string{"Secret shop/key"}},
		{"rbd", corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{SecretRef: key}}, []string{"Secret shop/key"}},
		{"scaleIO", corev1.VolumeSource{ScaleIO: &corev1.ScaleIOVolumeSource{SecretRef: key}}, []string{"Secret shop/key"}},
		{"storageos", corev1.VolumeSource{StorageOS: &corev1.StorageOSVolumeSource{SecretRef: key}}, []string{"Secret shop/key"}},
		{"cephfs without a secret", corev1.VolumeSource{CephFS: &corev1.CephFSVolumeSource{}}, nil},
		{"nfs needs none", corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}, nil},
		{"an ephemeral claim is the pod's own", corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}, Spec: corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: c.volume}}}}
			require.Equal(t, c.want, names(propagation.Dependencies(pod)))
		})
	}
}
