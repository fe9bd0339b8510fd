package actorstest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/actors/actorstest"
	"leeward/messages"
)

// echo is a machine that tells a cluster what happens to it, and sleeps as long as it is told.
type echo struct{ heard []string }

func (e *echo) Receive(now time.Time, m messages.ToGovernor, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.RequestEviction:
		e.heard = append(e.heard, "request")
		out.WakeAt(m.Since)
	case *messages.WithdrawRequest:
		e.heard = append(e.heard, "withdraw")
		out.Record(&messages.ClusterRemoved{Cluster: m.Cluster})
		out.TellCluster(m.Cluster, &messages.ContactRestored{})
	case *messages.Woken:
		e.heard = append(e.heard, "woken "+now.Sub(actorstest.Start).String())
	}
}

func sleepUntil(at time.Time) messages.ToGovernor { return &messages.RequestEviction{Since: at} }

func TestTimePassesAndAlarmsFireOnTheWay(t *testing.T) {
	e := &echo{}
	d := actorstest.Drive(t, e)
	d.Tell(sleepUntil(actorstest.Start.Add(time.Second))).Quiet().WakesIn(time.Second)
	d.Advance(time.Second - 1)
	require.Equal(t, []string{"request"}, e.heard)
	d.Advance(time.Hour).Quiet().Sleeps()
	require.Equal(t, []string{"request", "woken 1s"}, e.heard)
	require.Equal(t, actorstest.Start.Add(time.Hour+time.Second-1), d.Now())
}

func TestAnAlarmFiresWhenItsInstantIsQuiet(t *testing.T) {
	e := &echo{}
	d := actorstest.Drive(t, e)
	d.Tell(sleepUntil(d.Now()), &messages.WithdrawRequest{Cluster: "m1"})
	require.Equal(t, []string{"request", "withdraw", "woken 0s"}, e.heard)

	e.heard = nil
	d.Tell(sleepUntil(d.Now().Add(time.Second)))
	d.Approach(time.Second)
	d.Tell(&messages.WithdrawRequest{Cluster: "m1"})
	require.Equal(t, []string{"request", "withdraw", "woken 1s"}, e.heard)
}

func TestAStepShowsWhatItCameTo(t *testing.T) {
	m1 := messages.Address{Kind: messages.KindCluster, Name: "m1"}
	d := actorstest.Drive(t, &echo{})
	d.Tell(&messages.WithdrawRequest{Cluster: "m1"}).
		Recorded(&messages.ClusterRemoved{Cluster: "m1"}).
		Told(m1, &messages.ContactRestored{}).
		Told(messages.Address{Kind: messages.KindCluster, Name: "m2"})
	require.Len(t, actorstest.FactsOf[*messages.ClusterRemoved](d.Facts()), 1)
	require.Empty(t, actorstest.FactsOf[*messages.ClusterLeaving](d.Facts()))
	require.Len(t, d.Mail(), 1)
	d.QuietFor(time.Hour)
}

func TestMachinesOfANetworkWriteToOneAnother(t *testing.T) {
	governor, cluster := messages.Address{Kind: messages.KindGovernor}, messages.Address{Kind: messages.KindCluster, Name: "m1"}
	g, c := &echo{}, &listener{}
	n := actorstest.NewNetwork(t, nil)
	actorstest.Join(n, governor, g)
	actorstest.Join(n, cluster, c)
	n.Post(governor, &messages.WithdrawRequest{Cluster: "m1"}, &messages.WithdrawRequest{Cluster: "m2"})
	n.Advance(0).Told(messages.Address{Kind: messages.KindCluster, Name: "m2"}, &messages.ContactRestored{})
	require.Equal(t, 1, c.heard, "mail for the network stays in it")
}

func TestAlarmsOfOneInstantFireKindByKind(t *testing.T) {
	governor, cluster := messages.Address{Kind: messages.KindGovernor}, messages.Address{Kind: messages.KindCluster, Name: "m1"}
	g, c := &echo{}, &listener{sleep: time.Second}
	n := actorstest.NewNetwork(t, nil)
	actorstest.Join(n, governor, g)
	actorstest.Join(n, cluster, c)
	n.Post(cluster, &messages.ContactRestored{})
	n.Post(governor, sleepUntil(n.Now().Add(time.Second)))
	n.Advance(0).WakesIn(time.Second)
	c.peer = g
	n.Advance(time.Second)
	require.Equal(t, 1, c.peerHeard, "the cluster was woken while the governor still slept")
	require.Len(t, g.heard, 2)
}

// listener is a cluster that counts what it hears and may sleep once; woken, it looks at its peer.
type listener struct {
	heard     int
	sleep     time.Duration
	peer      *echo
	peerHeard int
}

func (l *listener) Receive(now time.Time, m messages.ToCluster, out *actors.Outbox) {
	l.heard++
	if l.sleep > 0 {
		out.WakeAt(now.Add(l.sleep))
		l.sleep = 0
	}
	if _, woken := m.(*messages.Woken); woken {
		l.peerHeard = len(l.peer.heard)
	}
}

func TestEveryWayGoesEveryWayOnce(t *testing.T) {
	var ways [][2]int
	actorstest.EveryWay(func(choose actorstest.Choose) {
		first := choose(2)
		second := 0
		if first == 1 {
			second = choose(3)
		}
		ways = append(ways, [2]int{first, second})
	})
	require.Equal(t, [][2]int{{0, 0}, {1, 0}, {1, 1}, {1, 2}}, ways)
}

func TestInterleavingKeepsTheOrderOfEachSender(t *testing.T) {
	orders := map[string]bool{}
	actorstest.EveryWay(func(choose actorstest.Choose) {
		order := ""
		for _, word := range actorstest.Interleave(choose, []string{"a", "b"}, []string{"x"}) {
			order += word
		}
		orders[order] = true
	})
	require.Equal(t, map[string]bool{"abx": true, "axb": true, "xab": true}, orders)

	count := 0
	actorstest.EveryWay(func(choose actorstest.Choose) {
		require.Len(t, actorstest.Interleave(choose, actorstest.Alone(1, 2, 3, 4)...), 4)
		count++
	})
	require.Equal(t, 24, count)
}

func TestAnOutcomeForgetsTheOrder(t *testing.T) {
	outcome := func(clusters ...messages.ClusterName) actorstest.Outcome {
		d := actorstest.Drive(t, &echo{})
		for _, c := range clusters {
			d.Post(messages.Address{Name: "the machine"}, &messages.WithdrawRequest{Cluster: c})
		}
		return d.Advance(0).Outcome()
	}
	require.Equal(t, outcome("m1", "m2", "m1"), outcome("m2", "m1", "m1"))
	require.NotEqual(t, outcome("m1", "m2"), outcome("m1", "m2", "m1"), "a fact more")
}
