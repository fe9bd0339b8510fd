package admission_test

import "testing"

func TestPodDisruptionBudgets(t *testing.T) {
	budget := func(spec string) string { return "PodDisruptionBudget\nspec: {" + spec + "}\n" }
	for name, c := range map[string]struct{ text, want string }{
		"a number":                   {budget("minAvailable: 2, selector: {matchLabels: {app: web}}"), ""},
		"a percentage":               {budget("maxUnavailable: 25%, unhealthyPodEvictionPolicy: AlwaysAllow"), ""},
		"neither, and no selector":   {budget(""), ""},
		"both":                       {budget("minAvailable: 1, maxUnavailable: 1"), `spec.maxUnavailable: Forbidden: minAvailable and maxUnavailable cannot be both set`},
		"less than nothing":          {budget("minAvailable: -1"), `spec.minAvailable: Invalid value: -1: must be 0 or more`},
		"more than all":              {budget("maxUnavailable: 101%"), `spec.maxUnavailable: Invalid value: "101%": must be no more than 100%`},
		"a selector that is no such": {budget("selector: {matchExpressions: [{key: a, operator: Maybe}]}"), `spec.selector.matchExpressions[0].operator: Invalid value: "Maybe": not a valid selector operator`},
		"a policy that is no such":   {budget("unhealthyPodEvictionPolicy: Sometimes"), `spec.unhealthyPodEvictionPolicy: Unsupported value: "Sometimes": supported values: "AlwaysAllow", "IfHealthyBudget"`},
	} {
		t.Run(name, func(t *testing.T) { requireFindings(t, c.text, c.want, c.want) })
	}
}
