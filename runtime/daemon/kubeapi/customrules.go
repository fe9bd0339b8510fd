package kubeapi

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// customBounds are how much there may be of custom kinds.
type customBounds struct {
	// definitions is how many kinds may be defined. One takes up to some MiB of memory while it is served.
	definitions int
	// definitionBytes bounds a definition, as JSON. The largest of common operators have some 900 KiB.
	definitionBytes int
	// objects is how many objects one kind may have, and all how many all of them together.
	objects, all int
}

var defaultCustomBounds = customBounds{definitions: 500, definitionBytes: 1 << 20, objects: 100_000, all: 200_000}

// customRules admit definitions of custom kinds that the daemon can serve, and so many objects of them.
type customRules struct {
	engine *engine.Engine
	bounds customBounds
}

var _ admission.ValidationInterface = customRules{}

// Handles says that only what is written is looked at.
func (r customRules) Handles(operation admission.Operation) bool {
	return operation == admission.Create || operation == admission.Update
}

// Validate refuses what may not be written.
func (r customRules) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	resource := a.GetResource().GroupResource()
	switch {
	case a.GetSubresource() != "":
		return nil
	case resource == catalog.Definitions.Name():
		d, is := a.GetObject().(*apiextensions.CustomResourceDefinition)
		if !is {
			return nil
		}
		old, _ := a.GetOldObject().(*apiextensions.CustomResourceDefinition)
		return r.admitDefinition(a, d, old)
	case a.GetOperation() == admission.Create && !catalog.Reserved(resource.Group):
		return r.admitOneMore(a)
	}
	return nil
}

// admitDefinition refuses a definition that could not be served. old is nil of a new one. One that is being deleted changes until it is gone.
func (r customRules) admitDefinition(a admission.Attributes, d, old *apiextensions.CustomResourceDefinition) error {
	if d.DeletionTimestamp != nil {
		return nil
	}
	if most := r.bounds.definitions; old == nil && r.engine.Table(catalog.Definitions.Name()).Len() >= most {
		return admission.NewForbidden(a, fmt.Errorf("there are %d definitions of custom kinds already, and no more may be", most))
	}
	if problems := r.validate(d, old); len(problems) > 0 {
		return apierrors.NewInvalid(apiextensions.Kind("CustomResourceDefinition"), d.Name, problems)
	}
	return nil
}

func (r customRules) validate(d, old *apiextensions.CustomResourceDefinition) (problems field.ErrorList) {
	spec := field.NewPath("spec")
	if group := d.Spec.Group; catalog.Reserved(group) {
		problems = append(problems, field.Forbidden(spec.Child("group"), fmt.Sprintf("kinds of the group %q are built in, and nothing else can define one", group)))
	}
	if c := d.Spec.Conversion; c != nil && c.Strategy != apiextensions.NoneConverter {
		problems = append(problems, field.NotSupported(spec.Child("conversion", "strategy"), c.Strategy, []apiextensions.ConversionStrategyType{apiextensions.NoneConverter}))
	}
	if text, err := runtime.Encode(definitionCodec, d); err == nil && len(text) > r.bounds.definitionBytes {
		problems = append(problems, field.TooLong(spec, "", r.bounds.definitionBytes))
	}
	if old != nil && storedIn(d) != storedIn(old) && r.count(old) > 0 {
		problems = append(problems, field.Forbidden(spec.Child("versions"),
			fmt.Sprintf("objects are stored in version %q, by which policies and bindings name them: delete them before another version stores them", storedIn(old))))
	}
	return problems
}

// storedIn is the version in which a kind's objects are stored.
func storedIn(d *apiextensions.CustomResourceDefinition) string {
	for i := range d.Spec.Versions {
		if d.Spec.Versions[i].Storage {
			return d.Spec.Versions[i].Name
		}
	}
	return ""
}

func (r customRules) count(d *apiextensions.CustomResourceDefinition) int64 {
	kind := definedAs(r.engine, schema.GroupResource{Group: d.Spec.Group, Resource: d.Spec.Names.Plural})
	if kind == nil {
		return 0
	}
	return r.engine.Table(catalog.Customs.Name()).Snapshot().Count(engine.Prefix(kind.Name()), "")
}

// admitOneMore refuses an object of a custom kind that has as many as may be. They are only counted where there are so many of all.
func (r customRules) admitOneMore(a admission.Attributes) error {
	table := r.engine.Table(catalog.Customs.Name())
	all := table.Len()
	if all >= r.bounds.all {
		return admission.NewForbidden(a, fmt.Errorf("there are %d objects of custom kinds already, and no more may be", all))
	}
	if all < r.bounds.objects {
		return nil
	}
	gk := a.GetKind().GroupKind()
	kind := catalog.Custom(gk.WithVersion(""))
	if n := table.Snapshot().Count(engine.Prefix(kind.Name()), ""); n >= int64(r.bounds.objects) {
		return admission.NewForbidden(a, fmt.Errorf("there are %d objects of the kind %s already, and no more may be", n, gk))
	}
	return nil
}
