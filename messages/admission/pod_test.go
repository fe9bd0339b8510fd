package admission_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/klog/v2"

	"leeward/messages/admission"
	"leeward/messages/manifest"
)

func pod(t testing.TB, spec string) *corev1.Pod {
	t.Helper()
	if !strings.Contains(spec, "containers:") {
		spec = strings.TrimSuffix("containers: [], "+spec, ", ")
	}
	return read(t, "Pod\nspec: {"+spec+"}\n").(*corev1.Pod)
}

func TestTolerationsOfAPodAreAppendOnly(t *testing.T) {
	const refused = "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"
	const had = "{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 6}"
	for name, c := range map[string]struct{ old, next, want string }{
		"as it was":       {had, had, ""},
		"other seconds":   {had, "{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 1}", ""},
		"no seconds":      {had, "{key: a, operator: Exists, effect: NoExecute}", ""},
		"one more, first": {had, "{key: b, operator: Exists}, " + had, ""},
		"another order":   {had + ", {key: b}", "{key: b}, " + had, ""},
		"one more that is invalid": {
			had, had + ", {key: b, operator: Exists, effect: NoSchedule, tolerationSeconds: 3}",
			`spec.tolerations[1].effect: Invalid value: "NoSchedule": effect must be 'NoExecute' when ` + "`tolerationSeconds` is set",
		},
		"gone":              {had, "", refused},
		"another effect":    {had, "{key: a, operator: Exists}", refused},
		"another value":     {"{key: a, value: x}", "{key: a, value: z}", refused},
		"Equal written out": {"{key: a, value: x}", "{key: a, operator: Equal, value: x}", refused},
		"Gt stays while its gate is off": {
			"{key: a, operator: Gt, value: '5'}", "{key: a, operator: Gt, value: '5'}, {key: b, operator: Lt, value: '7'}", "",
		},
		"Gt is not added while its gate is off": {
			had, had + ", {key: b, operator: Lt, value: '7'}", `spec.tolerations[1].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, findings(pod(t, "tolerations: ["+c.next+"]"), pod(t, "tolerations: ["+c.old+"]"), karmada()))
		})
	}
}

func TestOfAPodThatExistsLittleMayChange(t *testing.T) {
	const change = ": Forbidden: may not change: of the spec of a pod, only tolerations, activeDeadlineSeconds, schedulingGates and images may"
	const had = "nodeName: n1, priority: 5, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]"
	for name, c := range map[string]struct{ old, next, want string }{
		"as it was, its request in another unit": {had, "nodeName: n1, priority: 5, containers: [{name: c, image: i, resources: {requests: {cpu: 1000m}}}]", ""},
		"what is omitted":                        {had, "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]", ""},
		"another image":                          {had, "containers: [{name: c, image: j, resources: {requests: {cpu: 1}}}]", ""},
		"a deadline":                             {had, "activeDeadlineSeconds: 7, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]", ""},
		"gates that are gone":                    {"schedulingGates: [{name: a}, {name: b}]", "schedulingGates: [{name: b}]", ""},
		"a node, where there was none":           {"containers: [{name: c}]", "nodeName: n1, containers: [{name: c}]", ""},
		"another node":                           {had, "nodeName: n2, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]", "spec.nodeName" + change},
		"another request":                        {had, "containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]", "spec.containers" + change},
		"one more container":                     {had, "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}, {name: d}]", "spec.containers" + change},
		"two more fields":                        {had, had + ", nodeSelector: {a: b}, terminationGracePeriodSeconds: -3", "spec.terminationGracePeriodSeconds" + change + "\nspec.nodeSelector" + change},
	} {
		t.Run(name, func(t *testing.T) {
			old, next := pod(t, c.old), pod(t, c.next)
			require.Equal(t, c.want, findings(next, old, karmada()))
			admission.KeepPod(next, old)
			require.Equal(t, c.want, findings(next, old, karmada()))
			if c.want == "" {
				require.Equal(t, cmp.Or(old.Spec.NodeName, next.Spec.NodeName), next.Spec.NodeName)
				require.Equal(t, old.Spec.Priority, next.Spec.Priority)
			}
		})
	}
}

func TestANodeHasNoNegativeAmounts(t *testing.T) {
	n := read(t, "Node\nstatus: {allocatable: {cpu: -1}, capacity: {memory: 1Gi}}\n")
	const want = `status.allocatable[cpu]: Invalid value: "-1": must be 0 or more`
	require.Equal(t, want, findings(n, nil, karmada()))
	require.Equal(t, want, findings(n, read(t, "Node\n"), karmada()))
	require.Empty(t, findings(n, n, karmada()), "who edits its spec need not mend what is stored")
	require.EqualError(t, admission.ValidateStatus(n).ToAggregate(), want)
}

func TestWhatAMachineSetGivesToItsNodesIsValidated(t *testing.T) {
	set := func(group, spec string) string {
		documents, problems := manifest.Decode("m.yaml", []byte("apiVersion: "+group+"/v1beta1\nkind: MachineSet\nmetadata: {name: m, namespace: default}\nspec: "+spec+"\n"))
		require.Empty(t, problems)
		return findings(documents[0].Object, nil, karmada())
	}
	const bad = "{replicas: -1, template: {spec: {metadata: {labels: {a: 'b c'}}, taints: [{key: a, effect: NoExecute}, {key: a, effect: Bogus}]}}}"
	require.Equal(t, `spec.replicas: Invalid value: -1: must be greater than or equal to 0
spec.template.spec.metadata.labels: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')
spec.template.spec.taints[1].effect: Unsupported value: "Bogus": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`, set("machine.openshift.io", bad))
	require.Equal(t, `spec: Invalid value: "m": cannot restore slice from int64`, set("machine.openshift.io", "{template: {spec: {taints: 5}}}"))
	require.Empty(t, set("machine.openshift.io", "{replicas: 2, template: {spec: {taints: [{key: a, effect: NoExecute}]}}}"))
	require.Empty(t, set("cluster.x-k8s.io", bad))
}

func TestAPodThatIsServedHasContainers(t *testing.T) {
	want := func(spec, want string) {
		t.Helper()
		require.EqualError(t, admission.ValidateForMember(pod(t, spec), nil).ToAggregate(), want)
	}
	want("", "spec.containers: Required value: at least one container")
	want("containers: [{name: c, image: i}, {name: c, image: i}]", `spec.containers[1].name: Duplicate value: "c"`)
	want("restartPolicy: Sometimes, containers: [{name: c, image: i}]", `spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"`)
	require.Empty(t, admission.ValidateForMember(pod(t, "restartPolicy: Never, containers: [{name: c, image: i}]"), nil))
}

func TestTheLineOfANodesTaintIsFound(t *testing.T) {
	documents, problems := manifest.Decode("n.yaml", []byte("apiVersion: v1\nkind: Node\nmetadata:\n  name: node1\nspec:\n  taints:\n  - key: k\n    effect: NoRun\n"))
	require.Empty(t, problems)
	found := documents[0].Invalid(admission.Validate(documents[0].Object, nil, karmada()))
	require.Len(t, found, 1)
	require.Equal(t, 8, found[0].Line)
}

func TestQualityOfService(t *testing.T) {
	for name, c := range map[string]struct {
		spec string
		want corev1.PodQOSClass
	}{
		"no containers":            {"", corev1.PodQOSBestEffort},
		"nothing is asked for":     {"containers: [{name: c}]", corev1.PodQOSBestEffort},
		"only another resource":    {"containers: [{name: c, resources: {requests: {example.com/gpu: 1}, limits: {example.com/gpu: 1}}}]", corev1.PodQOSBestEffort},
		"nothing, said explicitly": {"containers: [{name: c, resources: {requests: {cpu: 0}}}]", corev1.PodQOSBestEffort},
		"a request":                {"containers: [{name: c, resources: {requests: {cpu: 100m}}}]", corev1.PodQOSBurstable},
		"limits of both":           {"containers: [{name: c, resources: {limits: {cpu: 1, memory: 1Gi}}}]", corev1.PodQOSGuaranteed},
		"requests equal limits":    {"containers: [{name: c, resources: {requests: {cpu: 1000m, memory: 1Gi}, limits: {cpu: 1, memory: 1024Mi}}}]", corev1.PodQOSGuaranteed},
		"requests below limits":    {"containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2, memory: 1Gi}}}]", corev1.PodQOSBurstable},
		"a limit of one only":      {"containers: [{name: c, resources: {limits: {cpu: 1}}}]", corev1.PodQOSBurstable},
		"one of two containers":    {"containers: [{name: c, resources: {limits: {cpu: 1, memory: 1Gi}}}, {name: d}]", corev1.PodQOSBurstable},
		"an init container":        {"containers: [{name: c}], initContainers: [{name: i, resources: {requests: {memory: 1Mi}}}]", corev1.PodQOSBurstable},
		"the pod as a whole":       {"containers: [{name: c}], resources: {limits: {cpu: 1, memory: 1Gi}}", corev1.PodQOSGuaranteed},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, admission.QOSClassOf(pod(t, c.spec))) })
	}
}

