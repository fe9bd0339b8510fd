package openapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"leeward/messages/api"
)

func describe(samples ...any) map[string]common.OpenAPIDefinition {
	return Definitions(samples...)(func(name string) spec.Ref { return spec.MustCreateRef("#/definitions/" + FriendlyName(name)) })
}

const ours = "leeward/messages/api."

func TestAKindIsDescribedWithAllThatItIsMadeOf(t *testing.T) {
	d := describe(&api.Cluster{}, &api.List[api.Cluster]{})
	c := d[ours+"Cluster"]
	require.Equal(t, "Cluster is one member cluster.", c.Schema.Description)
	require.Equal(t, []string{"spec"}, c.Schema.Required)
	require.Equal(t, spec.MustCreateRef("#/definitions/leeward.messages.api.ClusterSpec"), c.Schema.Properties["spec"].Ref)
	require.Contains(t, c.Dependencies, ours+"ClusterStatus")
	for name, definition := range d {
		for _, needed := range definition.Dependencies {
			require.Contains(t, d, needed, name)
		}
	}
	require.Contains(t, d, "leeward.messages.api.ClusterList")
}

func TestAFieldIsDescribedByItsTypeItsTagsAndItsComment(t *testing.T) {
	d := describe(&api.Cluster{}, &api.Work{}, &api.Governor{}, &api.FederatedResourceQuota{}, &corev1.Secret{}, &appsv1.Deployment{})
	field := func(kind, name string) spec.Schema {
		t.Helper()
		require.Contains(t, d[kind].Schema.Properties, name)
		return d[kind].Schema.Properties[name]
	}
	taints := field(ours+"ClusterSpec", "taints")
	require.Equal(t, "Taints are unique by key and effect.", taints.Description)
	require.Equal(t, "atomic", taints.Extensions["x-kubernetes-list-type"])
	require.Equal(t, "#/definitions/io.k8s.api.core.v1.Taint", taints.Items.Schema.Ref.String())

	require.Equal(t, spec.StringOrArray{"boolean"}, field(ours+"ClusterSpec", "insecureSkipTLSVerification").Type)
	require.Equal(t, "int32", field(ours+"NodeSummary", "totalNum").Format)
	require.Equal(t, "double", field(ours+"GovernorStatus", "evictionsPerSecond").Format, "of what is inlined")
	require.Equal(t, spec.StringOrArray{"object"}, d[ours+"Manifest"].Schema.Type)
	require.Contains(t, field(ours+"FederatedResourceQuotaStatus", "aggregatedStatus").Items.Schema.Ref.GetURL().Fragment, "ClusterQuotaStatus")
	field(ours+"ClusterQuotaStatus", "clusterName")
	field(ours+"ClusterQuotaStatus", "hard")
	require.Equal(t, "byte", field("io.k8s.api.core.v1.Secret", "data").AdditionalProperties.Schema.Format)
	require.Equal(t, "date-time", d["io.k8s.apimachinery.pkg.apis.meta.v1.Time"].Schema.Format)
	require.Equal(t, spec.StringOrArray{"string"}, d["io.k8s.apimachinery.pkg.api.resource.Quantity"].Schema.Type)

	ports := field("io.k8s.api.core.v1.Container", "ports")
	require.Equal(t, []string{"containerPort", "protocol"}, ports.Extensions["x-kubernetes-list-map-keys"])
	require.Equal(t, "TCP", field("io.k8s.api.core.v1.ContainerPort", "protocol").Default)
	containers := field("io.k8s.api.core.v1.PodSpec", "containers")
	require.Equal(t, []string{"name"}, containers.Extensions["x-kubernetes-list-map-keys"])
	require.Equal(t, "merge", containers.Extensions["x-kubernetes-patch-strategy"])
	require.Equal(t, "set", field("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "finalizers").Extensions["x-kubernetes-list-type"])
	require.Equal(t, "atomic", d["io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"].Schema.Extensions["x-kubernetes-map-type"])
}

// TestMarkersAreThoseOfTheSource reads what k8s.io/api says in comments of the types that are served, and compares.
func TestMarkersAreThoseOfTheSource(t *testing.T) {
	served := describe(&appsv1.Deployment{}, &corev1.Service{}, &corev1.Namespace{}, &corev1.PersistentVolumeClaim{}, &corev1.Event{}, &metav1.Status{},
		&corev1.PersistentVolume{}, &corev1.ResourceQuota{}, &corev1.LimitRange{}, &autoscalingv1.HorizontalPodAutoscaler{}, &autoscalingv2.HorizontalPodAutoscaler{}, &policyv1.PodDisruptionBudget{},
		&networkingv1.Ingress{}, &networkingv1.IngressClass{}, &networkingv1.NetworkPolicy{}, &rbacv1.RoleBinding{}, &rbacv1.ClusterRole{}, &storagev1.StorageClass{})
	for _, source := range []struct{ module, path, model string }{
		{"k8s.io/api", "core/v1/types.go", "io.k8s.api.core.v1."},
		{"k8s.io/api", "apps/v1/types.go", "io.k8s.api.apps.v1."},
		{"k8s.io/api", "autoscaling/v1/types.go", "io.k8s.api.autoscaling.v1."},
		{"k8s.io/api", "autoscaling/v2/types.go", "io.k8s.api.autoscaling.v2."},
		{"k8s.io/api", "networking/v1/types.go", "io.k8s.api.networking.v1."},
		{"k8s.io/api", "policy/v1/types.go", "io.k8s.api.policy.v1."},
		{"k8s.io/api", "rbac/v1/types.go", "io.k8s.api.rbac.v1."},
		{"k8s.io/api", "storage/v1/types.go", "io.k8s.api.storage.v1."},
		{"k8s.io/apimachinery", "pkg/apis/meta/v1/types.go", "io.k8s.apimachinery.pkg.apis.meta.v1."},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder(t, source.module), source.path), nil, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			named, ok := n.(*ast.GenDecl)
			if !ok || named.Tok != token.TYPE || len(named.Specs) != 1 {
				return true
			}
			kind := named.Specs[0].(*ast.TypeSpec)
			object, ok := kind.Type.(*ast.StructType)
			if definition, isServed := served[source.model+kind.Name.Name]; ok && isServed {
				requireMarkers(t, kind.Name.Name, marker(named.Doc, "structType", "mapType"), definition.Schema)
				for _, f := range object.Fields.List {
					requireField(t, kind.Name.Name, f, definition.Schema)
				}
			}
			return true
		})
	}
}

