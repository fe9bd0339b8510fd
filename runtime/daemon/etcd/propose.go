package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"leeward/runtime/daemon/engine"
)

// Propose makes writes happen in one transaction.
func (s *Store) Propose(ctx context.Context, p *engine.Proposal) (int64, error) {
	answer, err := s.transact(ctx, s.conditions(p), s.changes(p), s.standing(p))
	switch {
	case err != nil:
		return 0, err
	case answer.Succeeded:
		return versionOf(answer.Header.Revision, len(p.Writes)-1), nil
	}
	return s.refusal(p, answer)
}

// transact makes changes where all conditions are met, and otherwise asks for something. The error is TooLarge or
// Unreachable.
func (s *Store) transact(ctx context.Context, conditions []clientv3.Cmp, changes, otherwise []clientv3.Op) (*clientv3.TxnResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	answer, err := s.client.Txn(ctx).If(conditions...).Then(changes...).Else(otherwise...).Commit()
	switch {
	case err == nil:
		return answer, nil
	case errors.Is(err, rpctypes.ErrRequestTooLarge), errors.Is(err, rpctypes.ErrTooManyOps), status.Code(err) == codes.ResourceExhausted:
		return nil, &engine.TooLarge{Cause: err}
	}
	return nil, &engine.Unreachable{Cause: err}
}

// conditions are that every object is as its writer has seen it, and, for a decision, that its leader leads.
func (s *Store) conditions(p *engine.Proposal) []clientv3.Cmp {
	all := make([]clientv3.Cmp, 0, len(p.Writes)+1)
	for i := range p.Writes {
		w := &p.Writes[i]
		all = append(all, clientv3.Compare(clientv3.ModRevision(s.objects()+w.Key), "=", revisionOf(w.Expected)))
	}
	if p.Term != 0 {
		all = append(all, clientv3.Compare(clientv3.ModRevision(s.leader()), "=", revisionOf(p.Term)))
	}
	return all
}

// changes are the writes, in their places, and what goes with them.
func (s *Store) changes(p *engine.Proposal) []clientv3.Op {
	all := make([]clientv3.Op, 0, len(p.Writes)+2)
	for i := range p.Writes {
		if w := &p.Writes[i]; w.Object == nil {
			all = append(all, clientv3.OpDelete(s.objects()+w.Key))
		} else {
			all = append(all, clientv3.OpPut(s.objects()+w.Key, valueOf(w, i)))
		}
	}
	if p.Leads {
		all = append(all, clientv3.OpPut(s.leader(), ""))
	}
	return append(all, clientv3.OpPut(s.head(), strconv.FormatUint(p.ID, 16)))
}

// standing asks for what the conditions were not met by: the head, the leader, and then the objects.
func (s *Store) standing(p *engine.Proposal) []clientv3.Op {
	all := make([]clientv3.Op, 0, len(p.Writes)+2)
	all = append(all, clientv3.OpGet(s.head()), clientv3.OpGet(s.leader()))
	for i := range p.Writes {
		all = append(all, clientv3.OpGet(s.objects()+p.Writes[i].Key, clientv3.WithKeysOnly()))
	}
	return all
}

// refusal says why a proposal failed: there is another leader, or else one object is not where it was seen.
func (s *Store) refusal(p *engine.Proposal, answer *clientv3.TxnResponse) (int64, error) {
	found := make([]int64, len(answer.Responses)) // revisions
	for i, r := range answer.Responses {
		if kvs := r.GetResponseRange().Kvs; len(kvs) > 0 {
			found[i] = kvs[0].ModRevision
		}
	}
	head, leader := versionOf(found[0], 0), found[1]
	if p.Term != 0 && leader != revisionOf(p.Term) {
		return head, &engine.Deposed{Term: p.Term, Current: versionOf(leader, 0)}
	}
	for i := range p.Writes {
		w := &p.Writes[i]
		if is := found[2+i]; is != revisionOf(w.Expected) {
			return head, &engine.Conflict{Key: w.Key, Expected: w.Expected, Actual: versionOf(is, 0)}
		}
	}
	return head, fmt.Errorf("etcd refused %d writes whose conditions are met", len(p.Writes)) // cannot be: it looked at both in one transaction
}
