// Package incident reads what package recorder writes down of a live fleet: its objects, and each of their changes with
// its time. Of these it tells apart what people and agents did, which becomes a scenario, and what the control plane
// decided, which the replay of that scenario is held against. docs/recordings.md says how.
package incident

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Format is the only format there is.
const Format = "leeward-recording/1"

// Type is what a line of a recording tells.
type Type string

// The types. Beside them are those of a watch: ADDED, MODIFIED and DELETED.
const (
	// Header is the first line.
	Header Type = "HEADER"
	// Stood is an object that was there when its kind was listed, Listed the end of that list.
	Stood  Type = "STOOD"
	Listed Type = "LISTED"
	// Absent is a kind that could not be recorded.
	Absent Type = "ABSENT"
	// Lost says that a kind could not be followed for a while, and that nothing was missed. Gap says that changes may
	// have been missed: the kind is listed again.
	Lost Type = "LOST"
	Gap  Type = "GAP"
	// End is the last line, unless the recorder was killed.
	End Type = "END"

	Added    Type = "ADDED"
	Modified Type = "MODIFIED"
	Deleted  Type = "DELETED"
)

// Line is one line of a recording, in JSON.
type Line struct {
	Type Type `json:"type"`
	// Time is when the recorder saw it, by its own clock.
	Time time.Time `json:"time"`

	// Of a Header: the format, the versions of Leeward and of the server, the resources that must be recorded as
	// "resourcebindings.work.karmada.io", and the profile and settings ("field=value") of the engine that is recorded.
	Format        string   `json:"format,omitempty"`
	Leeward       string   `json:"leeward,omitempty"`
	ServerVersion string   `json:"serverVersion,omitempty"`
	Resources     []string `json:"resources,omitempty"`
	Profile       string   `json:"profile,omitempty"`
	Config        []string `json:"config,omitempty"`

	// Of Listed, Absent, Lost and Gap: which resource. Of Listed: the version of the list, and how many objects it had.
	Resource        string `json:"resource,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Objects         int    `json:"objects,omitempty"`
	// Of Absent, Lost, Gap and End: why.
	Reason string `json:"reason,omitempty"`

	// Of an object: as it was, without metadata.managedFields; of a deleted one, as it was last. Writers are who wrote
	// it.
	Object  json.RawMessage `json:"object,omitempty"`
	Writers []Writer        `json:"writers,omitempty"`
}

// Writer is one entry of an object's managedFields, without the fields.
type Writer struct {
	Manager string `json:"manager"`
	// Subresource is "status", or empty.
	Subresource string      `json:"subresource,omitempty"`
	Time        metav1.Time `json:"time,omitzero"`
}
