package simulation_test

import (
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/actors/rules/storm"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
	"leeward/runtime/storm/simulation"
)

// planting makes a fault for one run of a case.
type planting func(*simulation.Case) world.Tamper

// each makes a fault that depends on nothing but the message.
func each(does func(to messages.Address, m messages.Message) []messages.Message) planting {
	return func(*simulation.Case) world.Tamper {
		return func(_ time.Time, to messages.Address, m messages.Message) []messages.Message { return does(to, m) }
	}
}

// lost loses messages of a type that meet a condition.
func lost[M messages.Message](when func(M) bool) planting {
	return each(func(_ messages.Address, m messages.Message) []messages.Message {
		if m, is := m.(M); is && when(m) {
			return nil
		}
		return []messages.Message{m}
	})
}

// wrong changes a copy of each message of a type.
func wrong[T any, M interface {
	*T
	messages.Message
}](change func(M)) planting {
	return each(func(_ messages.Address, m messages.Message) []messages.Message {
		if given, is := m.(M); is {
			c := *given
			change(&c)
			return []messages.Message{M(&c)}
		}
		return []messages.Message{m}
	})
}

// only plants a fault into machines of one kind.
func only(kind messages.Kind, fault planting) planting {
	return func(c *simulation.Case) world.Tamper {
		does := fault(c)
		return func(now time.Time, to messages.Address, m messages.Message) []messages.Message {
			if to.Kind == kind {
				return does(now, to, m)
			}
			return []messages.Message{m}
		}
	}
}

func always[M any](M) bool { return true }

// twice repeats messages of a type.
func twice[M messages.Message]() planting {
	return each(func(_ messages.Address, m messages.Message) []messages.Message {
		if _, is := m.(M); is {
			return []messages.Message{m, m}
		}
		return []messages.Message{m}
	})
}

var plenty = resource.MustParse("1000Gi")

// place is one copy.
type place struct {
	binding messages.BindingName
	cluster messages.ClusterName
}

// believed has each copy be healthy as it was last told to run.
func believed(*simulation.Case) world.Tamper {
	told := map[place]*messages.RunCopy{}
	return func(_ time.Time, to messages.Address, m messages.Message) []messages.Message {
		switch given := m.(type) {
		case *messages.RunCopy:
			told[place{given.Binding, messages.ClusterName(to.Name)}] = given
		case *messages.CopyReported:
			if last := told[place{messages.BindingName(to.Name), given.Cluster}]; last != nil {
				c := *given
				c.Health, c.Ready, c.ForPlacement = api.Healthy, last.Replicas, last.Placement
				return []messages.Message{&c}
			}
		}
		return []messages.Message{m}
	}
}

// outdated has a report of a healthy copy of an older placement be taken for one of what it was told to run since.
func outdated(*simulation.Case) world.Tamper {
	told := map[place]*messages.RunCopy{}
	return func(_ time.Time, to messages.Address, m messages.Message) []messages.Message {
		switch given := m.(type) {
		case *messages.RunCopy:
			told[place{given.Binding, messages.ClusterName(to.Name)}] = given
		case *messages.CopyReported:
			last := told[place{messages.BindingName(to.Name), given.Cluster}]
			if last != nil && given.Health == api.Healthy && given.ForPlacement < last.Placement {
				c := *given
				c.Ready, c.ForPlacement = last.Replicas, last.Placement
				return []messages.Message{&c}
			}
		}
		return []messages.Message{m}
	}
}

// surplus has more replicas serve wherever some do than are to run.
func surplus(shares []messages.ServingShare) []messages.ServingShare {
	shares = slices.Clone(shares)
	for i := range shares {
		if shares[i].Serving > 0 {
			shares[i].Serving += 3
		}
	}
	return shares
}

