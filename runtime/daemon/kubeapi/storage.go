package kubeapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/benbjohnson/clock"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"

	"leeward/runtime/daemon/engine"
)

// tableStorage is what Kubernetes' server keeps objects in: one table of an engine. Keys are the engine's. What is
// handed out is a copy, for the server writes to it; what is taken is copied, for the engine keeps it.
type tableStorage struct {
	engine *engine.Engine
	table  *engine.Table
	prefix string
	fresh  func() engine.Object
	clock  clock.Clock
	shares sharing
	limits *limits
	// codec is set where Kubernetes' server has objects otherwise than the table: it writes and reads the text of those of the table.
	codec runtime.Codec
	storage.APIObjectVersioner
}

// shown is an object of the table as Kubernetes' server has it, to be read; nil is nil.
func (s *tableStorage) shown(o engine.Object) (engine.Object, error) {
	if s.codec == nil || o == nil {
		return o, nil
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", o.GetName(), err)
	}
	read, _, err := s.codec.Decode(text, nil, s.fresh())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", o.GetName(), err)
	}
	return read.(engine.Object), nil
}

var _ storage.Interface = (*tableStorage)(nil)

// Versioner returns how versions are written on objects.
func (s *tableStorage) Versioner() storage.Versioner { return s.APIObjectVersioner }

// ReadinessCheck has nothing to wait for: an engine that is open can be read.
func (s *tableStorage) ReadinessCheck() error { return nil }

// RequestWatchProgress has nothing to ask for: watchers know how far they are.
func (s *tableStorage) RequestWatchProgress(context.Context) error { return nil }

// EnableResourceSizeEstimation does nothing: counts are what priority and fairness estimates the work of a list by.
func (s *tableStorage) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }

// CompactRevision returns the version up to which nothing is known of what changed.
func (s *tableStorage) CompactRevision() int64 { return s.table.Oldest() }

// Stats counts objects.
func (s *tableStorage) Stats(context.Context) (storage.Stats, error) {
	if s.codec != nil { // a part of a table
		return storage.Stats{ObjectCount: s.table.Snapshot().Count(s.prefix, "")}, nil
	}
	return storage.Stats{ObjectCount: int64(s.table.Len())}, nil
}

// GetCurrentResourceVersion returns the latest version.
func (s *tableStorage) GetCurrentResourceVersion(ctx context.Context) (uint64, error) {
	err := s.reached(ctx, "")
	return uint64(s.engine.Version()), err
}

// Get copies an object into out.
func (s *tableStorage) Get(ctx context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	key, err := storage.PrepareKey(s.prefix, key, false)
	if err != nil {
		return err
	}
	if err := s.reached(ctx, opts.ResourceVersion); err != nil {
		return err
	}
	o, version := s.table.Get(key)
	o, err = s.shown(o)
	switch {
	case err != nil:
		return err
	case o != nil:
		return s.handOut(o, version, out)
	case opts.IgnoreNotFound:
		return runtime.SetZeroValue(out)
	default:
		return storage.NewKeyNotFoundError(key, 0)
	}
}

// reachesWithin is how long a reader waits for a version that he has from another replica. Source: kube-apiserver.
const reachesWithin = 3 * time.Second

// reached returns when the store is as a reader wants it: up to date, where he names no version, or at that which he has
// from elsewhere. It refuses one that is not reached soon.
func (s *tableStorage) reached(ctx context.Context, version string) error {
	if version == "" {
		return asStatus(s.engine.Fresh(ctx))
	}
	wanted, err := s.ParseResourceVersion(version)
	if err != nil {
		return badVersion(err)
	}
	if err := s.await(ctx, int64(wanted)); err != nil {
		return err
	}
	if current := uint64(s.engine.Version()); wanted > current {
		return storage.NewTooLargeResourceVersionError(wanted, current, 0)
	}
	return nil
}

// await waits for a version, as long as there is hope.
func (s *tableStorage) await(ctx context.Context, version int64) error {
	if s.engine.Version() >= version {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reachesWithin)
	defer cancel()
	if err := s.engine.Reach(ctx, version); !errors.As(err, new(*engine.Ahead)) {
		return asStatus(err)
	}
	return nil
}

