package incident

import (
	"slices"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/config"
	"leeward/runtime/scenario"
)

// ranWith is what an engine ran with, as its Governor says; false where it says nothing, or names what this version does
// not know.
func (c *conversion) ranWith(o api.Object) (profile string, overrides []config.Override, known bool) {
	g, is := o.(*api.Governor)
	if !is || g.Status.Profile == "" {
		return "", nil, false
	}
	for _, text := range g.Status.Settings {
		o, err := config.ParseOverride(text, c.incident.File)
		if err != nil {
			return "", nil, false
		}
		overrides = append(overrides, o)
	}
	_, problems := config.Resolve(g.Status.Profile, overrides)
	return g.Status.Profile, overrides, len(problems) == 0
}

// settle has the scenario begin with what the engine ran with at first, unless whoever recorded it said that.
func (c *conversion) settle() {
	s := c.scenario
	if s.Profile != "" || len(s.Config) > 0 {
		return
	}
	for _, o := range c.incident.Stood {
		if profile, overrides, known := c.ranWith(o); known {
			s.Profile, s.Config = profile, overrides
		}
	}
}

// settings changes those that the engine ran with otherwise from then on.
func (c *conversion) settings(n *Change) {
	profile, overrides, known := c.ranWith(n.Now)
	if !known {
		return
	}
	before, beforeThat, stood := c.ranWith(n.Before)
	if !stood {
		before, beforeThat = c.scenario.Profile, c.scenario.Config
	}
	was, is := resolved(before, beforeThat), resolved(profile, overrides)
	var changes []config.Override
	for _, change := range config.Changes(&was, &is) {
		if !slices.Contains(c.fixed, change.Field) {
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
