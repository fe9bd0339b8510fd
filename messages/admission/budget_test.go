package admission_test

import "testing"

func TestBudgets(t *testing.T) {
	budget := func(spec string) string { return "EvictionBudget\nspec: {" + spec + "}\n" }
	wide := func(spec string) string { return "ClusterEvictionBudget\nspec: {" + spec + "}\n" }
	for name, c := range map[string]struct{ text, want string }{
		"a number":                   {budget("minAvailable: 3"), ""},
		"a percentage":               {budget("maxUnavailable: 25%"), ""},
		"moves alone":                {budget("maxMoved: {replicas: 10%, windowSeconds: 600}"), ""},
		"for each workload":          {budget("minAvailable: 1, maxMoved: {replicas: 0, windowSeconds: 1}, perWorkload: true"), ""},
		"a tier of some namespaces":  {wide("workloads: {namespaces: [shop], labelSelector: {matchLabels: {a: b}}, minPriority: 5, maxPriority: 5}, minAvailable: 100%"), ""},
		"no bound":                   {budget(""), `spec: Required value: a budget needs minAvailable, maxUnavailable or maxMoved`},
		"two bounds":                 {budget("minAvailable: 1, maxUnavailable: 1"), `spec.maxUnavailable: Forbidden: may not be set together with minAvailable`},
		"less than nothing":          {budget("minAvailable: -1"), `spec.minAvailable: Invalid value: -1: must be 0 or more`},
		"more than all":              {budget("maxUnavailable: 101%"), `spec.maxUnavailable: Invalid value: "101%": must be no more than 100%`},
		"a share without its sign":   {budget("minAvailable: '0.5'"), `spec.minAvailable: Invalid value: "0.5": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`},
		"no window":                  {budget("maxMoved: {replicas: 1}"), `spec.maxMoved.windowSeconds: Invalid value: 0: must be more than 0`},
		"moves of no number":         {budget("maxMoved: {replicas: -2, windowSeconds: 1}"), `spec.maxMoved.replicas: Invalid value: -2: must be 0 or more`},
		"another's namespace":        {budget("minAvailable: 1, workloads: {namespaces: [bank]}"), `spec.workloads.namespaces: Forbidden: an EvictionBudget is about its own namespace; a ClusterEvictionBudget may name others`},
		"a namespace that is none":   {wide("minAvailable: 1, workloads: {namespaces: ['']}"), `spec.workloads.namespaces[0]: Invalid value: "": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`},
		"a tier upside down":         {wide("minAvailable: 1, workloads: {minPriority: 2, maxPriority: 1}"), `spec.workloads.maxPriority: Invalid value: 1: must be no less than minPriority`},
		"a selector that is no such": {budget("minAvailable: 1, workloads: {labelSelector: {matchExpressions: [{key: a, operator: Maybe}]}}"), `spec.workloads.labelSelector.matchExpressions[0].operator: Invalid value: "Maybe": not a valid selector operator`},
	} {
		t.Run(name, func(t *testing.T) { requireFindings(t, c.text, c.want, c.want) })
	}
}