// handOut copies an object into out, as of a version.
func (s *tableStorage) handOut(o engine.Object, version int64, out runtime.Object) error {
	into := reflect.ValueOf(out)
	if into.Kind() != reflect.Pointer || into.Type() != reflect.TypeOf(o) {
		return fmt.Errorf("copy a %T into a %T", o, out)
	}
	into.Elem().Set(reflect.ValueOf(copied(o)).Elem())
	return s.UpdateObject(out, uint64(version))
}

// copied returns a copy as Kubernetes' server has objects within: it knows their kind from their type, and compares
// them without.
func copied(o engine.Object) engine.Object {
	c := o.DeepCopyObject().(engine.Object)
	if _, untyped := c.(*unstructured.Unstructured); !untyped {
		c.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return c
}

// Create puts an object where there is none.
func (s *tableStorage) Create(_ context.Context, key string, o, out runtime.Object, ttl uint64) error {
	key, err := storage.PrepareKey(s.prefix, key, false)
	if err != nil {
		return err
	}
	if version, err := s.ObjectResourceVersion(o); err == nil && version != 0 {
		return storage.ErrResourceVersionSetOnCreate
	}
	stored, err := s.toKeep(o)
	if err != nil {
		return err
	}
	version, err := s.commit(engine.Create(key, stored).For(seconds(ttl)))
	if conflict := new(engine.Conflict); errors.As(err, &conflict) {
		return storage.NewKeyExistsError(key, 0)
	}
	if err != nil || out == nil {
		return err
	}
	if stored, err = s.shown(stored); err != nil {
		return err
	}
	return s.handOut(stored, version, out)
}

// commit makes a write happen.
func (s *tableStorage) commit(w engine.Write) (int64, error) {
	version, err := s.engine.CommitVersion(w)
	return version, asStatus(err)
}

// asStatus tells the server's clients what only they can do about it. A store that takes no more writes, or does not
// answer, is for them one that is not there.
func asStatus(err error) error {
	stuck, silent, large := new(engine.ReadOnly), new(engine.Unreachable), new(engine.TooLarge)
	switch {
	case errors.As(err, &stuck), errors.As(err, &silent), errors.Is(err, engine.ErrClosed):
		return apierrors.NewServiceUnavailable(err.Error())
	case errors.As(err, &large):
		return apierrors.NewRequestEntityTooLargeError(err.Error())
	}
	return err
}

// toKeep returns a copy of an object, as the table has it, without what only clients see of it.
func (s *tableStorage) toKeep(o runtime.Object) (engine.Object, error) {
	kept := o.DeepCopyObject().(engine.Object)
	if err := s.PrepareObjectForStorage(kept); err != nil {
		return nil, fmt.Errorf("keep a %T: %w", o, err)
	}
	if s.codec == nil {
		return kept, nil
	}
	text, err := runtime.Encode(s.codec, kept)
	if err != nil {
		return nil, fmt.Errorf("keep a %T: %w", o, err)
	}
	written := &unstructured.Unstructured{}
	if err := written.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("keep a %T: %w", o, err)
	}
	return written, nil
}

func seconds(n uint64) time.Duration {
	return time.Duration(min(n, math.MaxInt64/uint64(time.Second))) * time.Second
}

// Delete removes an object that passes the preconditions and the validation, and copies it into out with the
// version of its deletion. Who only wants to delete what cannot be read is refused: a start has read all that there is.
func (s *tableStorage) Delete(
	ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, suggested runtime.Object, opts storage.DeleteOptions,
) error {
	key, err := storage.PrepareKey(s.prefix, key, false)
	if err != nil {
		return err
	}
	return s.try(ctx, key, false, suggested, func(is *original) error {
		if err := preconditions.Check(key, is.object); err != nil {
			return err
		}
		if err := validate(ctx, is.object); err != nil {
			return err
		}
		if opts.ExpectTransformOrDecodeError {
			return storage.NewInvalidObjError(key, "the object can be read: it is deleted as any other")
		}
		version, err := s.commit(engine.Delete(key, is.version))
		if err != nil {
			return err
		}
		return s.handOut(is.object, version, out)
	})
}

