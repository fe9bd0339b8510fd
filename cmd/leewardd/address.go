package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// answersWithin is how long a daemon on the same machine may take to take a connection.
const answersWithin = time.Second

// addressFile is the file of the data folder in which a running daemon writes where it listens: the port that it has may
// be any, and its flags are not those of other commands.
func (o *options) addressFile() string { return filepath.Join(o.dataDir, "address") }

// noteAddress writes where the daemon listens. The caller must call forget when the daemon no longer listens.
func (o *options) noteAddress(address string) (forget func() error, err error) {
	file := o.addressFile()
	if err := os.WriteFile(file, []byte(address+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("write where the daemon listens: %w", err)
	}
	return func() error {
		if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}, nil
}

// listeningAt returns where the daemon of the data folder listens, if one does. A file that a killed daemon left behind
// says nothing: the address in it does not answer.
func (o *options) listeningAt() (host, port string, running bool) {
	text, err := os.ReadFile(o.addressFile())
	if err != nil {
		return "", "", false
	}
	address := strings.TrimSpace(string(text))
	if host, port, err = net.SplitHostPort(address); err != nil {
		return "", "", false
	}
	connection, err := net.DialTimeout("tcp", address, answersWithin)
	if err != nil {
		return "", "", false
	}
	return host, port, connection.Close() == nil
}

// reached is where clients reach the daemon: by what flags say of it, or else where it listens now, or else where the
// configuration has it listen.
func (c *configuration) reached() string {
	host, port := c.bindAddress, strconv.Itoa(c.securePort)
	if at, itsPort, running := c.listeningAt(); running {
		if c.sources["bindAddress"] != "--bind-address" {
			host = at
		}
		if c.sources["securePort"] != "--secure-port" || c.securePort == 0 {
			port = itsPort
		}
	}
	if address := net.ParseIP(host); address != nil && address.IsUnspecified() {
		host = append(c.tlsHosts, "127.0.0.1")[0]
	}
	return net.JoinHostPort(host, port)
}
