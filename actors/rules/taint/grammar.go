package taint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Changes is what a list of specs asks for, in their order.
type Changes struct {
	// Add has key, effect and value, and no timeAdded: the cluster stamps it.
	Add []corev1.Taint
	// Remove has key and effect; an empty effect means every effect of the key.
	Remove []corev1.Taint
}

// Parse reads specs as kubectl taint does: "key=value:Effect" and "key:Effect" add a taint,
// "key=value:Effect-" (whose value is ignored), "key:Effect-" and "key-" remove one. The effects are
// NoSchedule, PreferNoSchedule and NoExecute; that a cluster takes no PreferNoSchedule is not a matter
// of grammar. Errors are those of kubectl: no spec at all, a malformed spec, key, value or effect, the
// same key and effect added twice, or added and removed together.
func Parse(specs []string) (Changes, error) {
	if len(specs) == 0 {
		return Changes{}, errors.New("at least one taint update is required")
	}
	var c Changes
	for _, spec := range specs {
		if err := c.read(spec); err != nil {
			return Changes{}, err
		}
	}
	if err := c.conflict(); err != nil {
		return Changes{}, err
	}
	return c, nil
}

// String returns a taint in the same grammar: "key=value:Effect", or "key:Effect" where the value is
// empty. A taint to remove is its String with "-" behind it, "key" standing for every effect.
func String(t *corev1.Taint) string {
	s := t.Key
	if t.Value != "" {
		s += "=" + t.Value
	}
	if t.Effect != "" {
		s += ":" + string(t.Effect)
	}
	return s
}

// Apply returns the taints with the changes made: those that are added come first, as with kubectl, and one that has the value already keeps its
// timeAdded. missing are those to remove that are not there.
func (c *Changes) Apply(taints []corev1.Taint) (after, missing []corev1.Taint) {
	after = slices.Clone(c.Add)
	for _, t := range taints {
		switch i := Find(c.Add, t.Key, t.Effect); {
		case i < 0:
			after = append(after, t)
		case after[i].Value == t.Value:
			after[i] = t
		}
	}
	for _, t := range c.Remove {
		var found bool
		if after, found = Remove(after, t.Key, t.Effect); !found {
			missing = append(missing, t)
		}
	}
	return after, missing
}

func (c *Changes) read(spec string) error {
	rest, removal := strings.CutSuffix(spec, "-")
	t, err := parse(rest)
	switch {
	case err != nil:
		return err
	case removal:
		c.Remove = append(c.Remove, corev1.Taint{Key: t.Key, Effect: t.Effect})
	case t.Effect == "":
		return fmt.Errorf("invalid taint spec: %s", spec)
	case Find(c.Add, t.Key, t.Effect) >= 0:
		return fmt.Errorf("duplicated taints with the same key and effect: %v", t)
	default:
		c.Add = append(c.Add, t)
	}
	return nil
}

// conflict returns the error of taints that are both added and removed, nil if there are none.
func (c *Changes) conflict() error {
	var both []string
	for _, r := range c.Remove {
		hits := func(a corev1.Taint) bool { return a.Key == r.Key && (r.Effect == "" || a.Effect == r.Effect) }
		if slices.ContainsFunc(c.Add, hits) {
			both = append(both, r.Key+"="+string(r.Effect))
		}
	}
	if len(both) == 0 {
		return nil
	}
	return fmt.Errorf("can not both modify and remove the following taint(s) in the same command: %s", strings.Join(both, ", "))
}

// parse reads a spec without its "-": a key alone, or a key with an effect and perhaps a value.
func parse(spec string) (corev1.Taint, error) {
	key, effect, hasEffect := strings.Cut(spec, ":")
	value := ""
	if hasEffect {
		if err := checkEffect(spec, effect); err != nil {
			return corev1.Taint{}, err
		}
		key, value, _ = strings.Cut(key, "=")
	}
	if bad := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(bad) > 0 {
		return corev1.Taint{}, fmt.Errorf("invalid taint spec: %s, %s", spec, strings.Join(bad, "; "))
	}
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}, nil
}

// effects are those that the grammar knows.
var effects = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}

func checkEffect(spec, effect string) error {
	if slices.Contains(effects, corev1.TaintEffect(effect)) {
		return nil
	}
	if strings.Contains(effect, ":") {
		return fmt.Errorf("invalid taint spec: %s", spec)
	}
	return fmt.Errorf("invalid taint effect: %s, unsupported taint effect", effect)
}
