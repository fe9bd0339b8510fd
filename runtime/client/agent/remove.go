package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"leeward/messages/api"
)

// remove deletes what a Work that is being deleted holds, or gives it up where it must be preserved, and then removes the
// finalizer.
func (t *term) remove(ctx context.Context, w *api.Work) error {
	if !slices.Contains(w.Finalizers, api.WorkFinalizer) {
		return nil
	}
	all := t.formerly(w, nil)
	if manifests, err := manifestsOf(w); err == nil { // of a Work that cannot be read, nothing was applied
		for i, o := range manifests {
			if id := identityOf(o); !slices.ContainsFunc(all, func(f former) bool { return f.id == id }) {
				all = append(all, former{identifierOf(i, o.GroupVersionKind(), id), id})
			}
		}
	}
	var problems []error
	remain := 0
	for _, f := range all {
		gone, err := t.take(ctx, w, f)
		if err != nil {
			problems = append(problems, err)
		} else if !gone {
			remain++
		}
	}
	switch err := errors.Join(problems...); {
	case err != nil:
		if !errors.Is(err, errPending) {
			t.hub.warn(w, "DeleteFailed", err.Error())
		}
		return err
	case remain > 0:
		t.todo.AddAfter(w.Name, lastRetry) // the member tells when they are gone
		return errPending
	}
	if err := t.hub.release(ctx, w); err != nil {
		return err
	}
	t.forget(w.Name)
	t.Log.Info().Str("work", w.Name).Int("objects", len(all)).Msg("removed")
	return nil
}

// take deletes an object of a Work that is being deleted, or gives it up.
func (t *term) take(ctx context.Context, w *api.Work, f former) (gone bool, err error) {
	if w.Spec.PreserveResourcesOnDeletion != nil && *w.Spec.PreserveResourcesOnDeletion {
		return true, t.giveUp(ctx, w, f)
	}
	return t.delete(ctx, w, f)
}

// delete deletes an object if it is of a Work. Gone: there is none, or it is of something else.
func (t *term) delete(ctx context.Context, w *api.Work, f former) (gone bool, err error) {
	o, err := t.own(ctx, w, f)
	if o == nil || err != nil {
		return err == nil, err
	}
	if o.object.GetDeletionTimestamp() != nil {
		return false, nil // its finalizers hold it
	}
	uid := o.object.GetUID()
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	err = t.member.in(o.mapping, f.id.namespace).Delete(ctx, f.id.name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
	})
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("delete %s: %w", f.id, err)
	}
	if w.DeletionTimestamp != nil {
		t.metrics.deleted.Inc()
	} else {
		t.metrics.pruned.Inc()
	}
	t.Log.Info().Str("work", w.Name).Str("object", f.id.String()).Msg("deleted")
	return false, nil
}

// giveUp has an object be of no Work.
func (t *term) giveUp(ctx context.Context, w *api.Work, f former) error {
	o, err := t.own(ctx, w, f)
	if o == nil || err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	_, err = t.member.in(o.mapping, f.id.namespace).Patch(ctx, f.id.name, types.MergePatchType, unmark(), metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("give up %s: %w", f.id, err)
	}
	t.Log.Info().Str("work", w.Name).Str("object", f.id.String()).Msg("preserved")
	return nil
}

// own finds an object that is of a Work; nil: there is none, or the member has no such kind any more.
func (t *term) own(ctx context.Context, w *api.Work, f former) (*owned, error) {
	mapping, err := t.member.mapping(schema.GroupVersionKind{Group: f.id.group, Version: f.identifier.Version, Kind: f.id.kind})
	if unserved, is := errors.AsType[*errNotServed](err); is && unserved.certain {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o, err := t.live(ctx, mapping, f.id, w)
	if err != nil || o == nil || workOf(o, w.Namespace) != w.Name {
		return nil, err
	}
	return &owned{mapping, o}, nil
}
