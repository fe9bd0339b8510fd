package draining_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"leeward/actors/rules/draining"
	"leeward/messages"
)

// pod is a running pod d/NAME of a ReplicaSet, unless an option says otherwise.
func pod(name string, options ...func(*messages.ListedPod)) messages.ListedPod {
	p := messages.ListedPod{Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}}
	of("ReplicaSet")(&p)
	for _, o := range options {
		o(&p)
	}
	return p
}

func of(kind string) func(*messages.ListedPod) {
	return func(p *messages.ListedPod) {
		p.Object.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "o", Controller: new(true)}}
	}
}

func bare(p *messages.ListedPod)     { p.Object.OwnerReferences = nil }
func orphan(p *messages.ListedPod)   { p.Orphan = true }
func finished(p *messages.ListedPod) { p.Object.Status.Phase = corev1.PodSucceeded }
func labelled(p *messages.ListedPod) { p.Object.Labels = map[string]string{"app": "web"} }
func deletedAt(second int64) func(*messages.ListedPod) {
	return func(p *messages.ListedPod) { p.Object.DeletionTimestamp = &metav1.Time{Time: time.Unix(second, 0)} }
}

func mirror(p *messages.ListedPod) {
	p.Object.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "1"}
}

func scratch(p *messages.ListedPod) {
	p.Object.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
}

func TestWhichPodsADrainEvicts(t *testing.T) {
	const (
		daemons  = "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): d/a"
		storage  = "cannot delete Pods with local storage (use --delete-emptydir-data to override): d/a"
		noOwner  = "cannot delete Pods that declare no controller (use --force to override): d/a"
		ignoring = "ignoring DaemonSet-managed Pods: d/a"
		forced   = "deleting Pods that declare no controller: d/a"
	)
	selector, err := labels.Parse("app=web")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		pods            []messages.ListedPod
		options         messages.DrainOptions
		evicts          []string
		warning, errors []string
	}{
		"pods of owners":                               {pods: []messages.ListedPod{pod("a"), pod("b", of("StatefulSet"))}, evicts: []string{"a", "b"}},
		"daemons are an error":                         {pods: []messages.ListedPod{pod("a", of("DaemonSet")), pod("b")}, evicts: []string{"b"}, errors: []string{daemons}},
		"daemons may be ignored":                       {pods: []messages.ListedPod{pod("a", of("DaemonSet"))}, options: messages.DrainOptions{IgnoreDaemonSets: true}, warning: []string{ignoring}},
		"daemons that are ignored keep local storage":  {pods: []messages.ListedPod{pod("a", of("DaemonSet"), scratch)}, options: messages.DrainOptions{IgnoreDaemonSets: true}, warning: []string{ignoring}},
		"daemons that have finished go":                {pods: []messages.ListedPod{pod("a", of("DaemonSet"), finished)}, evicts: []string{"a"}},
		"daemons without their DaemonSet are an error": {pods: []messages.ListedPod{pod("a", of("DaemonSet"), orphan)}, options: messages.DrainOptions{IgnoreDaemonSets: true}, errors: []string{`cannot delete daemonsets.apps "o" not found: d/a`}},
		"and go by force":                              {pods: []messages.ListedPod{pod("a", of("DaemonSet"), orphan)}, options: messages.DrainOptions{Force: true}, evicts: []string{"a"}},
		"pods without an owner are an error":           {pods: []messages.ListedPod{pod("a", bare)}, errors: []string{noOwner}},
		"pods without an owner go by force":            {pods: []messages.ListedPod{pod("a", bare)}, options: messages.DrainOptions{Force: true}, evicts: []string{"a"}, warning: []string{forced}},
		"pods without an owner that have finished go":  {pods: []messages.ListedPod{pod("a", bare, finished)}, evicts: []string{"a"}},
		"local storage is an error":                    {pods: []messages.ListedPod{pod("a", scratch)}, errors: []string{storage}},
		"local storage may be deleted":                 {pods: []messages.ListedPod{pod("a", scratch)}, options: messages.DrainOptions{DeleteEmptyDirData: true}, evicts: []string{"a"}},
		"local storage of a pod without an owner":      {pods: []messages.ListedPod{pod("a", bare, scratch)}, options: messages.DrainOptions{Force: true, DeleteEmptyDirData: true}, evicts: []string{"a"}, warning: []string{forced}},
		"local storage of what has finished goes":      {pods: []messages.ListedPod{pod("a", scratch, finished)}, evicts: []string{"a"}},
		"mirrors of static pods are passed over":       {pods: []messages.ListedPod{pod("a", bare, mirror), pod("b", bare, mirror, finished)}},
		"only pods with the labels":                    {pods: []messages.ListedPod{pod("a", bare), pod("b", labelled)}, options: messages.DrainOptions{Pods: selector}, evicts: []string{"b"}},
		"pods that are being deleted go":               {pods: []messages.ListedPod{pod("a", deletedAt(0))}, evicts: []string{"a"}},
		"pods whose deletion is over by more are not waited for": {
			pods:    []messages.ListedPod{pod("a", deletedAt(79)), pod("b", deletedAt(80)), pod("c", deletedAt(130)), pod("d"), pod("e", deletedAt(79), bare), pod("f", deletedAt(79), of("DaemonSet"))},
			options: messages.DrainOptions{SkipWaitForDelete: 20 * time.Second}, evicts: []string{"b", "c", "d"},
		},
		"each error names its pods": {pods: []messages.ListedPod{pod("a", bare), pod("b", of("DaemonSet")), pod("c", bare)}, errors: []string{"cannot delete Pods that declare no controller (use --force to override): d/a, d/c", "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): d/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			choice := draining.Choose(c.pods, time.Unix(100, 0), &c.options)
			var evicts []string
			for _, p := range choice.Evict {
				evicts = append(evicts, p.Name)
			}
			require.Equal(t, c.evicts, evicts)
			require.Equal(t, c.warning, choice.Warnings)
			require.Equal(t, c.errors, choice.Errors)
		})
	}
	require.True(t, draining.Skips(&metav1.Time{Time: time.Unix(0, 0)}, time.Unix(21, 0), &messages.DrainOptions{SkipWaitForDelete: 20 * time.Second}))
	require.False(t, draining.Skips(&metav1.Time{Time: time.Unix(0, 0)}, time.Unix(21, -1), &messages.DrainOptions{SkipWaitForDelete: 20 * time.Second}))
	require.False(t, draining.Skips(&metav1.Time{Time: time.Unix(0, 0)}, time.Unix(1e9, 0), &messages.DrainOptions{SkipWaitForDelete: math.MaxInt64}))
	require.Equal(t, "one", draining.Together([]string{"one"}))
	require.Equal(t, "[one, two]", draining.Together([]string{"one", "two"}))
}
