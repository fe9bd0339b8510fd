package interpreter

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"leeward/messages/api"
)

const cache = `
apiVersion: example.com/v1
kind: Cache
metadata: {name: a, namespace: shop, generation: 3}
spec:
  nodes: 3
  labels: []
  options: {}
  template:
    spec:
      nodeSelector: {disk: ssd}
      containers:
      - {name: main, resources: {requests: {cpu: 500m, memory: 1Gi}}, envFrom: [{configMapRef: {name: settings}}]}
      - {name: side, resources: {requests: {cpu: 250m}}}
status: {ready: 3, observedGeneration: 3, conditions: [{type: Ready, status: "True"}]}`

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), o))
	return o
}

func customization(name string, rules api.CustomizationRules) *api.ResourceInterpreterCustomization {
	return &api.ResourceInterpreterCustomization{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: api.ResourceInterpreterCustomizationSpec{
			Target: api.CustomizationTarget{APIVersion: "example.com/v1", Kind: "Cache"}, Customizations: rules,
		},
	}
}

func counting(body string) *Set {
	return New([]*api.ResourceInterpreterCustomization{customization("c", api.CustomizationRules{ReplicaResource: &api.LuaRule{LuaScript: body}})})
}

// all is a customization that reads a Cache whole, in the way of those that Karmada ships.
var all = customization("all", api.CustomizationRules{
	ReplicaResource: &api.LuaRule{LuaScript: `
local kube = require("kube")
function GetReplicas(obj)
  local requirement = kube.accuratePodRequirements(obj.spec.template)
  return obj.spec.nodes, requirement
end`},
	ReplicaRevision: &api.LuaRule{LuaScript: `
function ReviseReplica(obj, desiredReplica)
  obj.spec.nodes = desiredReplica
  return obj
end`},
	ComponentResource: &api.LuaRule{LuaScript: `
local kube = require("kube")
function GetComponents(obj)
  return {{name = 'main', replicas = obj.spec.nodes, replicaRequirements = kube.accuratePodRequirements(obj.spec.template)}, {name = 'watcher', replicas = 1}}
end`},
	DependencyInterpretation: &api.LuaRule{LuaScript: `
local kube = require("kube")
function GetDependencies(desiredObj)
  local refs = kube.getPodDependencies(desiredObj.spec.template, desiredObj.metadata.namespace)
  refs[#refs + 1] = {apiVersion = 'v1', kind = 'Secret', name = desiredObj.metadata.name .. '-tls', namespace = desiredObj.metadata.namespace, labelSelector = {}}
  refs[#refs + 1] = {apiVersion = 'v1', kind = 'ConfigMap', namespace = desiredObj.metadata.namespace, labelSelector = {matchLabels = {cache = desiredObj.metadata.name}}}
  return refs
end`},
	HealthInterpretation: &api.LuaRule{LuaScript: `
function InterpretHealth(observedObj)
  if observedObj.status.observedGeneration ~= observedObj.metadata.generation then
    return false
  end
  for i = 1, #observedObj.status.conditions do
    if observedObj.status.conditions[i].type == 'Ready' then
      return observedObj.status.conditions[i].status == 'True'
    end
  end
  return false
end`},
	Retention: &api.LuaRule{LuaScript: `
function Retain(desiredObj, observedObj)
  desiredObj.spec.nodes = observedObj.spec.nodes
  return desiredObj
end`},
	StatusReflection: &api.LuaRule{LuaScript: `
function ReflectStatus(observedObj)
  return {ready = observedObj.status.ready}
end`},
	StatusAggregation: &api.LuaRule{LuaScript: `
function AggregateStatus(desiredObj, statusItems)
  local ready = 0
  for _, item in ipairs(statusItems) do
    ready = ready + (item.status.ready or 0)
  end
  desiredObj.status = {ready = ready}
  return desiredObj
end`},
})

