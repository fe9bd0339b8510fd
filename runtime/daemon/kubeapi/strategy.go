package kubeapi

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/interpreter"
)

// admitting is what every write goes through: the same defaults and the same validation as a replay.
type admitting struct {
	settings func() *messages.Settings
	clock    clock.Clock
	preview  PreviewFunc
}

// now is what objects are stamped with: in seconds, as they are stored.
func (a *admitting) now() time.Time { return a.clock.Now().Truncate(time.Second) }

// PreviewFunc tells people what a write would lead to, before it is made: one warning of at most 120 characters
// each. old is nil for a new object. It must not change the objects.
type PreviewFunc func(ctx context.Context, o, old api.Object) []string

// strategy is how objects of one kind are written.
type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	*kind
	*admitting
}

var (
	_ rest.RESTCreateStrategy  = strategy{}
	_ rest.RESTUpdateStrategy  = strategy{}
	_ rest.RESTDeleteStrategy  = strategy{}
	_ rest.ResetFieldsStrategy = strategy{}
)

func (s strategy) NamespaceScoped() bool                         { return !s.ClusterScoped }
func (s strategy) AllowCreateOnUpdate(context.Context) bool      { return false }
func (s strategy) AllowUnconditionalUpdate(context.Context) bool { return true }
func (s strategy) Canonicalize(runtime.Object)                   {}

// PrepareForCreate completes a new object. What it says of its status is dropped.
func (s strategy) PrepareForCreate(ctx context.Context, o runtime.Object) {
	created := o.(api.Object)
	if s.has("Status") && s.Resource != catalog.Nodes && s.Resource != catalog.CertificateRequests { // a kubelet registers its node with what it reports
		setField(o, "Status", reflect.Zero(fieldOf(o, "Status").Type()))
	}
	if s.has("Spec") {
		created.SetGeneration(1)
	}
	admission.Default(created, s.settings(), s.now())
	beginPod(o)
	noteAgent(ctx, created)
	noteTainter(ctx, created, nil, s.now())
}

// PrepareForUpdate completes an object that is to replace another. Its status stays as it was; its generation
// rises if what it asks for changes.
func (s strategy) PrepareForUpdate(ctx context.Context, o, old runtime.Object) {
	updated := o.(api.Object)
	if s.has("Status") {
		setField(o, "Status", fieldOf(old, "Status"))
	}
	if c, is := o.(*api.Cluster); is {
		c.Locate(nil)
	}
	admission.KeepTimes(updated, old.(api.Object))
	admission.KeepPod(updated, old)
	admission.Default(updated, s.settings(), s.now())
	noteTainter(ctx, updated, old.(api.Object), s.now())
	s.count(updated, old.(api.Object))
}

// count raises the generation of an object if what it asks for changes.
func (s strategy) count(updated, old api.Object) {
	if s.has("Spec") && !equality.Semantic.DeepEqual(fieldOf(updated, "Spec").Interface(), fieldOf(old, "Spec").Interface()) {
		updated.SetGeneration(old.GetGeneration() + 1)
	}
}

func (s strategy) Validate(_ context.Context, o runtime.Object) field.ErrorList {
	created := o.(api.Object)
	return slices.Concat(admission.Validate(created, nil, s.settings()), admission.ValidateForMember(created, nil), validateScripts(created))
}

func (s strategy) ValidateUpdate(_ context.Context, o, old runtime.Object) field.ErrorList {
	updated, before := o.(api.Object), old.(api.Object)
	return slices.Concat(admission.Validate(updated, before, s.settings()), admission.ValidateForMember(updated, before), validateScripts(updated))
}

// validateScripts names scripts that cannot be read.
func validateScripts(o api.Object) field.ErrorList {
	if c, is := o.(*api.ResourceInterpreterCustomization); is {
		return interpreter.Validate(c)
	}
	return nil
}

func (s strategy) WarningsOnCreate(ctx context.Context, o runtime.Object) []string {
	if s.preview == nil {
		return nil
	}
	return s.preview(ctx, o.(api.Object), nil)
}

