package expect

import "leeward/messages/api"

// Object expects an object to have the fields of Want, a tree as JSON has it; other fields do not
// matter.
type Object struct {
	Key  api.Key
	Want map[string]any
}

func (*Object) subject() {}

// ObjectKey is the key of the object that Want describes.
func (o *Object) ObjectKey() api.Key { return o.Key }

// String returns "Cluster member2 matches {...}".
func (o *Object) String() string { return o.Key.String() + " matches " + compact(o.fields()) }

// fields are those of Want but apiVersion and kind, by which the object was found: one of a node tier does not say them.
func (o *Object) fields() map[string]any {
	want := make(map[string]any, len(o.Want))
	for field, value := range o.Want { // order-free: a field each
		if field != "apiVersion" && field != "kind" {
			want[field] = value
		}
	}
	return want
}

func (o *Object) judge(all *objects) (holds bool, seen string) {
	got := all.get(o.Key)
	if got == nil {
		return false, "there is no " + o.Key.String()
	}
	fields, err := tree(got)
	if err != nil {
		return false, "it has no JSON form: " + err.Error()
	}
	if said := mismatch("", o.fields(), fields); said != "" {
		return false, said
	}
	return true, "it does"
}