func TestACustomKindIsReadByItsScripts(t *testing.T) {
	require.Empty(t, Validate(all))
	s, o := New([]*api.ResourceInterpreterCustomization{all}), objectOf(t, cache)
	before := o.DeepCopy()

	replicas, each, known, err := s.Replicas(o)
	require.NoError(t, err)
	require.True(t, known)
	require.EqualValues(t, 3, replicas)
	require.Equal(t, "750m", each.ResourceRequest.Cpu().String())
	require.Equal(t, "1Gi", each.ResourceRequest.Memory().String())
	require.Equal(t, map[string]string{"disk": "ssd"}, each.NodeClaim.NodeSelector)

	components, known, err := s.Components(o)
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, []api.Component{{Name: "main", Replicas: 3, ReplicaRequirements: components[0].ReplicaRequirements}, {Name: "watcher", Replicas: 1}}, components)
	require.Equal(t, "750m", components[0].ReplicaRequirements.ResourceRequest.Cpu().String())

	found, known, err := s.Dependencies(o)
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, []api.Key{
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "settings"}, {APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "a-tls"},
	}, found.Named, "a name goes before labels")
	require.Len(t, found.Selected, 1)
	require.Equal(t, api.Key{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop"}, found.Selected[0].Of)
	require.Equal(t, "cache=a", found.Selected[0].Labels.String())

	revised, known, err := s.Revise(o, 7)
	require.NoError(t, err)
	require.True(t, known)
	want := o.DeepCopy()
	require.NoError(t, unstructured.SetNestedField(want.Object, int64(7), "spec", "nodes"))
	require.Equal(t, want, revised, "an empty list remains one")

	healthy, known, err := s.Health(o)
	require.NoError(t, err)
	require.True(t, known && healthy)
	observed := o.DeepCopy()
	observed.SetGeneration(4)
	healthy, _, err = s.Health(observed)
	require.NoError(t, err)
	require.False(t, healthy)

	kept, known, err := s.Retain(revised, o)
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, o, kept)

	status, known, err := s.Reflect(o)
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, map[string]any{"ready": int64(3)}, status)

	said := func(n string) api.AggregatedStatusItem {
		item := api.AggregatedStatusItem{ClusterName: n}
		require.NoError(t, yaml.Unmarshal([]byte(`{ready: `+n+`}`), &item.Status))
		return item
	}
	added, known, err := s.Aggregate(o, []api.AggregatedStatusItem{said("1"), said("2")})
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, map[string]any{"ready": int64(3)}, added)
	require.Equal(t, before, o, "a script has a copy")
}

func TestAKindWithoutAScriptIsNotKnown(t *testing.T) {
	for _, s := range []*Set{nil, New(nil), New([]*api.ResourceInterpreterCustomization{all})} {
		_, _, known, err := s.Replicas(&appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}})
		require.NoError(t, err)
		require.False(t, known)
	}
}

func TestTheFirstCustomizationByNameHolds(t *testing.T) {
	returning := func(name, n string) *api.ResourceInterpreterCustomization {
		return customization(name, api.CustomizationRules{ReplicaResource: &api.LuaRule{LuaScript: "function GetReplicas() return " + n + " end"}})
	}
	replicas, each, known, err := New([]*api.ResourceInterpreterCustomization{returning("b", "2"), returning("a", "1")}).Replicas(objectOf(t, cache))
	require.NoError(t, err)
	require.True(t, known)
	require.EqualValues(t, 1, replicas)
	require.Nil(t, each)
}

