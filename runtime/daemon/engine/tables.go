package engine

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/runtime/fleet/catalog"
)

// Tables are the tables of an engine that keeps all kinds of the catalog, those that definitions define, and further ones.
func Tables(more ...*catalog.Resource) []Resource {
	kept := append(append(catalog.Kept(), catalog.CertificateRequests), more...)
	tables := make([]Resource, len(kept))
	for i, r := range kept {
		tables[i] = tableOf(r)
	}
	return tables
}

func tableOf(r *catalog.Resource) Resource {
	table := Resource{Name: r.Name(), Kind: r.Kind, New: func() Object { return r.New() }, Packed: r.Numerous()}
	if r == catalog.Customs {
		table.Kind = schema.GroupVersionKind{} // each object has its own
	}
	return table
}