// overtaken has a report that a copy is healthy arrive once more after one that it is not, and be believed of what runs
// by then.
func overtaken(*simulation.Case) world.Tamper {
	well := map[place]*messages.CopyReported{}
	return func(_ time.Time, to messages.Address, m messages.Message) []messages.Message {
		given, is := m.(*messages.CopyReported)
		if !is {
			return []messages.Message{m}
		}
		of := place{messages.BindingName(to.Name), given.Cluster}
		if given.Health == api.Healthy {
			well[of] = given
		} else if older := well[of]; older != nil {
			c := *older
			c.ForPlacement = given.ForPlacement
			return []messages.Message{given, &c}
		}
		return []messages.Message{m}
	}
}

// reused has a binding that once had a permit take that for another where it is to wait.
func reused(*simulation.Case) world.Tamper {
	had := map[string]bool{}
	return func(_ time.Time, to messages.Address, m messages.Message) []messages.Message {
		switch given := m.(type) {
		case *messages.EvictionPermitted:
			had[to.Name] = true
		case *messages.EvictionDelayed:
			if had[to.Name] {
				return []messages.Message{m, &messages.EvictionPermitted{Cluster: given.Cluster}}
			}
		}
		return []messages.Message{m}
	}
}

// asleep has bindings not wake where nothing but the time has come.
func asleep(*simulation.Case) world.Tamper {
	heard := map[string]time.Time{}
	return func(now time.Time, to messages.Address, m messages.Message) []messages.Message {
		if _, wakes := m.(*messages.Woken); wakes && to.Kind == messages.KindBinding && !heard[to.Name].Equal(now) {
			return nil
		}
		heard[to.Name] = now
		return []messages.Message{m}
	}
}

// ignoring has machines of one kind go by other settings than the rest, until they start again.
func ignoring(kind messages.Kind, change func(*messages.Settings)) planting {
	return func(c *simulation.Case) world.Tamper {
		told := map[messages.Address]bool{}
		return func(_ time.Time, to messages.Address, m messages.Message) []messages.Message {
			if to.Kind != kind || told[to] {
				return []messages.Message{m}
			}
			told[to] = true
			settings := settingsOf(c)
			change(&settings)
			return []messages.Message{&messages.SettingsChanged{Settings: settings}, m}
		}
	}
}

// untold has bindings not hear of taints that are as they were, but for when they were added.
func untold(*simulation.Case) world.Tamper {
	told := map[place]*messages.TaintsChanged{}
	return func(_ time.Time, to messages.Address, m messages.Message) []messages.Message {
		given, is := m.(*messages.TaintsChanged)
		if !is || to.Kind != messages.KindBinding {
			return []messages.Message{m}
		}
		of := place{messages.BindingName(to.Name), given.Cluster}
		last := told[of]
		if len(given.Taints) > 0 {
			told[of] = given
		}
		if last == nil || !slices.EqualFunc(last.Taints, given.Taints, sameTaint) {
			return []messages.Message{m}
		}
		same := *given
		same.Taints = last.Taints
		return []messages.Message{&same}
	}
}

func sameTaint(a, b corev1.Taint) bool { return a.MatchTaint(&b) && a.Value == b.Value }

// disarmed has bindings whose tolerations were edited not wake for that, until they hear of taints.
func disarmed(*simulation.Case) world.Tamper {
	given, edited := map[string]*api.PropagationSpec{}, map[string]bool{}
	return func(_ time.Time, to messages.Address, m messages.Message) []messages.Message {
		switch m := m.(type) {
		case *messages.ClaimMade:
			old := given[to.Name]
			edited[to.Name] = old != nil && !reflect.DeepEqual(old.Placement.ClusterTolerations, m.Spec.Placement.ClusterTolerations)
			given[to.Name] = m.Spec
		case *messages.TaintsChanged:
			edited[to.Name] = false
		case *messages.Woken:
			if to.Kind == messages.KindBinding && edited[to.Name] {
				return nil
			}
		}
		return []messages.Message{m}
	}
}