// Each of these scripts tries to take more than a script may have, or to reach what it may not.
func TestAScriptIsKeptWithinItsBounds(t *testing.T) {
	in := func(body string) string { return "function GetReplicas(obj) " + body + " end" }
	for name, c := range map[string]struct{ script, says string }{
		"a loop without end":                 {in("while true do end"), "too many steps"},
		"a loop that catches its end":        {in("while true do pcall(function() while true do end end) end"), "too many steps"},
		"a recursion without end":            {in("local function f() return 1 + f() end return f()"), "overflow"},
		"a recursion through a function":     {in("local function f(s) return (string.gsub(s, 'a', f)) end return f('a')"), "overflow"},
		"a string that doubles":              {in("local s = 'aaaaaaaa' while true do s = s .. s end"), "may make strings of up to"},
		"a string that is repeated":          {in("return string.rep('a', 1e9)"), "may make strings of up to"},
		"a method of a string":               {in("return ('a'):rep(1e9)"), "may make strings of up to"},
		"many strings":                       {in("local t = {} for i = 1, 1000 do t[i] = string.rep('a', 100000 + i) end"), "bytes of memory"},
		"a wide number":                      {in("return string.format('%100000000d', 1)"), "width"},
		"a table with a hole":                {in("local t = {} t[60000000] = 1"), "bytes of memory"},
		"tables with holes":                  {in("local t = {} for i = 1, 1000 do t[i] = {} t[i][60000] = 1 end"), "bytes of memory"},
		"a table written with a hole":        {in("local t = {[60000000] = 1}"), "bytes of memory"},
		"an insertion far behind":            {in("local t = {} table.insert(t, 60000000, 1)"), "table.insert"},
		"a long join":                        {in("local s, t = string.rep('a', 200000), {} for i = 1, 1000 do t[i] = s end return table.concat(t)"), "may make strings of up to"},
		"many values":                        {in("return unpack({1}, 1, 1e9)"), "overflow"},
		"a pattern that backtracks":          {in("return string.find(string.rep('a', 1000), '.-.-.-.-b')"), "repeats too much"},
		"a substitution that grows":          {in("return (string.gsub(string.rep('a', 10000), 'a', string.rep('b', 10000)))"), "bytes of memory"},
		"a result that holds itself":         {in("local t = {} t.t = t return 1, t"), "deeper than"},
		"a result that is too large":         {in("local t = {} for i = 1, 3000 do t['k' .. i] = t1 or i end return 1, {t = t, f = print or next}"), "returns a function"},
		"the clock":                          {in("return os.time()"), "nil"},
		"a file":                             {in("return io.open('/etc/passwd')"), "nil"},
		"a library":                          {"local os = require('os') " + in("return 1"), "there is kube, and nothing else"},
		"code":                               {in("return loadstring('return 1')()"), "call a non-function"},
		"another file":                       {in("dofile('/etc/passwd')"), "call a non-function"},
		"chance":                             {in("return math.random(3)"), "call a non-function"},
		"all that is global":                 {in("_G.string = nil"), "nil"},
		"the environment":                    {in("setfenv(1, {})"), "call a non-function"},
		"a metatable":                        {in("getmetatable('').__index = nil"), "call a non-function"},
		"output":                             {in("print('here')"), "call a non-function"},
		"a coroutine":                        {in("coroutine.wrap(function() end)()"), "nil"},
		"no function":                        {"function Other() end", "defines no function GetReplicas"},
		"an error of its own":                {in("error('no nodes')"), "no nodes"},
		"an error that is no text":           {in("error({})"), "table"},
		"a missing field":                    {in("return obj.spec.none.replicas"), "script:1"},
		"no replicas":                        {in("return nil"), "want a whole number"},
		"half a replica":                     {in("return 1.5"), "want a whole number"},
		"too many replicas":                  {in("return 1e12"), "want a whole number"},
		"fewer than no replicas":             {in("return -1"), "want a whole number"},
		"requirements of another shape":      {in("return 1, {resourceRequest = {cpu = 'much'}}"), "requirements"},
		"a quantity that is none":            {"local kube = require('kube') " + in("return kube.getResourceQuantity('much')"), "quantities"},
		"a template that is none":            {"local kube = require('kube') " + in("return 1, kube.accuratePodRequirements({spec = 1})"), "no pod template"},
		"the length of a thing that is none": {in("return #obj.none"), "script:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, known, err := counting(c.script).Replicas(objectOf(t, cache))
			require.ErrorContains(t, err, c.says)
			require.False(t, known)
			require.ErrorContains(t, err, "replicaResource of ResourceInterpreterCustomization c: ")
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestAScriptThatCannotBeReadIsRefused(t *testing.T) {
	for script, says := range map[string]string{
		"function GetReplicas(":           "spec.customizations.replicaResource.luaScript",
		"x = = 1":                         "syntax error",
		strings.Repeat("-", MostScript+1): "may not be more than",
	} {
		problems := Validate(customization("c", api.CustomizationRules{ReplicaResource: &api.LuaRule{LuaScript: script}}))
		require.Len(t, problems, 1)
		require.ErrorContains(t, problems.ToAggregate(), says)
		_, _, known, err := counting(script).Replicas(objectOf(t, cache))
		require.NoError(t, err)
		require.False(t, known)
	}
}

func TestAnObjectStaysWhatItIs(t *testing.T) {
	s := New([]*api.ResourceInterpreterCustomization{customization("c", api.CustomizationRules{
		ReplicaRevision:          &api.LuaRule{LuaScript: "function ReviseReplica(obj) obj.metadata.namespace = 'other' return obj end"},
		DependencyInterpretation: &api.LuaRule{LuaScript: "function GetDependencies() return {{apiVersion = 'v1', kind = 'Secret', namespace = 'other', name = 'a'}} end"},
	})})
	_, _, err := s.Revise(objectOf(t, cache), 1)
	require.ErrorContains(t, err, "the script makes")
	_, _, err = s.Dependencies(objectOf(t, cache))
	require.ErrorContains(t, err, "namespace other")
}

// Each of these scripts returns components that a binding may not have.
func TestComponentsThatCannotBeAreRefused(t *testing.T) {
	for script, says := range map[string]string{
		"{{name = 'a', replicas = -1}}":                                "components[0].replicas",
		"{{name = 'a', replicas = 1e12}}":                              "of the result must be a number of the type int32, not number 1000000000000",
		"{{name = {}, replicas = 1}}":                                  "of the result must be a text, not object",
		"{{name = 'a', replicas = 1}, {name = 'a', replicas = 1}}":     "components[1].name: Duplicate value",
		"{{replicas = 1}, {name = 'a', replicas = 1}}":                 "components[0].name: Required value",
		"{{replicaRequirements = {resourceRequest = {cpu = '-1'}}}}":   "components[0].replicaRequirements.resourceRequest",
		"{{replicaRequirements = {resourceRequest = {cpu = 'much'}}}}": "quantities must match",
		"'all'": "the result must be a list, not string",
		"many":  "101 components: there may be 100",
	} {
		s := New([]*api.ResourceInterpreterCustomization{customization("c", api.CustomizationRules{ComponentResource: &api.LuaRule{LuaScript: `
many = {}
for i = 1, 101 do many[i] = {name = 'a' .. i, replicas = 1} end
function GetComponents() return ` + script + " end"}})})
		_, known, err := s.Components(objectOf(t, cache))
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, "componentResource of ResourceInterpreterCustomization c: ")
		require.False(t, known)
	}
}

// Each of these scripts names something that an object cannot depend on, or too much.
func TestADependencyThatCannotBeFollowedIsRefused(t *testing.T) {
	for script, says := range map[string]string{
		"{{apiVersion = 'v1', kind = 'Secret'}}":                                                                        "dependency 1: want apiVersion, kind, and name or labelSelector",
		"{{apiVersion = 'v1', kind = 'Secret', name = 'a'}, {kind = 'Secret', name = 'a'}}":                             "dependency 2: want apiVersion, kind, and name or labelSelector",
		"{{apiVersion = 'v1', kind = 'Secret', labelSelector = {matchLabels = {['?'] = ''}}}}":                          "dependency 1: labelSelector: key: Invalid value",
		"{{apiVersion = 'v1', kind = 'Secret', labelSelector = {matchExpressions = {{key = 'a', operator = 'Like'}}}}}": "dependency 1: labelSelector: \"Like\" is not",
		"{{apiVersion = 'v1', kind = 'Secret', namespace = 'other', labelSelector = {}}}":                               "dependency 1: it is in namespace other",
		"many": "1001 dependencies: there may be 1000",
	} {
		s := New([]*api.ResourceInterpreterCustomization{customization("c", api.CustomizationRules{DependencyInterpretation: &api.LuaRule{LuaScript: `
many = {}
for i = 1, 1001 do many[i] = {apiVersion = 'v1', kind = 'Secret', name = 'a'} end
function GetDependencies() return ` + script + " end"}})})
		found, known, err := s.Dependencies(objectOf(t, cache))
		require.ErrorContains(t, err, says)
		require.False(t, known)
		require.Empty(t, found.Selected, "of a script that fails nothing is used")
	}
}

// BenchmarkReplicas reads one object.
func BenchmarkReplicas(b *testing.B) {
	s, o := New([]*api.ResourceInterpreterCustomization{all}), &unstructured.Unstructured{}
	require.NoError(b, yaml.Unmarshal([]byte(cache), o))
	for b.Loop() {
		if _, _, _, err := s.Replicas(o); err != nil {
			b.Fatal(err)
		}
	}
}
