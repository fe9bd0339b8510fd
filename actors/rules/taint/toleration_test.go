package taint_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/actors/rules/taint"
	"leeward/messages/api"
)

// within returns a toleration of a NoExecute taint for some seconds, as Karmada gave them to every policy.
func within(key string, seconds int64) corev1.Toleration {
	t := exists(key, seconds)
	t.Effect = noExecute
	return t
}

func TestWithDefaults(t *testing.T) {
	notReady, unreachable := within(api.TaintNotReady, 300), within(api.TaintUnreachable, 300)
	own := within(api.TaintNotReady, 20)
	anyEffect := exists(api.TaintNotReady, 20)
	for _, c := range []struct {
		name                  string
		before                tolerations
		notReady, unreachable int64
		want                  tolerations
	}{
		{"seed 003: both, 300 s each", nil, 300, 300, tolerations{notReady, unreachable}},
		{"one that is there keeps its own seconds", tolerations{own}, 300, 300, tolerations{own, unreachable}},
		{"one without effect is another", tolerations{anyEffect}, 300, 300, tolerations{anyEffect, notReady, unreachable}},
		{"negative gives none", tolerations{own}, -1, -1, tolerations{own}},
		{"negative for one of them", nil, -1, 300, tolerations{unreachable}},
		{"zero is given", nil, 0, -1, tolerations{within(api.TaintNotReady, 0)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			roomy := append(make(tolerations, 0, 8), c.before...)
			require.Equal(t, c.want, append(tolerations(nil), taint.WithDefaults(roomy, c.notReady, c.unreachable)...))
			require.Zero(t, roomy[:8][7], "what came in is never written to")
			require.Zero(t, roomy[:len(roomy)+1][len(roomy)], "what came in is never written to")
		})
	}
}

func TestValidateTolerations(t *testing.T) {
	for _, c := range []struct {
		name    string
		tol     corev1.Toleration
		numeric bool
		want    []string // the fields that are refused
	}{
		{"Exists with a key", exists("a"), false, nil},
		{"Exists without a key", exists("*"), false, nil},
		{"Equal with a value", corev1.Toleration{Key: "a", Value: "v"}, false, nil},
		{"Equal without a value", corev1.Toleration{Key: "a", Operator: "Equal"}, false, nil},
		{"seconds on NoExecute", within("a", 300), false, nil},
		{"no seconds, zero seconds and negative seconds", within("a", -5), false, nil},
		{"K22: Equal without a key", corev1.Toleration{Operator: "Equal", Value: "v"}, false, []string{"t[0].operator"}},
		{"K22: Exists with a value", corev1.Toleration{Key: "a", Operator: "Exists", Value: "v"}, false, []string{"t[0].value"}},
		{"K22: seconds on NoSchedule, as in seed 001", corev1.Toleration{Key: "a", Operator: "Exists", Effect: noSchedule, TolerationSeconds: new(int64(3600))}, false, []string{"t[0].effect"}},
		{"seconds on every effect", exists("a", 300), false, []string{"t[0].effect"}},
		{"K22: an unknown operator", corev1.Toleration{Key: "a", Operator: "Bogus"}, false, []string{"t[0].operator"}},
		{"K22: an unknown effect", corev1.Toleration{Key: "a", Operator: "Exists", Effect: "Bogus"}, false, []string{"t[0].effect"}},
		{"a key that is none", corev1.Toleration{Key: "a b", Operator: "Exists"}, false, []string{"t[0].key"}},
		{"a value that is none", corev1.Toleration{Key: "a", Value: "a b"}, false, []string{"t[0].value"}},
		{"Gt while numbers are off", corev1.Toleration{Key: "a", Operator: "Gt", Value: "5"}, false, []string{"t[0].operator"}},
		{"Gt with a number", corev1.Toleration{Key: "a", Operator: "Gt", Value: "-5"}, true, nil},
		{"Lt with a word", corev1.Toleration{Key: "a", Operator: "Lt", Value: "high"}, true, []string{"t[0].value"}},
		{"an unknown operator while numbers are on", corev1.Toleration{Key: "a", Operator: "Bogus"}, true, []string{"t[0].operator"}},
		{"everything at once", corev1.Toleration{Key: "-", Value: "-", Effect: "Bogus", TolerationSeconds: new(int64(1))}, false, []string{"t[0].key", "t[0].value", "t[0].effect", "t[0].effect"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var fields []string
			for _, e := range taint.ValidateTolerations(tolerations{c.tol}, c.numeric, field.NewPath("t")) {
				fields = append(fields, e.Field)
			}
			require.Equal(t, c.want, fields)
		})
	}
}