// uncounted has bindings count on to the deadlines that they had by their tolerations of before, where those are edited: they
// are told so much older or younger a taint as its toleration is longer or shorter. What is placed again goes by the tolerations
// of the placement, as Karmada does.
func uncounted(c *simulation.Case) world.Tamper {
	by, told := map[string][]corev1.Toleration{}, map[place]*messages.TaintsChanged{}
	edits := map[string]*api.PropagationSpec{}
	immediately := settingsOf(c).TolerationSource == messages.SourcePlacement
	return func(_ time.Time, to messages.Address, m messages.Message) []messages.Message {
		all := []messages.Message{m}
		switch given := m.(type) {
		case *messages.TaintsChanged:
			if to.Kind == messages.KindBinding {
				told[place{messages.BindingName(to.Name), given.Cluster}] = given
			}
			return all
		case *messages.ClaimMade:
			edits[to.Name] = given.Spec
			if !immediately {
				return all
			}
		case *messages.PlacementDecided:
			if immediately {
				return all
			}
		default:
			return all
		}
		if edits[to.Name] == nil {
			return all
		}
		before, now := by[to.Name], edits[to.Name].Placement.ClusterTolerations
		by[to.Name] = now
		delete(edits, to.Name)
		for of, last := range told { // order-free: a binding hears of one cluster of each
			if string(of.binding) != to.Name {
				continue
			}
			if taints, differ := recounted(last.Taints, before, now); differ {
				as := *last
				as.Taints, as.News = taints, false
				all = append(all, &as)
			}
		}
		return all
	}
}

// recounted are taints that last as long by some tolerations as they did by others, where both tolerate them for a time.
func recounted(taints []corev1.Taint, before, now []corev1.Toleration) (as []corev1.Taint, differ bool) {
	as = slices.Clone(taints)
	for i := range as {
		was, is := lasts(&as[i], before), lasts(&as[i], now)
		if was != nil && is != nil && *was != *is && as[i].TimeAdded != nil {
			as[i].TimeAdded = &metav1.Time{Time: as[i].TimeAdded.Add(time.Duration(*was-*is) * time.Second)}
			differ = true
		}
	}
	return as, differ
}

// lasts is for how many seconds the first toleration that covers a taint does; nil: there is none, or it does for good.
func lasts(t *corev1.Taint, tolerations []corev1.Toleration) *int64 {
	for i := range tolerations {
		if taint.Tolerates(&tolerations[i], t, false) {
			return tolerations[i].TolerationSeconds
		}
	}
	return nil
}

// stormy has the rate of a storm replace that of the settings, also where this is stricter: while so many clusters are unhealthy
// that evictions are slowed down, the governor goes by no other.
func stormy(c *simulation.Case) world.Tamper {
	unhealthy, clusters := map[messages.ClusterName]bool{}, map[messages.ClusterName]bool{}
	slowed := false
	settings := settingsOf(c)
	return func(now time.Time, to messages.Address, m messages.Message) []messages.Message {
		given, is := m.(*messages.ClusterObserved)
		if !is || to.Kind != messages.KindGovernor {
			return []messages.Message{m}
		}
		clusters[given.Cluster] = true
		delete(unhealthy, given.Cluster)
		if given.Unhealthy {
			unhealthy[given.Cluster] = true
		}
		verdict := storm.Judge(storm.Regime{}, len(unhealthy), len(clusters), storm.Thresholds{
			Unhealthy: settings.UnhealthyClusterThreshold, Large: settings.LargeFleetSize,
			Secondary: settings.SecondaryEvictionRate, Blackout: settings.BlackoutThreshold,
		}, now)
		if limited := verdict.Limited && verdict.PerSecond > 0; limited != slowed {
			slowed = limited
			next := settings
			if limited {
				next.FleetEvictionRate = max(next.FleetEvictionRate, verdict.PerSecond)
			}
			return []messages.Message{m, &messages.SettingsChanged{Settings: next}}
		}
		return []messages.Message{m}
	}
}

