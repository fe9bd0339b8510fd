package lint

import "slices"

// rules are all rules, in the order of their ids. docs/lint.md has the same table.
var rules []Rule

func init() {
	rules = slices.Concat(taintPolicyRules(), tolerationRules(), propagationRules(), placementRules(), fleetRules(), budgetRules(), settingRules(), staleRules(), scenarioRules())
	slices.SortFunc(rules, func(a, b Rule) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
}

// Rules returns all rules, in the order of their ids.
func Rules() []Rule { return slices.Clone(rules) }
