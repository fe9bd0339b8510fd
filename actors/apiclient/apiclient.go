// Package apiclient is the machine of one client of the API server. The client serves requests in the order of their arrival, as fast as
// its rate limiter permits: client-go's token bucket, one for all verbs. The evictions of many pods therefore read all pods first, then
// mark all, and then delete all. The Events of evictions are requests, too, but one waits at a time: the next one queues behind all requests that
// wait when it is written.
package apiclient

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
)

// Limits are those of --kube-api-qps and --kube-api-burst.
type Limits struct {
	// QPS is how many requests a second the client makes in the long run. Zero: there is no limit.
	QPS float64
	// Burst is how many it makes in the same step after a rest. Zero is one.
	Burst int
}

// Client is one client of the API server.
type Client struct {
	// interval is the time in which the bucket gains one token, slack that in which it gains all but one; full is when the bucket
	// will be full again.
	interval, slack time.Duration
	full            time.Time
	// arrived are the requests of this instant, queue all earlier ones, in order; nil is one that writes an Event. events are the Events that
	// are not written yet.
	arrived, queue []*messages.RequestAsked
	events         int
	// withdrawn are the last attempts whose requests were withdrawn in this instant.
	withdrawn map[messages.PodName]int
	refused   map[messages.APIVerb]string
}

// New returns a client with a full bucket.
func New(l Limits) *Client {
	c := &Client{withdrawn: map[messages.PodName]int{}, refused: map[messages.APIVerb]string{}}
	if l.QPS > 0 {
		c.interval = time.Duration(min(float64(time.Second)/l.QPS, longest))
		c.slack = time.Duration(min(float64(max(l.Burst, 1)-1)*float64(c.interval), longest))
	}
	return c
}

// longest, about 146 years, is the most that the bucket counts with, so that no sum of two such times wraps.
const longest = float64(1 << 62)

// Receive routes a message to its transition.
func (c *Client) Receive(now time.Time, m messages.ToAPIClient, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.RequestAsked:
		c.arrived = append(c.arrived, m)
	case *messages.RequestWithdrawn:
		c.withdrawn[m.Pod] = max(c.withdrawn[m.Pod], m.Attempt)
	case *messages.RequestsRefused:
		c.refuse(m)
	case *messages.Woken:
		c.serve(now, out)
	default:
		panic(fmt.Sprintf("API client: unknown message %T", m))
	}
	out.WakeAt(c.next(now))
}

func (c *Client) refuse(m *messages.RequestsRefused) {
	if m.Error == "" {
		delete(c.refused, m.Verb)
	} else {
		c.refused[m.Verb] = m.Error
	}
}

// serve takes in what arrived at this instant, in an order that does not depend on that of the messages, and serves what has a token.
func (c *Client) serve(now time.Time, out *actors.Outbox) {
	slices.SortFunc(c.arrived, func(a, b *messages.RequestAsked) int {
		return cmp.Or(cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Verb, b.Verb))
	})
	c.announce()
	c.queue = append(c.queue, c.arrived...)
	c.arrived = nil
	c.withdraw()
	for len(c.queue) > 0 && !c.token().After(now) {
		m := c.queue[0]
		c.queue[0], c.queue = nil, c.queue[1:]
		if c.full.Before(now) {
			c.full = now
		}
		c.full = c.full.Add(c.interval)
		if m != nil {
			out.TellPodEviction(m.Pod, &messages.RequestServed{Verb: m.Verb, Attempt: m.Attempt, Error: c.refused[m.Verb]})
		} else if c.events--; c.events > 0 {
			c.queue = append(c.queue, nil)
		}
	}
}

// announce counts the Events of the evictions that begin, and queues the first where none waits: an Event is written before its eviction begins.
// Without a limit none needs to wait.
func (c *Client) announce() {
	if c.interval == 0 {
		return
	}
	waits := c.events > 0
	for _, m := range c.arrived {
		if m.Event {
			c.events++
		}
	}
	if !waits && c.events > 0 {
		c.queue = append(c.queue, nil)
	}
}

// withdraw drops what was taken back, whether it waited or arrived in this instant. What was served before has its token spent.
func (c *Client) withdraw() {
	if len(c.withdrawn) == 0 {
		return
	}
	c.queue = slices.DeleteFunc(c.queue, func(m *messages.RequestAsked) bool { return m != nil && m.Attempt <= c.withdrawn[m.Pod] })
	clear(c.withdrawn)
}

// token is when the bucket has a token.
func (c *Client) token() time.Time { return c.full.Add(-c.slack) }

// next is when the client must serve again; zero: no request waits.
func (c *Client) next(now time.Time) time.Time {
	switch {
	case len(c.arrived) > 0, len(c.withdrawn) > 0:
		return now
	case len(c.queue) > 0:
		return c.token()
	}
	return time.Time{}
}