func (s strategy) WarningsOnUpdate(ctx context.Context, o, old runtime.Object) []string {
	if s.preview == nil {
		return nil
	}
	return s.preview(ctx, o.(api.Object), old.(api.Object))
}

// GetResetFields names what a write of the object itself does not change.
func (s strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	if !s.has("Status") {
		return nil
	}
	return s.resets("status")
}

func (s strategy) resets(fields ...string) map[fieldpath.APIVersion]*fieldpath.Set {
	set := &fieldpath.Set{}
	for _, f := range fields {
		set.Insert(fieldpath.MakePathOrDie(f))
	}
	return map[fieldpath.APIVersion]*fieldpath.Set{fieldpath.APIVersion(s.version().String()): set}
}

// statusStrategy is how the status of objects of one kind is written.
type statusStrategy struct{ strategy }

// PrepareForUpdate keeps everything but the status as it was. Of a cluster, what people do not write of where it is follows its nodes.
func (s statusStrategy) PrepareForUpdate(_ context.Context, o, old runtime.Object) {
	updated := o.(api.Object)
	status, managed, version := fieldOf(o, "Status"), updated.GetManagedFields(), updated.GetResourceVersion()
	reported := reflect.New(status.Type()).Elem()
	reported.Set(status)
	reflect.ValueOf(o).Elem().Set(reflect.ValueOf(old.DeepCopyObject()).Elem())
	setField(o, "Status", reported)
	keepCauses(o, old)
	if c, is := o.(*api.Cluster); is {
		c.Locate(old.(*api.Cluster).Status.NodeTopology)
		s.count(c, old.(api.Object))
	}
	updated.SetManagedFields(managed)
	updated.SetResourceVersion(version)
}

// ValidateUpdate refuses what cannot have been observed, and more than is taken.
func (s statusStrategy) ValidateUpdate(_ context.Context, o, _ runtime.Object) field.ErrorList {
	return admission.ValidateStatus(o.(api.Object))
}

// GetResetFields names what a write of the status does not change.
func (s statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.resets("spec", "metadata")
}

// WarningsOnUpdate says nothing: a status is written by machines.
func (s statusStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

func fieldOf(o runtime.Object, name string) reflect.Value {
	return reflect.ValueOf(o).Elem().FieldByName(name)
}

func setField(o runtime.Object, name string, value reflect.Value) { fieldOf(o, name).Set(value) }

// longestUser is how much of a user's name is kept.
const longestUser = 253

// noteTainter notes in the status of a cluster who sets which of its taints with this write, and when. Nothing that a client
// sends gets there: the status is what was stored, until here.
func noteTainter(ctx context.Context, o, old api.Object, now time.Time) {
	cluster, ok := o.(*api.Cluster)
	if !ok {
		return
	}
	before, known := old.(*api.Cluster)
	if !known {
		before = &api.Cluster{}
	}
	causes := slices.Clone(cluster.Status.TaintCauses) // the stored object has the original
	for _, t := range cluster.Spec.Taints {
		if i := taint.Find(before.Spec.Taints, t.Key, t.Effect); i >= 0 && before.Spec.Taints[i].Value == t.Value {
			continue // it was set before, be it by a policy
		}
		causes = slices.DeleteFunc(causes, func(c api.TaintCause) bool { return c.Key == t.Key && c.Effect == t.Effect })
		causes = append(causes, api.TaintCause{
			Key: t.Key, Effect: t.Effect, By: api.TaintCauseUser, User: userName(ctx), At: metav1.Time{Time: now},
		})
	}
	cluster.Status.TaintCauses = causes
}

// keepCauses keeps a writer of the status of a cluster from changing who set its taints.
func keepCauses(o, old runtime.Object) {
	if cluster, ok := o.(*api.Cluster); ok {
		cluster.Status.TaintCauses = old.(*api.Cluster).Status.TaintCauses
	}
}

// userName is the name of who makes a request.
func userName(ctx context.Context) string {
	u, known := request.UserFrom(ctx)
	if !known {
		return ""
	}
	return strings.ToValidUTF8(u.GetName()[:min(len(u.GetName()), longestUser)], "")
}
