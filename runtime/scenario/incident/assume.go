package incident

import (
	"fmt"
	"strings"

	"leeward/messages"
	"leeward/messages/lists"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/journal"
)

// Assumptions are what a control plane is taken to have run with where neither its recording nor its Governor says so.
// A setting that is not named is taken to be the profile's.
type Assumptions struct {
	Profile string
	// Because says what speaks for the profile.
	Because  string
	Settings []Assumption
}

// Assumption is one setting, and what was seen that speaks for it.
type Assumption struct {
	Setting config.Override
	Because string
}

// Lines tells assumptions, one a line; none of nil.
func (a *Assumptions) Lines() []string {
	if a == nil {
		return nil
	}
	lines := []string{fmt.Sprintf("profile %s: %s", a.Profile, a.Because)}
	for _, s := range a.Settings {
		lines = append(lines, fmt.Sprintf("%s=%v: %s", s.Setting.Field, s.Setting.Value, s.Because))
	}
	return append(lines, "every other setting as in the profile; --profile and --set say what it really ran with")
}

func (a *Assumptions) overrides() []config.Override {
	return lists.Of(a.Settings, func(s Assumption) config.Override { return s.Setting })
}

// Assumed returns what the recorded control plane is taken to have run with; nil where that is known, or where no part of
// it is missing: the header has a setting, or a Governor tells all.
//
// Source: the names under which Karmada's components write, and the effects of its flags (--resource-eviction-rate,
// --graceful-eviction-timeout, --failover-eviction-timeout, --cluster-monitor-grace-period) on what was recorded.
func (i *Incident) Assumed() *Assumptions {
	if _, _, governed := i.governed(); governed || len(i.Config) > 0 {
		return nil
	}
	components := i.components()
	switch ofKarmada := strings.HasPrefix(i.Profile, "karmada"); {
	case i.Profile != "" && !ofKarmada:
		return nil
	case len(components) == 0 && !ofKarmada:
		return &Assumptions{Profile: config.Default, Because: "nothing says what was recorded"}
	}
	s := &signs{incident: i, taints: i.taintings(), tasks: i.tasks()}
	a := &Assumptions{Profile: i.Profile, Because: "the recording says so, and names no settings"}
	if a.Profile == "" {
		a.Profile, a.Because = "karmada", "it was written by "+strings.Join(components, " and ")
		if system := s.systemNoExecute(); system != nil {
			a.Profile = "karmada-legacy"
			a.Because += fmt.Sprintf(", which up to 1.13 evicts without a policy, as from %s at %s", system.cluster, journal.Clock(system.at))
		}
	}
	profile, _ := config.Profile(a.Profile) // one of the above, or one that the header names: an unknown one is told later
	for _, infer := range []func(*messages.Settings) *Assumption{
		s.allowsNoExecute, s.evicts, s.purgeMode, s.gracePeriod, s.evictionRate, s.failoverTimeout, s.monitorGrace, s.preservesState,
	} {
		if found := infer(&profile); found != nil {
			found.Setting.Source = i.File
			a.Settings = append(a.Settings, *found)
		}
	}
	return a
}

// components are those of a Karmada control plane that wrote what was recorded. Its agent may be another's, too.
func (i *Incident) components() (names []string) {
	for _, name := range []string{"karmada-controller-manager", "karmada-scheduler"} {
		if i.managers[name] {
			names = append(names, name)
		}
	}
	return names
}