// settingsOf are the settings of a case, where it is valid.
func settingsOf(c *simulation.Case) messages.Settings {
	s, err := c.Scenario()
	if err != nil {
		return messages.Settings{} // the run says so
	}
	settings, _ := config.Resolve(s.Profile, s.Config)
	return settings
}

// forgetful has a binding that comes back know nothing of the last task that was written.
func forgetful(m *messages.BindingApplied) {
	if tasks := m.Spec.GracefulEvictionTasks; m.Recovered && len(tasks) > 0 {
		spec := *m.Spec
		spec.GracefulEvictionTasks = tasks[:len(tasks)-1]
		m.Spec = &spec
	}
}

// clockStep is when, by the engine's clock, that is set, and by how much.
type clockStep struct {
	at time.Time
	by time.Duration
}

func clockSteps(c *simulation.Case) (steps []clockStep) {
	s, err := c.Scenario()
	if err != nil {
		return nil // the run says so
	}
	offset := time.Duration(0)
	for i := range s.Timeline {
		if clock, is := s.Timeline[i].Action.(*scenario.Clock); is {
			steps = append(steps, clockStep{world.Start.Add(s.Timeline[i].At + offset), clock.By})
			offset += clock.By
		}
	}
	return steps
}

// stepping has deadlines move with the clock of the engine where that is set, as timers would that were armed for a span.
func stepping(c *simulation.Case) world.Tamper {
	steps, told := clockSteps(c), map[string][]*messages.TaintsChanged{}
	return func(now time.Time, to messages.Address, m messages.Message) []messages.Message {
		if given, is := m.(*messages.TaintsChanged); is {
			others := slices.DeleteFunc(told[to.Name], func(o *messages.TaintsChanged) bool { return o.Cluster == given.Cluster })
			told[to.Name] = append(others, given)
		}
		var all []messages.Message
		if _, due := m.(*messages.Woken); due && to.Kind == messages.KindBinding {
			for _, last := range told[to.Name] {
				moved := *last
				moved.Taints, moved.News = shifted(last.Taints, now, steps), false
				all = append(all, &moved)
			}
		}
		return append(all, m)
	}
}

// shifted are taints that were added before the clock was set, by so much later or earlier.
func shifted(taints []corev1.Taint, now time.Time, steps []clockStep) []corev1.Taint {
	taints = slices.Clone(taints)
	for i := range taints {
		added := taints[i].TimeAdded
		for _, s := range steps {
			if added != nil && added.Time.Before(s.at) && !now.Before(s.at) {
				added = &metav1.Time{Time: added.Add(s.by)}
			}
		}
		taints[i].TimeAdded = added
	}
	return taints
}

// older are taints that were added a minute earlier.
func older(taints []corev1.Taint) []corev1.Taint {
	taints = slices.Clone(taints)
	for i := range taints {
		if added := taints[i].TimeAdded; added != nil {
			taints[i].TimeAdded = &metav1.Time{Time: added.Add(-time.Minute)}
		}
	}
	return taints
}

// loosened are budgets that let one replica more go than they say.
func loosened(budgets []messages.Budget) []messages.Budget {
	more := func(n *intstr.IntOrString, by int32) *intstr.IntOrString {
		if n == nil || n.Type == intstr.String {
			return n
		}
		return new(intstr.FromInt32(n.IntVal + by))
	}
	budgets = slices.Clone(budgets)
	for i := range budgets {
		spec := *budgets[i].Spec
		spec.MinAvailable, spec.MaxUnavailable = more(spec.MinAvailable, -1), more(spec.MaxUnavailable, 1)
		if spec.MaxMoved != nil {
			moved := *spec.MaxMoved
			moved.Replicas = *more(&moved.Replicas, 1)
			spec.MaxMoved = &moved
		}
		budgets[i].Spec = &spec
	}
	return budgets
}
