package admission

import (
	"net/url"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// oneOf wants one of a few words; empty passes, for it means the default.
func oneOf[T ~string](value T, words []T, at *field.Path) field.ErrorList {
	if value == "" || slices.Contains(words, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, words)}
}

// requiredOneOf wants one of a few words, and not none.
func requiredOneOf[T ~string](value T, words []T, at *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return oneOf(value, words, at)
}

func required(value string, at *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return nil
}

// invalid returns one error for each reason against a value.
func invalid(value any, reasons []string, at *field.Path) (errs field.ErrorList) {
	for _, reason := range reasons {
		errs = append(errs, field.Invalid(at, value, reason))
	}
	return errs
}

func labelValue(value string, at *field.Path) field.ErrorList {
	return invalid(value, validation.IsValidLabelValue(value), at)
}

// labelKey wants the name of a label or taint: at most 63 characters behind an optional DNS prefix.
func labelKey(key string, at *field.Path) field.ErrorList {
	return invalid(key, validation.IsQualifiedName(key), at)
}

func labelSelector(selector *metav1.LabelSelector, at *field.Path) field.ErrorList {
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, at)
}

func validateProxy(address string, at *field.Path) field.ErrorList {
	if address == "" {
		return nil
	}
	parsed, err := url.Parse(address)
	if err != nil {
		return field.ErrorList{field.Invalid(at, address, "must be a URL")}
	}
	return requiredOneOf(parsed.Scheme, proxySchemes, at)
}

// atMost bounds the length of a text, in bytes.
func atMost(most int, text string, at *field.Path) field.ErrorList {
	if len(text) > most {
		return field.ErrorList{field.TooLong(at, "", most)}
	}
	return nil
}

// count wants a number of 0 or more, if there is one.
func count(n *int32, at *field.Path) field.ErrorList {
	if n == nil {
		return nil
	}
	return notNegative(int64(*n), at)
}

// notNegative wants a number of 0 or more.
func notNegative(value int64, at *field.Path) field.ErrorList {
	if value < 0 {
		return field.ErrorList{field.Invalid(at, value, "must be 0 or more")}
	}
	return nil
}
