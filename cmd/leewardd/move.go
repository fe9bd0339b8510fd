package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"

	"leeward/cmd/internal/exitcode"
	"leeward/cmd/internal/logging"
	"leeward/runtime/daemon/engine/wal"
	"leeward/runtime/daemon/etcd"
	"leeward/runtime/daemon/leadership"
)

// Where a fleet can be moved.
const (
	toEtcd   = "etcd"
	toFolder = "folder"
)

// moveCommand moves a fleet between the data folder and etcd.
func moveCommand(line *commandLine) *cobra.Command {
	m := move{out: io.Discard}
	to := ""
	c := &cobra.Command{
		Use:   "move --to (etcd | folder) --etcd-servers URL,...",
		Short: "Move the fleet from the data folder to etcd, or back",
		Long: "move copies all objects from the store in the data folder to etcd, or from etcd to such a store, unchanged, with their\n" +
			"uids, generations, status and times, so that no deadline moves. Only resource versions start again, and clients list again.\n" +
			"No daemon may run on either meanwhile. The source remains unchanged: do not start a daemon on it again.\n\n" +
			"Repeat a move that was killed: a daemon does not start on an incomplete copy.",
		Example: "  leewardd move --to etcd --etcd-servers https://10.0.0.1:2379\n" +
			"  leewardd move --to folder --etcd-servers https://10.0.0.1:2379 --data-dir back.data",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			configured, err := line.read()
			if err != nil {
				return err
			}
			m.configuration, m.out = configured, c.OutOrStdout()
			return m.to(c.Context(), to)
		},
	}
	c.Flags().StringVar(&to, "to", "", "target of the move: etcd or folder")
	c.Flags().BoolVar(&m.replace, "replace", false, "replace an existing fleet: objects in etcd are deleted, a store in the folder is renamed to store.replaced")
	if err := c.MarkFlagRequired("to"); err != nil {
		panic(fmt.Sprintf("leewardd: %v", err)) // it was defined above
	}
	return c
}

// move is a fleet on its way.
type move struct {
	*configuration
	replace bool
	out     io.Writer
}

func (m *move) to(ctx context.Context, where string) error {
	if where != toEtcd && where != toFolder {
		return invalid("--to: %q is not one of etcd, folder", where)
	}
	logging.HearLibraries(zerolog.Nop()) // the error says it
	shared, err := m.openEtcd(clock.New())
	if err != nil {
		return err
	}
	if shared == nil {
		return invalid("move needs --etcd-servers: a fleet moves between the data folder and etcd")
	}
	if where == toEtcd {
		err = m.toEtcd(ctx, shared)
	} else {
		err = m.toFolder(ctx, shared)
	}
	return errors.Join(err, shared.Close())
}

// toEtcd moves what the folder holds. It has the folder open meanwhile, so that no daemon has.
func (m *move) toEtcd(ctx context.Context, s *etcd.Store) error {
	dir := m.storeDir()
	switch exists, err := wal.Exists(dir); {
	case err != nil:
		return err
	case !exists:
		return fmt.Errorf("%s: %w", dir, wal.ErrNoStore)
	}
	log, state, err := wal.Open(dir, wal.Options{})
	if err != nil {
		return err
	}
	if err = m.unled(ctx, s); err == nil {
		err = s.Fill(ctx, m.replace, state.Records)
	}
	if err := errors.Join(told(err), log.Close()); err != nil {
		return fmt.Errorf("move to etcd: %w", err)
	}
	return m.tell(len(state.Records), "etcd", dir)
}

// unled says that no daemon leads what will be replaced.
func (m *move) unled(ctx context.Context, s *etcd.Store) error {
	if !m.replace {
		return nil
	}
	state, err := s.Load(ctx)
	if errors.Is(err, etcd.ErrPartial) {
		return nil
	}
	return errors.Join(err, led(&state, time.Now()))
}

// told adds how to say that a fleet may be replaced.
func told(err error) error {
	if errors.As(err, new(*etcd.NotEmpty)) {
		return fmt.Errorf("%w: use another --etcd-prefix, or --replace to delete them", err)
	}
	return err
}

// toFolder moves what etcd holds.
func (m *move) toFolder(ctx context.Context, s *etcd.Store) error {
	state, err := s.Load(ctx)
	if err == nil {
		err = led(&state, time.Now())
	}
	if err != nil {
		return fmt.Errorf("move to the folder: %w", err)
	}
	dir := m.storeDir()
	exists, err := wal.Exists(dir)
	switch {
	case err == nil && exists && !m.replace:
		err = fmt.Errorf("%s: %w: use another --data-dir, or --replace to rename it", dir, wal.ErrExists)
	case err == nil && exists:
		err = wal.SetAside(dir, dir+".replaced")
	}
	if err == nil {
		err = wal.Create(dir, state.Records)
	}
	if err != nil {
		return fmt.Errorf("move to the folder: %w", err)
	}
	return m.tell(len(state.Records), dir, "etcd")
}

func (m *move) tell(objects int, to, from string) error {
	_, err := fmt.Fprintf(m.out, "moved: %d objects to %s; %s still has them: do not start a daemon there again\n", objects, to, from)
	return err
}

// led says which daemon leads, as the Lease among the objects says it; nil if none does.
func led(state *wal.State, now time.Time) error {
	for i := range state.Records {
		if state.Records[i].Key != leadership.Key {
			continue
		}
		lease := &coordinationv1.Lease{}
		if err := json.Unmarshal(state.Records[i].Object, lease); err != nil {
			return fmt.Errorf("read the Lease of the leader: %w", err)
		}
		if leader, until := leadership.Holder(lease); now.Before(until) {
			return &exitcode.Exit{Code: exitcode.Failed, Err: fmt.Errorf("%s is the leader, until %s at least: stop all daemons", leader, until.Format(time.RFC3339))}
		}
	}
	return nil
}
