package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"leeward/runtime/daemon/picture"
	"leeward/runtime/report/top"
)

// feed reads the live picture of a server.
type feed struct {
	host   string
	client *http.Client
}

func newFeed(config *rest.Config) (*feed, error) {
	config = rest.CopyConfig(config)
	config.Timeout = 0
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	return &feed{strings.TrimSuffix(server.String(), "/"), c}, nil
}

// anyPath is in what a Kubernetes API server answers to users without the right to a path, whether it has that or not. A leewardd does not.
const anyPath = "cannot get path"

// get asks for a path. An answer that is no success is an error in its words.
func (f *feed) get(ctx context.Context, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.host+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := f.client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }()
	var status metav1.Status
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<16))
	said := json.Unmarshal(text, &status) == nil && status.Message != ""
	switch {
	case answer.StatusCode == http.StatusNotFound, said && strings.Contains(status.Message, anyPath): // a right would not help
		return nil, errors.New("the server has no live page: it is another control plane, or a leewardd with --ui=false")
	case said:
		return nil, errors.New(status.Message)
	}
	return nil, fmt.Errorf("the server answers %s", answer.Status)
}

// explain asks why something is as it is.
func (f *feed) explain(ctx context.Context, kind, name string) ([]string, error) {
	answer, err := f.get(ctx, "/ui/data/explain?"+url.Values{"kind": {kind}, "name": {name}}.Encode())
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	var e struct {
		Lines []string `json:"lines"`
		Alone string   `json:"alone"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, longestMessage)).Decode(&e); err != nil {
		return nil, fmt.Errorf("read the explanation: %w", err)
	}
	if e.Alone != "" {
		e.Lines = append(e.Lines, "", e.Alone)
	}
	return e.Lines, nil
}

func (f *feed) connect(ctx context.Context) (*stream, error) {
	answer, err := f.get(ctx, "/ui/data/watch")
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, longestMessage)
	return &stream{body: answer.Body, lines: lines, known: &picture.Seen{}}, nil
}

// longestMessage is how long what a server says may be, in bytes.
const longestMessage = 8 << 20

// reconnecting paces attempts at a server that is lost: 0.5 to 1.5 s at first, 15 to 45 s in the end.
var reconnecting = wait.Backoff{Duration: time.Second / 2, Factor: 2, Jitter: 2, Steps: 10, Cap: 15 * time.Second}

// follow sends each picture, and connects again where there are no more, until its context is done.
func (f *feed) follow(ctx context.Context, s *stream, send func(tea.Msg)) {
	backoff := reconnecting
	for ctx.Err() == nil {
		p, err := s.next()
		if err == nil {
			send(top.Arrived{Picture: p, Now: time.Now()})
			backoff = reconnecting
			continue
		}
		_ = s.close()
		if !errors.Is(err, errRenew) {
			send(top.Lost{Err: err})
			if !pause(ctx, backoff.Step()) {
				return
			}
		}
		if s, err = f.connect(ctx); err != nil {
			s = &stream{failed: err}
		}
	}
}

// pause waits, and reports whether its context is not done.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// stream is what a server says, by server-sent events.
type stream struct {
	body  io.Closer
	lines *bufio.Scanner
	known *picture.Seen
	// failed is why there is none.
	failed error
}

// errRenew says that the server wants to be asked again.
var errRenew = errors.New("the server wants to be asked again")

// next is the next picture.
func (s *stream) next() (*top.Picture, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	event := ""
	for s.lines.Scan() {
		line := s.lines.Text()
		if name, is := strings.CutPrefix(line, "event: "); is {
			event = name
		}
		data, is := strings.CutPrefix(line, "data: ")
		switch {
		case !is:
		case event == "picture":
			if err := s.known.Take([]byte(data)); err != nil {
				return nil, fmt.Errorf("the server says what this leeward does not understand: %w", err)
			}
			return pictureOf(s.known), nil
		case strings.Contains(data, `"renew"`):
			return nil, errRenew
		case strings.Contains(data, `"slow"`):
			return nil, errors.New("the server dropped this viewer, which did not read in time")
		default:
			return nil, errors.New("the server stops")
		}
	}
	if err := s.lines.Err(); err != nil {
		return nil, err
	}
	return nil, io.ErrUnexpectedEOF
}

func (s *stream) close() error {
	if s.body == nil {
		return nil
	}
	return s.body.Close()
}
