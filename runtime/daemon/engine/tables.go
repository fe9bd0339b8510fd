package engine

import "leeward/runtime/fleet/catalog"

// Tables are the tables of an engine that keeps all kinds of the catalog.
func Tables() []Resource {
	tables := make([]Resource, len(catalog.All))
	for i, r := range catalog.All {
		tables[i] = Resource{Name: r.Name(), Kind: r.Kind, New: func() Object { return r.New() }, Packed: r.Numerous()}
	}
	return tables
}
