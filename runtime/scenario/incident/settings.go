package incident

import (
	"cmp"
	"slices"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
)

// ranWith is what an engine ran with, as its Governor says; false where it says nothing, or names what this version does
// not know.
func (i *Incident) ranWith(o api.Object) (profile string, overrides []config.Override, known bool) {
	g, is := o.(*api.Governor)
	if !is || g.Status.Profile == "" {
		return "", nil, false
	}
	for _, text := range g.Status.Settings {
		o, err := config.ParseOverride(text, i.File)
		if err != nil {
			return "", nil, false
		}
		overrides = append(overrides, o)
	}
	_, problems := config.Resolve(g.Status.Profile, overrides)
	return g.Status.Profile, overrides, len(problems) == 0
}

// settle has the scenario begin with the settings that the engine ran with at first: those of the header, those of its
// Governor, or those that are assumed.
func (c *conversion) settle() {
	s := c.scenario
	if profile, overrides, governed := c.incident.governed(); governed && s.Profile == "" && len(s.Config) == 0 {
		s.Profile, s.Config = profile, overrides
	}
	if a := c.incident.Assumed(); a != nil {
		s.Profile, s.Config = a.Profile, a.overrides()
	}
	replayed := resolved(cmp.Or(c.under.Profile, s.Profile), slices.Concat(s.Config, c.under.Set))
	c.reserves = replayed.CapacityReservation
}

// governed is what a Governor says that the engine ran with at first; false where none says it.
func (i *Incident) governed() (profile string, overrides []config.Override, known bool) {
	for _, o := range i.Stood {
		if profile, overrides, known = i.ranWith(o); known {
			break
		}
	}
	return profile, overrides, known
}

// settings changes those that the engine ran with otherwise from then on.
func (c *conversion) settings(n *ObjectChange) {
	profile, overrides, known := c.incident.ranWith(n.Now)
	if !known {
		return
	}
	before, beforeThat, existing := c.incident.ranWith(n.Before)
	if !existing {
		before, beforeThat = c.scenario.Profile, c.scenario.Config
	}
	was, is := resolved(before, beforeThat), resolved(profile, overrides)
	var changes []config.Override
	for _, change := range config.Changes(&was, &is) {
		fixed := func(o config.Override) bool { return o.Field == change.Field }
		if !slices.ContainsFunc(c.under.Set, fixed) {
			changes = append(changes, config.Override{Field: change.Field, Value: change.To, Source: c.incident.File})
		}
	}
	if len(changes) > 0 {
		c.step(c.at, &scenario.Config{Settings: changes})
	}
}

// resolved are settings that were found to be without problems, or, of a header, will be.
func resolved(profile string, overrides []config.Override) messages.Settings {
	s, _ := config.Resolve(profile, overrides)
	return s
}
