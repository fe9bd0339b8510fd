package kubeapi

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// addEvents lets events be read and written in both of their groups. They are kept as those of the core group.
func addEvents(s *runtime.Scheme) error {
	internal := schema.GroupVersion{Group: eventsv1.GroupName, Version: runtime.APIVersionInternal}
	s.AddKnownTypes(internal, &corev1.Event{}, &corev1.EventList{})
	s.AddKnownTypes(eventsv1.SchemeGroupVersion, &eventsv1.Event{}, &eventsv1.EventList{})
	for _, c := range []struct {
		from, to any
		convert  conversion.ConversionFunc
	}{
		{&corev1.Event{}, &eventsv1.Event{}, func(from, to any, _ conversion.Scope) error {
			*to.(*eventsv1.Event) = newStyle(from.(*corev1.Event))
			return nil
		}},
		{&eventsv1.Event{}, &corev1.Event{}, func(from, to any, _ conversion.Scope) error {
			*to.(*corev1.Event) = oldStyle(from.(*eventsv1.Event))
			return nil
		}},
		{&corev1.EventList{}, &eventsv1.EventList{}, func(from, to any, _ conversion.Scope) error {
			list := from.(*corev1.EventList)
			styled := eventsv1.EventList{ListMeta: list.ListMeta, Items: make([]eventsv1.Event, len(list.Items))}
			for i := range list.Items {
				styled.Items[i] = newStyle(&list.Items[i])
			}
			*to.(*eventsv1.EventList) = styled
			return nil
		}},
	} {
		if err := s.AddConversionFunc(c.from, c.to, c.convert); err != nil {
			return err
		}
	}
	return s.AddFieldLabelConversionFunc(eventsv1.SchemeGroupVersion.WithKind("Event"), eventSelector)
}

// eventSelector takes the names that fields have in events.k8s.io to those of the core group.
func eventSelector(label, value string) (string, string, error) {
	const about, regarding = "involvedObject.", "regarding."
	if len(label) > len(regarding) && label[:len(regarding)] == regarding {
		return about + label[len(regarding):], value, nil
	}
	if label == "reportingController" {
		return "reportingComponent", value, nil
	}
	return label, value, nil
}

// newStyle writes an event as events.k8s.io has it. Source: kubernetes, pkg/apis/events/v1/conversion.go.
func newStyle(e *corev1.Event) eventsv1.Event {
	styled := eventsv1.Event{
		ObjectMeta:               e.ObjectMeta,
		EventTime:                e.EventTime,
		ReportingController:      e.ReportingController,
		ReportingInstance:        e.ReportingInstance,
		Action:                   e.Action,
		Reason:                   e.Reason,
		Regarding:                e.InvolvedObject,
		Related:                  e.Related,
		Note:                     e.Message,
		Type:                     e.Type,
		DeprecatedSource:         e.Source,
		DeprecatedFirstTimestamp: e.FirstTimestamp,
		DeprecatedLastTimestamp:  e.LastTimestamp,
		DeprecatedCount:          e.Count,
	}
	if e.Series != nil {
		styled.Series = &eventsv1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return styled
}

// oldStyle writes an event as the core group has it.
func oldStyle(e *eventsv1.Event) corev1.Event {
	styled := corev1.Event{
		ObjectMeta:          e.ObjectMeta,
		EventTime:           e.EventTime,
		ReportingController: e.ReportingController,
		ReportingInstance:   e.ReportingInstance,
		Action:              e.Action,
		Reason:              e.Reason,
		InvolvedObject:      e.Regarding,
		Related:             e.Related,
		Message:             e.Note,
		Type:                e.Type,
		Source:              e.DeprecatedSource,
		FirstTimestamp:      e.DeprecatedFirstTimestamp,
		LastTimestamp:       e.DeprecatedLastTimestamp,
		Count:               e.DeprecatedCount,
	}
	if e.Series != nil {
		styled.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return styled
}