func TestTaintNodesByCondition(t *testing.T) {
	node := read(t, "Node\nspec: {taints: [{key: k, effect: NoSchedule}]}\n").(*corev1.Node)
	s := karmada()
	admission.AdmitNode(node, s)
	require.Len(t, node.Spec.Taints, 1, "it is switched off")
	s.TaintNodesByCondition = true
	for range 2 {
		admission.AdmitNode(node, s)
		require.Equal(t, []corev1.Taint{
			{Key: "k", Effect: corev1.TaintEffectNoSchedule}, {Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoSchedule},
		}, node.Spec.Taints)
	}
	evicting := read(t, "Node\nspec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoExecute}]}\n").(*corev1.Node)
	admission.AdmitNode(evicting, s)
	require.Len(t, evicting.Spec.Taints, 2, "another effect is another taint")
}

// short writes tolerations as "key:effect:seconds", with "=value" behind the key if there is one.
func short(list []corev1.Toleration) string {
	var words []string
	for _, t := range list {
		w := strings.TrimPrefix(t.Key, "node.kubernetes.io/")
		if t.Operator != corev1.TolerationOpExists {
			w += "=" + t.Value
		}
		w += ":" + string(t.Effect)
		if t.TolerationSeconds != nil {
			seconds, _ := json.Marshal(*t.TolerationSeconds)
			w += ":" + string(seconds)
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func TestDefaultTolerationSeconds(t *testing.T) {
	const both, key = "not-ready:NoExecute:300 unreachable:NoExecute:300", "node.kubernetes.io/not-ready"
	for name, c := range map[string]struct{ tolerations, want string }{
		"none":             {"", both},
		"of another key":   {"{key: k, operator: Exists}", "k: " + both},
		"for another time": {"{key: " + key + ", operator: Exists, effect: NoExecute, tolerationSeconds: 60}", "not-ready:NoExecute:60 unreachable:NoExecute:300"},
		"forever":          {"{key: " + key + ", operator: Exists, effect: NoExecute}", "not-ready:NoExecute unreachable:NoExecute:300"},
		"of both": {
			"{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 5}, {key: " + key + ", operator: Exists, effect: NoExecute, tolerationSeconds: 6}",
			"unreachable:NoExecute:5 not-ready:NoExecute:6",
		},
		"of every effect":                {"{key: " + key + ", operator: Exists}", "not-ready: unreachable:NoExecute:300"},
		"of NoSchedule only":             {"{key: " + key + ", operator: Exists, effect: NoSchedule}", "not-ready:NoSchedule " + both},
		"everything":                     {"{operator: Exists}", ":"},
		"every key, NoExecute":           {"{operator: Exists, effect: NoExecute, tolerationSeconds: 5}", ":NoExecute:5"},
		"every key, NoSchedule":          {"{operator: Exists, effect: NoSchedule}", ":NoSchedule " + both},
		"a value that can never match":   {"{key: " + key + ", value: x, effect: NoExecute}", "not-ready=x:NoExecute unreachable:NoExecute:300"},
		"the other key, the same effect": {"{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute}", "unreachable:NoExecute not-ready:NoExecute:300"},
	} {
		t.Run(name, func(t *testing.T) {
			s := karmada()
			s.PodNotReadyTolerationSeconds, s.PodUnreachableTolerationSeconds = 300, 300
			p := pod(t, "tolerations: ["+c.tolerations+"]")
			before := short(p.Spec.Tolerations)
			require.NoError(t, admission.AdmitPod(p, true, nil, s))
			require.Equal(t, before, short(p.Spec.Tolerations), "it is switched off")
			s.DefaultTolerationSeconds = true
			for range 2 {
				require.NoError(t, admission.AdmitPod(p, false, nil, s))
				require.Equal(t, c.want, short(p.Spec.Tolerations))
			}
		})
	}
	s := karmada()
	s.DefaultTolerationSeconds, s.PodNotReadyTolerationSeconds, s.PodUnreachableTolerationSeconds = true, -5, 0
	p := pod(t, "")
	require.NoError(t, admission.AdmitPod(p, true, nil, s))
	require.Equal(t, "not-ready:NoExecute:-5 unreachable:NoExecute:0", short(p.Spec.Tolerations))
}

func TestPodTolerationRestriction(t *testing.T) {
	const conflict = "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist"
	const busy = ", containers: [{name: c, resources: {requests: {cpu: 100m}}}]"
	const team = `[{"key":"team","operator":"Equal","value":"a","effect":"NoSchedule"}]`
	const allowTeam = `[{"key":"team","operator":"Exists"},{"key":"node.kubernetes.io/memory-pressure","operator":"Exists"}]`
	for name, c := range map[string]struct {
		defaults, allowed, spec string
		update                  bool
		want, refused           string
	}{
		"no annotations, best effort": {"", "", "tolerations: [{key: k, operator: Exists}]", false, "k:", ""},
		"no annotations, burstable":   {"", "", "tolerations: []" + busy, false, "memory-pressure:NoSchedule", ""},
		"no annotations, guaranteed": {
			"", "", "tolerations: [], containers: [{name: c, resources: {limits: {cpu: 1, memory: 1Gi}}}]", false, "memory-pressure:NoSchedule", "",
		},
		"memory pressure tolerated already": {"", "", "tolerations: [{operator: Exists}]" + busy, false, ":", ""},
		"a default":                         {team, "", "tolerations: []", false, "team=a:NoSchedule", ""},
		"a default behind the pod's own":    {team, "", "tolerations: [{key: team, value: b, effect: NoSchedule}]", false, "team=b:NoSchedule team=a:NoSchedule", ""},
		"a default that the pod covers":     {team, "", "tolerations: [{key: team, operator: Exists}]", false, "team:", ""},
		"a pod's that the default covers":   {`[{"operator":"Exists"}]`, "", "tolerations: [{key: k, operator: Exists}]", false, ":", ""},
		"the same twice":                    {"", "", "tolerations: [{key: k, operator: Exists}, {key: k, operator: Exists}]" + busy, false, "k: memory-pressure:NoSchedule", ""},
		"no default on update":              {team, "", "tolerations: []", true, "", ""},
		"memory pressure on update, too":    {team, "", "tolerations: []" + busy, true, "memory-pressure:NoSchedule", ""},
		"allowed":                           {team, allowTeam, "tolerations: []" + busy, false, "team=a:NoSchedule memory-pressure:NoSchedule", ""},
		"not allowed":                       {team, allowTeam, "tolerations: [{key: x, operator: Exists, effect: NoSchedule}]", false, "", conflict},
		"a default that is not allowed":     {team, `[{"key":"team","value":"b","effect":"NoSchedule"}]`, "tolerations: []", false, "", conflict},
		"each within another entry": {
			"", `[{"key":"a","operator":"Exists"},{"key":"b","operator":"Equal","value":"x"}]`, "tolerations: [{key: b, operator: Equal, value: x, effect: NoExecute}, {key: a, value: z}]", false,
			"b=x:NoExecute a=z:", "",
		},
		"everything is not allowed":      {team, allowTeam, "tolerations: [{operator: Exists}]", false, "", conflict},
		"an empty allow-list allows all": {"", "[]", "tolerations: [{operator: Exists}]", false, ":", ""},
		"no more seconds than allowed": {
			"", `[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":60}]`, "tolerations: [{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 61}]", false, "", conflict,
		},
		"forever is more than any seconds": {
			"", `[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":60}]`, "tolerations: [{key: k, operator: Exists, effect: NoExecute}]", false, "", conflict,
		},
		"as many seconds as allowed": {
			"", `[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":60}]`, "tolerations: [{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 60}]", false, "k:NoExecute:60", "",
		},
		"one value, not all": {"", `[{"key":"k","value":"v"}]`, "tolerations: [{key: k, operator: Exists}]", false, "", conflict},
		"no list": {
			"{", "", "tolerations: []", false, "", "annotation scheduler.alpha.kubernetes.io/defaultTolerations of the namespace: unexpected end of JSON input",
		},
		"a list that is too long": {
			"", "[" + strings.Repeat("{},", 100) + "{}]", "tolerations: []", false, "",
			"annotation scheduler.alpha.kubernetes.io/tolerationsWhitelist of the namespace: 101 tolerations, must be 100 or less",
		},
	} {
		t.Run(name, func(t *testing.T) {
			annotations := map[string]string{admission.AnnotationDefaultTolerations: c.defaults, admission.AnnotationTolerationsWhitelist: c.allowed}
			s := karmada()
			p := pod(t, c.spec)
			before := p.DeepCopy()
			require.NoError(t, admission.AdmitPod(p, !c.update, annotations, s))
			require.Equal(t, before, p, "it is switched off")
			s.PodTolerationRestriction = true
			err := admission.AdmitPod(p, !c.update, annotations, s)
			if c.refused != "" {
				require.EqualError(t, err, c.refused)
				require.Equal(t, before, p, "a pod that is refused stays as it is")
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, short(p.Spec.Tolerations))
			require.NoError(t, admission.AdmitPod(p, !c.update, annotations, s))
			require.Equal(t, c.want, short(p.Spec.Tolerations), "twice is once")
		})
	}
}

// What each toleration covers of all of them, besides itself.
func TestCovers(t *testing.T) {
	seconds := func(s int64) *int64 { return &s }
	all := map[string]corev1.Toleration{
		"*":            {Operator: "Exists"},
		"*:NS":         {Operator: "Exists", Effect: "NoSchedule"},
		"*:NE":         {Operator: "Exists", Effect: "NoExecute"},
		"rack":         {Key: "rack", Operator: "Exists"},
		"rack=7":       {Key: "rack", Operator: "Equal", Value: "7"},
		"rack=7 too":   {Key: "rack", Value: "7"},
		"rack>7":       {Key: "rack", Operator: "Gt", Value: "7"},
		"rack:NS":      {Key: "rack", Operator: "Exists", Effect: "NoSchedule"},
		"rack=7:NS":    {Key: "rack", Operator: "Equal", Value: "7", Effect: "NoSchedule"},
		"rack=8:NS":    {Key: "rack", Operator: "Equal", Value: "8", Effect: "NoSchedule"},
		"room:NS":      {Key: "room", Operator: "Exists", Effect: "NoSchedule"},
		"room=8:NS":    {Key: "room", Operator: "Equal", Value: "8", Effect: "NoSchedule"},
		"rack:PNS":     {Key: "rack", Operator: "Exists", Effect: "PreferNoSchedule"},
		"rack:NE":      {Key: "rack", Operator: "Exists", Effect: "NoExecute"},
		"rack=7:NE":    {Key: "rack", Operator: "Equal", Value: "7", Effect: "NoExecute"},
		"rack:NE 9s":   {Key: "rack", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: seconds(9)},
		"rack:NE 0s":   {Key: "rack", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: seconds(0)},
		"rack=7:NE 9s": {Key: "rack", Operator: "Equal", Value: "7", Effect: "NoExecute", TolerationSeconds: seconds(9)},
	}
	covered := map[string]string{
		"*":          "*:NE *:NS rack rack:NE rack:NE 0s rack:NE 9s rack:NS rack:PNS rack=7 rack=7 too rack=7:NE rack=7:NE 9s rack=7:NS rack=8:NS rack>7 room:NS room=8:NS",
		"*:NS":       "rack:NS rack=7:NS rack=8:NS room:NS room=8:NS",
		"*:NE":       "rack:NE rack:NE 0s rack:NE 9s rack=7:NE rack=7:NE 9s",
		"rack":       "rack:NE rack:NE 0s rack:NE 9s rack:NS rack:PNS rack=7 rack=7 too rack=7:NE rack=7:NE 9s rack=7:NS rack=8:NS rack>7",
		"rack=7":     "rack=7 too rack=7:NE rack=7:NE 9s rack=7:NS",
		"rack=7 too": "rack=7 rack=7:NE rack=7:NE 9s rack=7:NS",
		"rack:NS":    "rack=7:NS rack=8:NS",
		"room:NS":    "room=8:NS",
		"rack:NE":    "rack:NE 0s rack:NE 9s rack=7:NE rack=7:NE 9s",
		"rack=7:NE":  "rack=7:NE 9s",
		"rack:NE 9s": "rack:NE 0s rack=7:NE 9s",
	}
	for _, outer := range slices.Sorted(maps.Keys(all)) {
		var found []string
		for _, inner := range slices.Sorted(maps.Keys(all)) {
			o, i := all[outer], all[inner]
			if is := admission.Covers(&o, &i); inner == outer {
				require.True(t, is, "%s covers itself", outer)
			} else if is {
				found = append(found, inner)
			}
		}
		require.Equal(t, covered[outer], strings.Join(found, " "), outer)
	}
}

func TestExtendedResourceToleration(t *testing.T) {
	needs := func(resources string) string {
		return "containers: [{name: c, resources: {requests: {" + resources + "}}}]"
	}
	for name, c := range map[string]struct{ spec, want string }{
		"nothing":                      {"containers: [{name: c}]", ""},
		"processor and memory":         {needs("cpu: 1, memory: 1Gi, ephemeral-storage: 1Gi, hugepages-2Mi: 2Mi"), ""},
		"Kubernetes' own":              {needs("kubernetes.io/x: 1, attachable-volumes.kubernetes.io/y: 1"), ""},
		"a device":                     {needs("example.com/gpu: 1"), "example.com/gpu:NoSchedule"},
		"several, in order":            {needs("z.example.com/b: 1, example.com/a: 1"), "example.com/a:NoSchedule z.example.com/b:NoSchedule"},
		"a quota's prefix is none":     {needs("requests.example.com/gpu: 1"), ""},
		"a limit is no request":        {"containers: [{name: c, resources: {limits: {example.com/gpu: 1}}}]", ""},
		"init containers":              {"containers: [], initContainers: [{name: i, resources: {requests: {example.com/gpu: 1}}}]", "example.com/gpu:NoSchedule"},
		"tolerated already":            {needs("example.com/gpu: 1") + ", tolerations: [{key: example.com/gpu, operator: Exists, effect: NoSchedule}]", "example.com/gpu:NoSchedule"},
		"tolerated for another effect": {needs("example.com/gpu: 1") + ", tolerations: [{key: example.com/gpu, operator: Exists}]", "example.com/gpu: example.com/gpu:NoSchedule"},
		"everything tolerated already": {needs("example.com/gpu: 1") + ", tolerations: [{operator: Exists}]", ": example.com/gpu:NoSchedule"},
		"a container and an init one": {
			needs("cpu: 1, example.com/gpu: 1") + ", initContainers: [{name: i, resources: {requests: {memory: 1Gi, example.com/fpga: 1}}}]", "example.com/fpga:NoSchedule example.com/gpu:NoSchedule",
		},
		"the same in several containers": {"containers: [{name: c, resources: {requests: {example.com/gpu: 1}}}, {name: d, resources: {requests: {example.com/gpu: 2}}}]", "example.com/gpu:NoSchedule"},
	} {
		t.Run(name, func(t *testing.T) {
			s := karmada()
			s.ExtendedResourceToleration = true
			p := pod(t, c.spec)
			for _, created := range []bool{true, false} {
				require.NoError(t, admission.AdmitPod(p, created, nil, s))
				require.Equal(t, c.want, short(p.Spec.Tolerations))
			}
			replaced := pod(t, c.spec)
			require.NoError(t, admission.AdmitPod(replaced, false, nil, s))
			require.Equal(t, p, replaced, "one that replaces another is completed, too")
		})
	}
}

func TestWhatExtendedResourcesAddMustBeAllowed(t *testing.T) {
	s := karmada()
	s.PodTolerationRestriction, s.ExtendedResourceToleration = true, true
	p := pod(t, "containers: [{name: c, resources: {requests: {example.com/gpu: 1}}}]")
	allow := map[string]string{admission.AnnotationTolerationsWhitelist: `[{"key":"team","operator":"Exists"}]`}
	require.EqualError(t, admission.AdmitPod(p, true, allow, s), "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist")
	require.Empty(t, p.Spec.Tolerations)
}

// FuzzAdmitPod: whatever a namespace and a pod say, what is admitted once is admitted again as it is, and what covers a toleration tolerates
// all that Kubernetes' own matcher lets it tolerate.
func FuzzAdmitPod(f *testing.F) {
	f.Add(`[{"key":"a","operator":"Exists"}]`, `[{"operator":"Exists"}]`, `[{"key":"a","value":"b","effect":"NoExecute","tolerationSeconds":5}]`, "a", "b", true)
	f.Add(``, `[]`, `[{"operator":"Gt","key":"a","value":"3"},{"key":"a","operator":"Exists","effect":"NoSchedule"}]`, "a", "5", false)
	f.Add(`{`, `null`, `[{},{"value":"x"}]`, "", "x", true)
	f.Fuzz(func(t *testing.T, defaults, allowed, own, key, value string, burstable bool) {
		var tolerations []corev1.Toleration
		if json.Unmarshal([]byte(own), &tolerations) != nil {
			return
		}
		p := &corev1.Pod{Spec: corev1.PodSpec{Tolerations: tolerations, Containers: []corev1.Container{{}}}}
		if burstable {
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1"), "example.com/gpu": resource.MustParse("1")}
		}
		s := karmada()
		s.DefaultTolerationSeconds, s.PodTolerationRestriction, s.ExtendedResourceToleration = true, true, true
		annotations := map[string]string{admission.AnnotationDefaultTolerations: defaults, admission.AnnotationTolerationsWhitelist: allowed}
		before := p.DeepCopy()
		if admission.AdmitPod(p, true, annotations, s) != nil {
			require.Equal(t, before, p)
			return
		}
		once := p.DeepCopy()
		require.NoError(t, admission.AdmitPod(p, true, annotations, s))
		require.Equal(t, once, p)
		for i := range p.Spec.Tolerations {
			for j := range before.Spec.Tolerations {
				outer, inner := &p.Spec.Tolerations[i], &before.Spec.Tolerations[j]
				if !admission.Covers(outer, inner) {
					continue
				}
				for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
					taint := &corev1.Taint{Key: key, Value: value, Effect: effect}
					require.False(t, inner.ToleratesTaint(klog.Logger{}, taint, true) && !outer.ToleratesTaint(klog.Logger{}, taint, true), "%v covers %v", outer, inner)
				}
			}
		}
	})
}