// GuaranteedUpdate replaces an object by what update makes of it, until no other writer has changed it meanwhile. One
// that update leaves as it is is not written.
func (s *tableStorage) GuaranteedUpdate(
	ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, suggested runtime.Object,
) error {
	key, err := storage.PrepareKey(s.prefix, key, false)
	if err != nil {
		return err
	}
	end, err := s.limits.write(ctx, key)
	if err != nil {
		return err
	}
	defer end()
	return s.try(ctx, key, ignoreNotFound, suggested, func(is *original) error {
		if err := preconditions.Check(key, is.object); err != nil {
			return err
		}
		updated, ttl, err := s.limits.compute(ctx, func() (runtime.Object, *uint64, error) {
			return update(copied(is.object), storage.ResponseMeta{ResourceVersion: uint64(is.version)})
		})
		if err != nil {
			return err
		}
		next, err := s.toKeep(updated)
		if err != nil {
			return err
		}
		if is.version != 0 && unchanged(next, is.stored) {
			if !is.current {
				return errStale
			}
			return s.handOut(is.object, is.version, out)
		}
		write := engine.Update(key, next, is.version)
		if ttl != nil {
			write = write.For(seconds(*ttl))
		}
		version, err := s.commit(write)
		if err != nil {
			return err
		}
		if next, err = s.shown(next); err != nil {
			return err
		}
		return s.handOut(next, version, out)
	})
}

// unchanged reports whether an object says what the stored one says, whatever its version. It changes the former.
func unchanged(next, is engine.Object) bool {
	next.SetResourceVersion(is.GetResourceVersion())
	next.GetObjectKind().SetGroupVersionKind(is.GetObjectKind().GroupVersionKind())
	return equality.Semantic.DeepEqual(next, is)
}

// original is an object as a writer sees it.
type original struct {
	object engine.Object
	// stored is the object as the table has it.
	stored engine.Object
	// version is 0 for an object that is not there, which is empty then.
	version int64
	// current is false for one that the caller has suggested and that may be out of date.
	current bool
}

// errStale says that an attempt must be made with the object as it is stored.
var errStale = errors.New("the object may be out of date")

// try attempts a change until it is made, or fails of the object as it is stored, or the request is cut off. An attempt
// that fails of a suggested object is only believed if that is the stored one.
func (s *tableStorage) try(ctx context.Context, key string, ignoreNotFound bool, suggested runtime.Object, attempt func(*original) error) error {
	is, err := s.suggested(suggested)
	if is == nil && err == nil {
		is, err = s.find(ctx, key, ignoreNotFound)
	}
	for err == nil {
		failed := attempt(is)
		conflict := new(engine.Conflict)
		lost := errors.As(failed, &conflict)
		if failed == nil || is.current && !lost {
			return failed
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		was := is.version
		if is, err = s.find(ctx, key, ignoreNotFound); err == nil && is.version == was && !lost && !errors.Is(failed, errStale) {
			return failed
		}
	}
	return err
}

// suggested returns what a caller takes to be standing, nil if it has nothing to suggest.
func (s *tableStorage) suggested(o runtime.Object) (*original, error) {
	if o == nil {
		return nil, nil
	}
	version, err := s.ObjectResourceVersion(o)
	if err != nil {
		return nil, fmt.Errorf("read the version of a suggested object: %w", err)
	}
	stored, err := s.toKeep(o)
	return &original{object: o.(engine.Object), stored: stored, version: int64(version)}, err
}

func (s *tableStorage) find(ctx context.Context, key string, ignoreNotFound bool) (*original, error) {
	if err := s.reached(ctx, ""); err != nil {
		return nil, err
	}
	stored, version := s.table.Get(key)
	o, err := s.shown(stored)
	switch {
	case err != nil:
		return nil, err
	case o != nil:
		return &original{object: o, stored: stored, version: version, current: true}, nil
	case ignoreNotFound:
		return &original{object: s.fresh(), current: true}, nil
	default:
		return nil, storage.NewKeyNotFoundError(key, 0)
	}
}
