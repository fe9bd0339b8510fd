package interpreter

import (
	"math"

	lua "github.com/yuin/gopher-lua"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/propagation"
)

// kubeFunctions are those of the library that a script has by require("kube"). Source: Karmada.
var kubeFunctions = map[string]lua.LGFunction{
	"resourceAdd":             resourceAdd,
	"getResourceQuantity":     resourceQuantity,
	"accuratePodRequirements": podRequirements,
	"getPodDependencies":      podDependencies,
}

// resourceAdd(a, b, ...) returns the sum of quantities; nil is none.
func resourceAdd(l *lua.LState) int {
	var sum resource.Quantity
	for i := range l.GetTop() {
		sum.Add(quantityAt(l, i+1))
	}
	l.Push(lua.LString(sum.String()))
	return 1
}

// getResourceQuantity(a) returns a quantity as a number.
func resourceQuantity(l *lua.LState) int {
	q := quantityAt(l, 1)
	n := q.AsApproximateFloat64()
	if n < 0 || math.IsInf(n, 0) {
		l.RaiseError("getResourceQuantity: %s has no number", q.String())
	}
	l.Push(lua.LNumber(n))
	return 1
}

func quantityAt(l *lua.LState, n int) resource.Quantity {
	if l.Get(n) == lua.LNil {
		return resource.Quantity{}
	}
	text := l.CheckString(n)
	if len(text) > 64 {
		l.ArgError(n, "no quantity is that long")
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		l.ArgError(n, text+": "+err.Error())
	}
	return q
}

// accuratePodRequirements(template) returns what one pod of a template needs.
func podRequirements(l *lua.LState) int {
	_, each, _ := propagation.Requirements(&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: *templateAt(l)}})
	l.Push(handed(l, each))
	return 1
}

// getPodDependencies(template, namespace) returns what the pods of a template refer to.
func podDependencies(l *lua.LState) int {
	owner := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.OptString(2, metav1.NamespaceDefault)}, Spec: appsv1.DeploymentSpec{Template: *templateAt(l)},
	}
	references := []dependency{}
	for _, k := range propagation.Dependencies(owner) {
		references = append(references, dependency{APIVersion: k.APIVersion, Kind: k.Kind, Namespace: k.Namespace, Name: k.Name})
	}
	l.Push(handed(l, references))
	return 1
}

func templateAt(l *lua.LState) *corev1.PodTemplateSpec {
	template, err := into[corev1.PodTemplateSpec](l.CheckTable(1))
	if err != nil {
		l.ArgError(1, "no pod template: "+err.Error())
	}
	return &template
}

// handed is a value for a script.
func handed(l *lua.LState, v any) lua.LValue {
	fields, err := fieldsOf(v)
	if err != nil {
		l.RaiseError("%v", err)
	}
	return toLua(l, fields)
}
