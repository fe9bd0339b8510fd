package agent

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages/api"
)

// The marks of an object that an agent applied: they say of which Work it is. Source: Karmada.
const (
	labelManaged            = "karmada.io/managed"
	annotationWorkName      = "work.karmada.io/name"
	annotationWorkNamespace = "work.karmada.io/namespace"
)

// mark claims a manifest for a Work.
func mark(o *unstructured.Unstructured, w *api.Work) {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[labelManaged] = "true"
	annotations[annotationWorkName], annotations[annotationWorkNamespace] = w.Name, w.Namespace
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
}

// unmark is the merge patch that ends the claim.
func unmark() []byte {
	return []byte(`{"metadata":{"labels":{"` + labelManaged + `":null},"annotations":{"` + annotationWorkName + `":null,"` + annotationWorkNamespace + `":null}}}`)
}

// workOf is the name of the Work in a namespace that an object is of; empty: of none there.
func workOf(o *unstructured.Unstructured, namespace string) string {
	a := o.GetAnnotations()
	if a[annotationWorkNamespace] != namespace {
		return ""
	}
	return a[annotationWorkName]
}

// Conflict is an object that exists and that a manifest may not take over.
type Conflict struct {
	Object identity
	// Of is the Work that it is of; empty: of none.
	Of string
}

func (c *Conflict) Error() string {
	if c.Of != "" {
		return fmt.Sprintf("%s exists, and is of the Work %s", c.Object, c.Of)
	}
	return fmt.Sprintf("%s exists, and no Work applied it: conflictResolution: %s in its policy, or the annotation %s: %s, takes it over", c.Object, api.ConflictOverwrite, api.AnnotationConflict, api.AnnotationOverwrites)
}

// mayTake reports whether a manifest may be applied over an object as the member has it. Nil: it has none.
func mayTake(manifest, live *unstructured.Unstructured, w *api.Work) error {
	if live == nil || workOf(live, w.Namespace) == w.Name || strings.EqualFold(manifest.GetAnnotations()[api.AnnotationConflict], api.AnnotationOverwrites) {
		return nil
	}
	c := &Conflict{Object: identityOf(manifest)}
	if a := live.GetAnnotations(); a[annotationWorkName] != "" {
		c.Of = a[annotationWorkNamespace] + "/" + a[annotationWorkName]
	}
	return c
}
