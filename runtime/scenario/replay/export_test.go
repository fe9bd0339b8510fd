package replay

import (
	"leeward/messages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/expect"
)

// EachInstant runs a scenario as Play does, and shows the world after each instant.
func EachInstant(s *scenario.Scenario, show func(*world.World, messages.Settings)) error {
	settings, problems := config.Resolve(s.Profile, s.Config)
	if len(problems) > 0 {
		return &world.Invalid{Problems: problems}
	}
	o := Options{Seed: s.Seed}
	r := &replay{
		scenario: s, start: world.Start, world: world.New(o.world(settings, s.Members, world.Start)), checker: expect.NewChecker(nil, world.Start),
		monitor: invariant.New(settings, s.Members), options: &o, outages: map[outageOf]int{}, disturbed: map[messages.ClusterName]bool{},
	}
	defer r.world.Close()
	if err := r.world.ApplyAll(s.Objects); err != nil {
		return err
	}
	if err := r.world.Settle(world.Start); err != nil {
		return err
	}
	last, _ := r.lastInstant(0)
	for now, more := world.Start, true; more && !now.After(last); now, more = r.next() {
		if err := r.instant(now); err != nil {
			return err
		}
		show(r.world, settings)
	}
	return nil
}
