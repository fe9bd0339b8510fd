package admission

import (
	"maps"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/api"
)

var (
	overrideOps     = []api.OverriderOperator{api.OverrideAdd, api.OverrideRemove, api.OverrideReplace}
	wordOps         = []api.OverriderOperator{api.OverrideAdd, api.OverrideRemove}
	imageComponents = []api.ImageComponent{api.ImageRegistry, api.ImageRepository, api.ImageTag}
)

// validateOverride finds what Karmada refuses. Whether a patch applies shows only at a manifest.
func validateOverride(o *api.OverrideSpec, spec *field.Path) field.ErrorList {
	errs := each(o.ResourceSelectors, spec.Child("resourceSelectors"), validateSelector)
	if len(o.OverrideRules) > 0 {
		errs = append(errs, validateOneForm(o, spec)...)
	}
	errs = append(errs, validateAffinity(o.TargetCluster, spec.Child("targetCluster"))...)
	errs = append(errs, validateOverriders(&o.Overriders, spec.Child("overriders"))...)
	for i := range o.OverrideRules {
		rule, at := &o.OverrideRules[i], spec.Child("overrideRules").Index(i)
		errs = append(errs, validateAffinity(rule.TargetCluster, at.Child("targetCluster"))...)
		errs = append(errs, validateOverriders(&rule.Overriders, at.Child("overriders"))...)
	}
	return errs
}

// validateOneForm wants a policy that has rules to leave the deprecated fields alone.
func validateOneForm(o *api.OverrideSpec, spec *field.Path) (errs field.ErrorList) {
	if o.TargetCluster != nil {
		errs = append(errs, field.Forbidden(spec.Child("targetCluster"), "overrideRules and targetCluster are mutually exclusive"))
	}
	if !o.Overriders.Empty() {
		errs = append(errs, field.Forbidden(spec.Child("overriders"), "overrideRules and overriders are mutually exclusive"))
	}
	return errs
}

func validateOverriders(o *api.Overriders, at *field.Path) field.ErrorList {
	return slices.Concat(
		each(o.Plaintext, at.Child("plaintext"), validatePlaintext),
		each(o.ImageOverrider, at.Child("imageOverrider"), validateImage),
		each(o.CommandOverrider, at.Child("commandOverrider"), validateWords),
		each(o.ArgsOverrider, at.Child("argsOverrider"), validateWords),
		each(o.LabelsOverrider, at.Child("labelsOverrider"), validateMetadata(metav1validation.ValidateLabels)),
		each(o.AnnotationsOverrider, at.Child("annotationsOverrider"), validateMetadata(apivalidation.ValidateAnnotations)),
		each(o.FieldOverrider, at.Child("fieldOverrider"), validateField),
	)
}

// each validates the items of a list, each at its place.
func each[T any](list []T, path *field.Path, validate func(*T, *field.Path) field.ErrorList) (errs field.ErrorList) {
	for i := range list {
		errs = append(errs, validate(&list[i], path.Index(i))...)
	}
	return errs
}

func validatePlaintext(o *api.PlaintextOverrider, at *field.Path) field.ErrorList {
	return append(required(o.Path, at.Child("path")), requiredOneOf(o.Operator, overrideOps, at.Child("operator"))...)
}

func validateImage(o *api.ImageOverrider, at *field.Path) field.ErrorList {
	errs := requiredOneOf(o.Component, imageComponents, at.Child("component"))
	errs = append(errs, requiredOneOf(o.Operator, overrideOps, at.Child("operator"))...)
	if o.Predicate != nil {
		path := at.Child("predicate", "path")
		errs = append(errs, append(required(o.Predicate.Path, path), jsonPointer(o.Predicate.Path, path)...)...)
	}
	return errs
}

func validateWords(o *api.CommandArgsOverrider, at *field.Path) field.ErrorList {
	return append(required(o.ContainerName, at.Child("containerName")), requiredOneOf(o.Operator, wordOps, at.Child("operator"))...)
}

// validateMetadata validates each label or annotation as an object's own are.
func validateMetadata(validate func(map[string]string, *field.Path) field.ErrorList) func(*api.MetadataOverrider, *field.Path) field.ErrorList {
	return func(o *api.MetadataOverrider, at *field.Path) field.ErrorList {
		errs := requiredOneOf(o.Operator, overrideOps, at.Child("operator"))
		for _, name := range slices.Sorted(maps.Keys(o.Value)) {
			errs = append(errs, validate(map[string]string{name: o.Value[name]}, at.Child("value"))...)
		}
		return errs
	}
}

func validateField(o *api.FieldOverrider, at *field.Path) field.ErrorList {
	path := at.Child("fieldPath")
	errs := append(required(o.FieldPath, path), jsonPointer(o.FieldPath, path)...)
	if len(o.JSON) > 0 && len(o.YAML) > 0 {
		errs = append(errs, field.Forbidden(at.Child("yaml"), "json and yaml are mutually exclusive"))
	}
	return slices.Concat(errs,
		each(o.JSON, at.Child("json"), validateOperation),
		each(o.YAML, at.Child("yaml"), validateOperation),
	)
}

func validateOperation(o *api.FieldOperation, at *field.Path) field.ErrorList {
	errs := append(jsonPointer(o.SubPath, at.Child("subPath")), requiredOneOf(o.Operator, overrideOps, at.Child("operator"))...)
	switch removes := o.Operator == api.OverrideRemove; {
	case removes && o.Value.Raw != nil:
		errs = append(errs, field.Forbidden(at.Child("value"), "what is removed takes no value"))
	case !removes && o.Value.Raw == nil:
		errs = append(errs, field.Required(at.Child("value"), ""))
	}
	return errs
}

// jsonPointer wants a path of RFC 6901; empty, it is the whole document.
func jsonPointer(path string, at *field.Path) field.ErrorList {
	if path == "" || path[0] == '/' {
		return nil
	}
	return field.ErrorList{field.Invalid(at, path, "must begin with /, as /spec/replicas")}
}
