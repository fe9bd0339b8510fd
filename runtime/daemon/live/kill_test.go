package live

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

// outage is a fixture that lives through random troubles, and is killed on the way as often as kills says: immediately,
// between a decision and its commit, or between that and the commit of what follows from it.
type outage struct {
	*fixture
	random *rand.Rand
	kills  func() bool
	// succeed has another fleet go on where this one was.
	succeed func()
}

var troubled = []string{"m1", "m2", "m3"}

// act has something happen, and lets the fleet act.
func (o *outage) act() {
	o.t.Helper()
	cluster, what := troubled[o.random.IntN(len(troubled))], o.random.IntN(7)
	seconds := time.Duration(1+o.random.IntN(200)) * time.Second
	replicas := int32(1 + o.random.IntN(4))
	switch what {
	case 0:
		edit(o.fixture, member(cluster), func(c *api.Cluster) {
			if taint.Find(c.Spec.Taints, failed.Key, failed.Effect) < 0 {
				c.Spec.Taints = append(c.Spec.Taints, failed)
			}
		})
	case 1:
		edit(o.fixture, member(cluster), func(c *api.Cluster) {
			c.Spec.Taints, _ = taint.Remove(c.Spec.Taints, failed.Key, failed.Effect)
		})
	case 2, 3:
		status := []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionTrue}[what-2]
		edit(o.fixture, member(cluster), func(c *api.Cluster) {
			meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
				Type: api.ConditionReady, Status: status, Reason: "Tested", LastTransitionTime: metav1.Time{Time: o.clock.Now().Truncate(time.Second)},
			})
		})
	case 4:
		o.write(deployment(replicas, "nginx:1"))
	case 5:
		o.agents()
	case 6:
		o.killed()
		o.pass(seconds)
	}
	o.killed()
	require.NoError(o.t, o.step())
	o.killed()
}

// killed ends the process, perhaps: what was decided and not committed is lost, or what follows from it.
func (o *outage) killed() {
	o.t.Helper()
	if !o.kills() {
		return
	}
	o.take()
	require.NoError(o.t, o.settle())
	if o.kills() {
		r := &relay{fleet: o.Fleet}
		o.flushDecisions(o.world.Store().Changed(), r)
		require.NoError(o.t, r.end())
	}
	o.succeed()
}

// agents have every agent do what its Works say, until there is nothing left to do.
func (o *outage) agents() {
	o.t.Helper()
	for again := true; again; {
		again = false
		require.NoError(o.t, o.step())
		for _, w := range all[*api.Work](o.fixture, catalog.Works) {
			again = o.obeys(w) || again
		}
	}
}

// state is what is stored, taints with their times.
func (o *outage) state() string {
	var words []string
	for _, name := range troubled {
		for _, t := range get(o.fixture, member(name)).Spec.Taints {
			words = append(words, fmt.Sprintf("%s %s:%s %s", name, t.Key, t.Effect, t.TimeAdded))
		}
	}
	status := get(o.fixture, deployment(2, "")).Status
	return strings.Join(append(words, placed(o.fixture), fmt.Sprintf("%d of %d", status.ReadyReplicas, status.Replicas)), "\n")
}

// live lives through the troubles of a seed, and returns where it ends.
func (o *outage) live() string {
	o.t.Helper()
	o.apply(member("m1"), member("m2"), member("m3"), tolerant(120), deployment(2, "nginx:1"))
	o.agents()
	for range 25 {
		o.act()
	}
	for range 3 {
		o.agents()
		o.pass(10 * time.Minute)
	}
	o.agents()
	return o.state()
}

// troubles are those of a seed, with kills or without.
func troubles(f *fixture, seed uint64, kills bool) *outage {
	dice := rand.New(rand.NewPCG(seed, 7))
	return &outage{
		fixture: f, random: rand.New(rand.NewPCG(seed, 1)), kills: func() bool { return kills && dice.IntN(3) == 0 }, succeed: f.restart,
	}
}

// TestAKillChangesNothing lives through the same troubles twice, once with kills at random points: what was
// acknowledged is there each time, and both end in the same place with the same times.
func TestAKillChangesNothing(t *testing.T) {
	seeds := 100
	if testing.Short() {
		seeds = 20
	}
	for seed := range uint64(seeds) {
		ends := map[bool]string{}
		for _, kills := range []bool{false, true} {
			o := troubles(newFixture(t), seed, kills)
			ends[kills] = o.live()
			o.Close()
			require.NoError(t, o.engine.Close())
		}
		require.Equal(t, ends[false], ends[true], "seed %d", seed)
	}
}
