package etcdtest

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Line leads to an etcd, and can be cut.
type Line struct {
	listener net.Listener
	to       string

	mu   sync.Mutex
	cut  bool
	open []net.Conn
}

// Through returns a line to an etcd, which is there until the test ends.
func Through(t testing.TB, server string) *Line {
	t.Helper()
	l := &Line{to: strings.TrimPrefix(server, "http://")}
	var err error
	l.listener, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go l.accept()
	t.Cleanup(func() {
		require.NoError(t, l.listener.Close())
		l.Cut(true)
	})
	return l
}

// Server is the address of the etcd through the line.
func (l *Line) Server() string { return "http://" + l.listener.Addr().String() }

// Cut ends what goes through, and lets nothing through until it is mended.
func (l *Line) Cut(is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = is
	for _, c := range l.open {
		_ = c.Close()
	}
	l.open = nil
}

func (l *Line) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.to)
		if err != nil {
			_ = near.Close()
			continue
		}
		l.mu.Lock()
		l.open = append(l.open, near, far)
		l.mu.Unlock()
		if l.isCut() {
			l.Cut(true)
			continue
		}
		go func() { _, _ = io.Copy(near, far) }()
		go func() { _, _ = io.Copy(far, near) }()
	}
}

func (l *Line) isCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}
