package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// told is a server of a live picture that says what a test gives it.
type told struct {
	*httptest.Server
	kubeconfig string
	// events are what viewers are told next.
	events chan string
	// asked has the requests.
	asked chan string
}

const firstPicture = `{"format":"leeward.dev/live","version":1,"at":"2026-01-01T00:00:00Z",
"totals":{"clusters":{"all":2,"ready":2},"workloads":{"settled":1,"scheduled":1},"replicas":{"placed":4,"available":4},"evictions":{"scheduled":1}},
"governor":{"state":"Normal","profile":"leeward"},
"clusters":{"m1":{"region":"eu","ready":"True","taints":["down:NoExecute"],"taintCount":1,"workloads":1,"replicas":2,"available":2,"evictions":{"scheduled":1}},
"m2":{"region":"us","ready":"True","workloads":1,"replicas":2,"available":2,"evictions":{}}},
"evictions":{"shop/web m1":{"namespace":"shop","name":"web","cluster":"m1","state":"Scheduled","deadline":"2026-01-01T00:05:00.000000Z","taint":"down:NoExecute","policy":"p"}}}`

func tells(t *testing.T) *told {
	t.Helper()
	s := &told{events: make(chan string, 10), asked: make(chan string, 10)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked <- r.URL.RequestURI()
		if r.URL.Path == "/ui/data/explain" {
			_ = json.NewEncoder(w).Encode(map[string]any{"lines": []string{"explain: " + r.URL.Query().Get("name"), strings.Repeat("because ", 20) + "so"}})
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case e := <-s.events:
				_, _ = fmt.Fprint(w, e)
				_ = http.NewResponseController(w).Flush()
				if strings.HasPrefix(e, "event: end") {
					return
				}
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(s.CloseClientConnections)
	t.Cleanup(s.Close)
	s.kubeconfig = kubeconfigOf(t, s.URL)
	return s
}

// says has viewers told a message.
func (s *told) says(message string) {
	s.events <- "event: picture\ndata: " + strings.ReplaceAll(message, "\n", " ") + "\n\n"
}

func TestTheFleetOfAServerIsShownAsItChanges(t *testing.T) {
	server := tells(t)
	server.says(firstPicture)
	s := onTerminal(t, []string{"KUBECONFIG=" + server.kubeconfig}, "top")
	s.sees("2 clusters · 1 not Ready or tainted · 2 workloads · 4 replicas · 4 available", "shop/web", "eviction scheduled", "policy           p")
	server.says(`{"at":"2026-01-01T00:05:00Z","clusters":{"m2":null},"totals":{"clusters":{"all":1},"workloads":{"blocked":1},"replicas":{"placed":4,"available":2},"evictions":{"blocked":1}},
"governor":{"state":"Slowed","rate":0.1,"pause":{"reason":"maintenance"}},
"evictions":{"shop/web m1":{"namespace":"shop","name":"web","cluster":"m1","state":"Blocked","reason":"EvictionRate","message":"the fleet is limited"}}}`)
	s.sees("blocked", "the fleet is limited", "paused: maintenance", "fleet: Slowed, 0.1 evictions/s", "shop/web blocked from m1: the fleet is limited", "2 available")
	s.press(",")
	s.sees("rewound by 5m", "m2", "in 5m")
	s.press("G")
	s.sees("paused: maintenance")

	s.press("\r")
	s.sees("WHY shop/web from m1", "message          the fleet is limited", "explain: shop/web", "because so")
	require.Equal(t, "/ui/data/watch", <-server.asked)
	require.Equal(t, "/ui/data/explain?kind=binding&name=shop%2Fweb", <-server.asked)
	s.press("\x1b")
	s.sees("TRANSCRIPT")

	server.events <- "event: end\ndata: {\"reason\":\"renew\"}\n\n" // is asked again
	require.Equal(t, "/ui/data/watch", <-server.asked)
	server.says(strings.Replace(firstPicture, "00:00:00Z", "00:06:00Z", 1))
	s.sees("m2", "shop/web eviction scheduled from m1")
	server.events <- "event: end\ndata: {\"reason\":\"stopping\"}\n\n"
	s.sees("not connected: the server stops", "m2")
	require.Equal(t, "/ui/data/watch", <-server.asked)
	server.says(`{"format":"leeward.dev/live","version":1,"at":"2026-01-01T00:07:00Z","totals":{"clusters":{"all":0}}}`)
	s.sees("0 clusters")
	s.press("q")
	require.Zero(t, s.ends())
}

func TestTopSaysWhyItShowsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		answers func(http.ResponseWriter)
		code    int
		says    string
	}{
		"no page": {func(w http.ResponseWriter) { w.WriteHeader(404) }, 1, "the server has no live page: it is another control plane, or a leewardd with --ui=false"},
		"no right": {func(w http.ResponseWriter) {
			w.WriteHeader(403)
			_, _ = fmt.Fprint(w, `{"kind":"Status","message":"user \"ada\" must be allowed to list clusters"}`)
		}, 1, `user "ada" must be allowed to list clusters`},
		"no page, and no right to it": {func(w http.ResponseWriter) {
			w.WriteHeader(403)
			_, _ = fmt.Fprint(w, `{"kind":"Status","status":"Failure","message":"forbidden: User \"ada\" cannot get path \"/ui/data/watch\"","reason":"Forbidden","code":403}`)
		}, 1, "the server has no live page: it is another control plane, or a leewardd with --ui=false"},
		"no status":  {func(w http.ResponseWriter) { w.WriteHeader(500) }, 1, "the server answers 500 Internal Server Error"},
		"no picture": {func(w http.ResponseWriter) { _, _ = fmt.Fprint(w, "event: picture\ndata: {\n\n") }, 1, "the server says what this leeward does not understand: "},
		"another version": {func(w http.ResponseWriter) {
			_, _ = fmt.Fprint(w, "event: picture\ndata: {\"format\":\"leeward.dev/live\",\"version\":2}\n\n")
		}, 1, "it is leeward.dev/live version 2, this is for leeward.dev/live version 1"},
		"an end": {func(w http.ResponseWriter) { _, _ = fmt.Fprint(w, "event: end\ndata: {\"reason\":\"slow\"}\n\n") }, 1, "the server dropped this viewer"},
		"a line too long": {func(w http.ResponseWriter) {
			_, _ = fmt.Fprint(w, "event: picture\ndata: "+strings.Repeat("x", longestMessage)+"\n\n")
		}, 1, "token too long"},
		"silence": {func(http.ResponseWriter) {}, 1, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { c.answers(w) }))
			t.Cleanup(server.Close)
			var out, log bytes.Buffer
			require.Equal(t, c.code, execute([]string{"top", "--once", "--kubeconfig", kubeconfigOf(t, server.URL)}, &out, &log), log.String())
			require.Contains(t, log.String(), c.says)
			require.Empty(t, out.String())
		})
	}
	var out, log bytes.Buffer
	require.Equal(t, exitInvalid, execute([]string{"top"}, &out, &log))
	require.Contains(t, log.String(), "leeward top needs a terminal; --once prints the fleet as it is")
	require.Equal(t, exitInvalid, execute([]string{"top", "--once", "--kubeconfig", "nowhere"}, &out, &log))
	require.Contains(t, log.String(), "nowhere")
}
