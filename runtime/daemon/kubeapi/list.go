package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"

	"leeward/runtime/daemon/engine"
)

// GetList copies the objects under a key, or the one at it, into a list. Items share what they point to with the
// engine: a list is only ever written out.
func (s *tableStorage) GetList(ctx context.Context, key string, opts storage.ListOptions, list runtime.Object) error {
	key, err := storage.PrepareKey(s.prefix, key, opts.Recursive)
	if err != nil {
		return err
	}
	version, from, err := storage.ValidateListOptions(key, s.APIObjectVersioner, opts)
	if err != nil {
		return err
	}
	if version == 0 && opts.Predicate.Continue == "" {
		if err := s.reached(ctx, opts.ResourceVersion); err != nil {
			return err
		}
	}
	snapshot, err := s.at(ctx, version)
	if err != nil {
		return listError(err, opts.Predicate.Continue != "", from, key)
	}
	p, err := pageOf(list, opts.Predicate)
	if err != nil {
		return err
	}
	p.shown = s.shown
	if s.codec != nil {
		p.word = "" // its texts are those of the table
	}
	if opts.Recursive {
		p.fill(snapshot, key, from)
	} else if o := snapshot.Get(key); o != nil {
		p.add(key, o)
	}
	if p.failed != nil {
		return p.failed
	}
	return s.finish(p, list, key, snapshot.Version, opts)
}

// at returns the table as it was at a version, 0 for now.
func (s *tableStorage) at(ctx context.Context, version int64) (engine.Snapshot, error) {
	if version == 0 {
		return s.table.Snapshot(), nil
	}
	if err := s.await(ctx, version); err != nil {
		return engine.Snapshot{}, err
	}
	return s.table.At(version)
}

// page is a part of a list.
type page struct {
	items   reflect.Value
	selects storage.SelectionPredicate
	// word is one that occurs in the text of all that is selected; "" where none is known.
	word string
	// shown is an object of the table as the list has it.
	shown  func(engine.Object) (engine.Object, error)
	last   string
	more   bool
	walked int64
	failed error
}

func pageOf(list runtime.Object, selects storage.SelectionPredicate) (*page, error) {
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		return nil, fmt.Errorf("list into a %T: %w", list, err)
	}
	v := reflect.ValueOf(items).Elem()
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	return &page{items: v, selects: selects, word: wordIn(selects)}, nil
}

// fill takes what is selected, in the order of keys, until the page is full; then it counts the rest, if all of it
// would be taken.
func (p *page) fill(snapshot engine.Snapshot, prefix, from string) {
	for key, o := range p.candidates(snapshot, prefix, from) {
		p.walked++
		if p.selects.Limit > 0 && int64(p.items.Len()) >= p.selects.Limit {
			p.more = true
			if p.selects.Empty() {
				p.walked += snapshot.Count(prefix, key)
			}
			return
		}
		p.add(key, o)
	}
}

// candidates are the objects from which the page selects.
func (p *page) candidates(snapshot engine.Snapshot, prefix, from string) iter.Seq2[string, engine.Object] {
	if p.word != "" {
		return snapshot.Mentioning(prefix, from, p.word)
	}
	return snapshot.Under(prefix, from)
}

func (p *page) add(key string, o engine.Object) {
	p.last = key
	o, err := p.shown(o)
	if err != nil {
		p.failed = err
		return
	}
	if matched, err := p.selects.Matches(o); err == nil && matched {
		p.items.Set(reflect.Append(p.items, reflect.ValueOf(o).Elem()))
	}
}

// finish says on the list of which version it is, and how it goes on.
func (s *tableStorage) finish(p *page, list runtime.Object, prefix string, version int64, opts storage.ListOptions) error {
	token, remaining, err := storage.PrepareContinueToken(p.last, prefix, version, p.walked, p.more, opts)
	if err != nil {
		return fmt.Errorf("continue a list after %s: %w", p.last, err)
	}
	return s.UpdateList(list, uint64(version), token, remaining)
}

// listError says why a list cannot be had at a version, in words that clients look for. One that went on from an
// earlier page can go on at the present version.
func listError(err error, continued bool, from, prefix string) error {
	ahead, expired := new(engine.Ahead), new(engine.Expired)
	switch {
	case errors.As(err, &ahead):
		return storage.NewTooLargeResourceVersionError(uint64(ahead.Version), uint64(ahead.Current), 0)
	case !errors.As(err, &expired):
		return err
	case !continued:
		return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	}
	gone := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. " +
		"List again, or go on with the continue parameter of this answer and see what has changed meanwhile.")
	if token, err := storage.EncodeContinue(from, prefix, -1); err == nil {
		gone.ErrStatus.ListMeta.Continue = token
	}
	return gone
}

func badVersion(err error) error {
	return apierrors.NewBadRequest(fmt.Sprintf("invalid resource version: %v", err))
}
