package admission_test

import "testing"

func TestHolds(t *testing.T) {
	annotated := func(kind, annotations string) string {
		return kind + "\nmetadata: {name: a, annotations: {" + annotations + "}}\n"
	}
	const binding = "ResourceBinding\nspec: {resource: {apiVersion: v1, kind: ConfigMap, name: a}}"
	for name, c := range map[string]struct{ text, want string }{
		"a cluster may be held": {annotated("Cluster", `leeward.dev/hold-evictions: rack move`), ""},
		"until an instant": {
			annotated("Cluster", `leeward.dev/hold-evictions: rack move, leeward.dev/hold-until: "2026-01-31T18:00:00Z"`), "",
		},
		"for a reason": {
			annotated("Cluster", `leeward.dev/hold-evictions: " "`),
			`metadata.annotations[leeward.dev/hold-evictions]: Required value: must say why`,
		},
		"until an instant that is one": {
			annotated(binding, `leeward.dev/hold-evictions: migration, leeward.dev/hold-until: tomorrow`),
			`metadata.annotations[leeward.dev/hold-until]: Invalid value: "tomorrow": must be an instant in RFC 3339, as 2026-01-31T18:00:00Z`,
		},
		"an end is that of a hold": {
			annotated(binding, `leeward.dev/hold-until: "2026-01-31T18:00:00Z"`),
			`metadata.annotations[leeward.dev/hold-until]: Invalid value: "2026-01-31T18:00:00Z": goes with leeward.dev/hold-evictions`,
		},
		"a binding may be released": {annotated(binding, `leeward.dev/release-evictions: a customer waits`), ""},
		"for a reason, too": {
			annotated(binding, `leeward.dev/release-evictions: ""`),
			`metadata.annotations[leeward.dev/release-evictions]: Required value: must say why`,
		},
		"a cluster may not be released": {
			annotated("Cluster", `leeward.dev/release-evictions: hurry`),
			`metadata.annotations[leeward.dev/release-evictions]: Invalid value: "hurry": is for bindings`,
		},
		"what leaves a cluster may exceed budgets": {annotated("Cluster", `leeward.dev/exceed-budget: ticket 7`), ""},
		"for a reason that is one": {
			annotated("Cluster", `leeward.dev/exceed-budget: ""`),
			`metadata.annotations[leeward.dev/exceed-budget]: Required value: must say why`,
		},
		"the governor may be paused": {"Governor\nmetadata: {name: fleet}\nspec: {pause: {reason: network}}\n", ""},
		"for a reason as well": {
			"Governor\nmetadata: {name: fleet}\nspec: {pause: {until: 2026-01-31T18:00:00Z}}\n",
			`spec.pause.reason: Required value: must say why`,
		},
		"there is one governor": {
			"Governor\nmetadata: {name: eu}\n", `metadata.name: Invalid value: "eu": there is one, fleet`,
		},
	} {
		t.Run(name, func(t *testing.T) { requireFindings(t, c.text, c.want, c.want) })
	}
}
