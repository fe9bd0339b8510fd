package admission

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/api"
)

// validateCustomization wants a customization to be of a kind, and to say how that is read.
func validateCustomization(c *api.ResourceInterpreterCustomizationSpec, spec *field.Path) (errs field.ErrorList) {
	target, rules := spec.Child("target"), reflect.ValueOf(c.Customizations)
	if gv, err := schema.ParseGroupVersion(c.Target.APIVersion); err != nil || gv.Empty() {
		errs = append(errs, field.Invalid(target.Child("apiVersion"), c.Target.APIVersion, "want a version, with its group"))
	}
	if c.Target.Kind == "" {
		errs = append(errs, field.Required(target.Child("kind"), "of which kind"))
	}
	given := 0
	for i := range rules.NumField() {
		if rule, is := rules.Field(i).Interface().(*api.LuaRule); is && rule != nil {
			given++
			if rule.LuaScript == "" {
				name := rules.Type().Field(i).Tag.Get("json")
				errs = append(errs, field.Required(spec.Child("customizations", name[:len(name)-len(",omitempty")], "luaScript"), "a script"))
			}
		}
	}
	if given == 0 {
		errs = append(errs, field.Required(spec.Child("customizations"), "at least one script"))
	}
	return errs
}
