package attach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"leeward/messages"
	"leeward/runtime/daemon/attach/writing"
)

// fieldManager names Leeward in the managedFields of what it writes, and in its user agent.
const fieldManager = "leewardd"

// errReplaced says that another pod has the name of the one that a request is about.
var errReplaced = errors.New("another pod has its name")

// writer makes the requests of evictions. Each is tried once: the queue decides when it is tried again.
type writer struct {
	rest  rest.Interface // of the core API
	clock clock.Clock
	// within bounds a request by the right to write.
	within func(context.Context) (context.Context, context.CancelFunc, error)
}

// send makes a request. None is under way longer than this process may lead.
func (w *writer) send(ctx context.Context, r *request) error {
	ctx, cancel := context.WithTimeout(ctx, writing.RequestLasts)
	defer cancel()
	ctx, end, err := w.within(ctx)
	if err != nil {
		return err
	}
	defer end()
	namespace, name := r.Pod.Split()
	switch r.Verb {
	case messages.VerbPatch:
		return w.mark(ctx, namespace, name, r)
	case messages.VerbDelete:
		return w.delete(ctx, namespace, name, r.UID)
	case messages.VerbEvict:
		return w.evict(ctx, namespace, name, r.UID)
	}
	panic(fmt.Sprintf("attach: %s is no request of an eviction", r.Verb))
}

// mark gives a pod the condition DisruptionTarget and touches nothing else of it. The uid of the patch keeps it from another pod.
func (w *writer) mark(ctx context.Context, namespace, name string, r *request) error {
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": r.UID},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": corev1.DisruptionTarget, "status": corev1.ConditionTrue, "reason": r.Reason, "message": r.Message,
			"lastTransitionTime": metav1.NewTime(w.clock.Now().UTC().Truncate(time.Second)),
		}}},
	})
	if err != nil {
		return fmt.Errorf("encode the condition of pod %s: %w", r.Pod, err)
	}
	err = w.rest.Patch(types.StrategicMergePatchType).Namespace(namespace).Resource("pods").Name(name).SubResource("status").
		Param("fieldManager", fieldManager).MaxRetries(0).Body(body).Do(ctx).Error()
	return replaced(err)
}

func (w *writer) delete(ctx context.Context, namespace, name string, uid types.UID) error {
	body, err := json.Marshal(deletion(uid))
	if err != nil {
		return fmt.Errorf("encode the deletion of pod %s/%s: %w", namespace, name, err)
	}
	return replaced(w.rest.Delete().Namespace(namespace).Resource("pods").Name(name).
		SetHeader("Content-Type", runtime.ContentTypeJSON).MaxRetries(0).Body(body).Do(ctx).Error())
}

func (w *writer) evict(ctx context.Context, namespace, name string, uid types.UID) error {
	body, err := json.Marshal(&policyv1.Eviction{
		TypeMeta:   metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "Eviction"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, DeleteOptions: deletion(uid),
	})
	if err != nil {
		return fmt.Errorf("encode the eviction of pod %s/%s: %w", namespace, name, err)
	}
	return replaced(w.rest.Post().Namespace(namespace).Resource("pods").Name(name).SubResource("eviction").
		SetHeader("Content-Type", runtime.ContentTypeJSON).MaxRetries(0).Body(body).Do(ctx).Error())
}

// deletion is of the pod with that UID alone.
func deletion(uid types.UID) *metav1.DeleteOptions {
	return &metav1.DeleteOptions{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, Preconditions: &metav1.Preconditions{UID: &uid},
	}
}

// replaced tells an error apart that says that the UID is another: 409 for deletions, 409 or 422 for patches.
func replaced(err error) error {
	if err == nil {
		return nil
	}
	if apierrors.IsConflict(err) && strings.Contains(strings.ToLower(err.Error()), "uid") {
		return fmt.Errorf("%w: %w", errReplaced, err)
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) && apierrors.IsInvalid(err) {
		if d := status.Status().Details; d != nil {
			for _, cause := range d.Causes {
				if cause.Field == "metadata.uid" {
					return fmt.Errorf("%w: %w", errReplaced, err)
				}
			}
		}
	}
	return err
}
