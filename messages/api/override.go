package api

import (
	"bytes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OverridePolicy says how copies of resources of its namespace differ from cluster to cluster.
type OverridePolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              OverrideSpec `json:"spec"`
}

// ClusterOverridePolicy says how copies of resources of any namespace, or of none, differ from cluster to cluster.
type ClusterOverridePolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              OverrideSpec `json:"spec"`
}

// Annotations of a Work that say which overriders its manifest went through: a list of AppliedOverride in JSON, by the
// names of the policies. Source: Karmada.
const (
	AnnotationAppliedOverrides        = "policy.karmada.io/applied-overrides"
	AnnotationAppliedClusterOverrides = "policy.karmada.io/applied-cluster-overrides"
)

// AnnotationReplicas is how many replicas a Work asks for where its manifest was overridden since, or says so in the way of a custom kind.
// Leeward's own.
const AnnotationReplicas = "leeward.dev/replicas"

// AppliedOverride is what one rule of a policy did.
type AppliedOverride struct {
	PolicyName string     `json:"policyName"`
	Overriders Overriders `json:"overriders"`
}

// OverrideSpec says what is overridden, and where.
type OverrideSpec struct {
	// ResourceSelectors select templates; none selects all.
	ResourceSelectors []ResourceSelector `json:"resourceSelectors,omitempty"`
	OverrideRules     []OverrideRule     `json:"overrideRules,omitempty"`
	// TargetCluster and Overriders are the one rule of a policy that has no overrideRules. Deprecated.
	TargetCluster *ClusterAffinity `json:"targetCluster,omitempty"`
	Overriders    Overriders       `json:"overriders,omitzero"`
}

// Rules are the rules of a policy, in order, that of the deprecated fields among them.
func (s *OverrideSpec) Rules() []OverrideRule {
	if len(s.OverrideRules) > 0 {
		return s.OverrideRules
	}
	return []OverrideRule{{TargetCluster: s.TargetCluster, Overriders: s.Overriders}}
}

// OverrideRule overrides copies on the clusters that it selects; without a targetCluster, on all.
type OverrideRule struct {
	TargetCluster *ClusterAffinity `json:"targetCluster,omitempty"`
	Overriders    Overriders       `json:"overriders"`
}

// Overriders change a manifest in this order: images, commands, args, labels, annotations, fields, and plaintext last.
type Overriders struct {
	Plaintext            []PlaintextOverrider   `json:"plaintext,omitempty"`
	ImageOverrider       []ImageOverrider       `json:"imageOverrider,omitempty"`
	CommandOverrider     []CommandArgsOverrider `json:"commandOverrider,omitempty"`
	ArgsOverrider        []CommandArgsOverrider `json:"argsOverrider,omitempty"`
	LabelsOverrider      []MetadataOverrider    `json:"labelsOverrider,omitempty"`
	AnnotationsOverrider []MetadataOverrider    `json:"annotationsOverrider,omitempty"`
	FieldOverrider       []FieldOverrider       `json:"fieldOverrider,omitempty"`
}

// Empty reports whether there is nothing to override.
func (o *Overriders) Empty() bool {
	return len(o.Plaintext)+len(o.ImageOverrider)+len(o.CommandOverrider)+len(o.ArgsOverrider)+
		len(o.LabelsOverrider)+len(o.AnnotationsOverrider)+len(o.FieldOverrider) == 0
}

// OverriderOperator says what an overrider does with its value.
type OverriderOperator string

// The operators. Commands and args know no replace.
const (
	OverrideAdd     OverriderOperator = "add"
	OverrideRemove  OverriderOperator = "remove"
	OverrideReplace OverriderOperator = "replace"
)

// PlaintextOverrider is one operation of a JSON patch (RFC 6902). Paths are JSON pointers (RFC 6901).
type PlaintextOverrider struct {
	Path     string            `json:"path"`
	Operator OverriderOperator `json:"operator"`
	Value    JSON              `json:"value,omitzero"`
}

// ImageComponent is a part of an image: [registry/]repository[:tag].
type ImageComponent string

// The components; a digest counts as a tag.
const (
	ImageRegistry   ImageComponent = "Registry"
	ImageRepository ImageComponent = "Repository"
	ImageTag        ImageComponent = "Tag"
)

// ImageOverrider changes one component of images. To add is to append to it.
type ImageOverrider struct {
	// Predicate names the one image to change; nil: those of all containers of a Pod, Deployment, StatefulSet,
	// DaemonSet, ReplicaSet or Job.
	Predicate *ImagePredicate   `json:"predicate,omitempty"`
	Component ImageComponent    `json:"component"`
	Operator  OverriderOperator `json:"operator"`
	Value     string            `json:"value,omitempty"`
}

// ImagePredicate is the JSON pointer of an image.
type ImagePredicate struct {
	Path string `json:"path"`
}

// CommandArgsOverrider appends words to the command or args of a container, or removes those that are the same.
type CommandArgsOverrider struct {
	ContainerName string            `json:"containerName"`
	Operator      OverriderOperator `json:"operator"`
	Value         []string          `json:"value,omitempty"`
}

// MetadataOverrider changes labels or annotations. What it removes or replaces need not be there.
type MetadataOverrider struct {
	Operator OverriderOperator `json:"operator"`
	Value    map[string]string `json:"value,omitempty"`
}

// FieldOverrider patches the document that a field holds as text, in JSON or in YAML.
type FieldOverrider struct {
	// FieldPath is a JSON pointer to a text: "/data/config.yaml".
	FieldPath string           `json:"fieldPath"`
	JSON      []FieldOperation `json:"json,omitempty"`
	YAML      []FieldOperation `json:"yaml,omitempty"`
}

// FieldOperation is one operation of a JSON patch within such a document.
type FieldOperation struct {
	SubPath  string            `json:"subPath"`
	Operator OverriderOperator `json:"operator"`
	Value    JSON              `json:"value,omitzero"`
}

// JSON is any value, as it is written. Null is the same as none.
type JSON struct {
	Raw []byte `json:"-"`
}

// MarshalJSON writes the value as it was read.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j.Raw == nil {
		return []byte("null"), nil
	}
	return j.Raw, nil
}

// UnmarshalJSON keeps a value as it is written.
func (j *JSON) UnmarshalJSON(text []byte) error {
	j.Raw = nil
	if !bytes.Equal(text, []byte("null")) {
		j.Raw = bytes.Clone(text)
	}
	return nil
}