func requireField(t *testing.T, kind string, f *ast.Field, definition spec.Schema) {
	t.Helper()
	name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
	if name == "" {
		return
	}
	schema := definition.Properties[name]
	requireMarkers(t, kind+"."+name, marker(f.Doc, "structType", "mapType"), schema)
	if listType := marker(f.Doc, "listType"); listType != "" {
		require.Equal(t, listType, schema.Extensions["x-kubernetes-list-type"], "%s.%s", kind, name)
	}
	if preset := strings.Trim(marker(f.Doc, "default"), `"`); preset != "" && preset != "false" && !defaultsElsewhere[kind] {
		require.Equal(t, preset, schema.Default, "%s.%s", kind, name)
	}
}

// defaultsElsewhere are volumes of storage that no key of a list depends on.
var defaultsElsewhere = map[string]bool{
	"RBDVolumeSource": true, "ISCSIVolumeSource": true, "AzureDiskVolumeSource": true, "ScaleIOVolumeSource": true,
	"RBDPersistentVolumeSource": true, "ISCSIPersistentVolumeSource": true, "ScaleIOPersistentVolumeSource": true,
}

func requireMarkers(t *testing.T, what, mapType string, schema spec.Schema) {
	t.Helper()
	if mapType != "" {
		require.Equal(t, mapType, schema.Extensions["x-kubernetes-map-type"], what)
	}
}

func marker(doc *ast.CommentGroup, names ...string) string {
	if doc == nil {
		return ""
	}
	for _, name := range names {
		for _, line := range doc.List {
			if found := regexp.MustCompile(`^// \+` + name + `\s*=\s*(\S+)`).FindStringSubmatch(line.Text); found != nil {
				return found[1]
			}
		}
	}
	return ""
}

// folder is where the source of a module lies.
func folder(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}
