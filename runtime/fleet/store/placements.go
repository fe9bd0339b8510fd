package store

import (
	"cmp"
	"encoding/json"

	"leeward/messages/api"
)

// placements turns placements into the JSON of their annotation and back. Bindings of one policy
// share one placement, so each is written, and each text read, once for all of them.
type placements struct {
	texts  map[*api.Placement]string
	parsed map[string]*api.Placement
}

// maxPlacements bounds what is remembered of policies long edited.
const maxPlacements = 4096

func (p placements) text(placement *api.Placement) string {
	text, known := p.texts[placement]
	if !known {
		text = string(marshal(placement))
		remember(p.texts, placement, text)
	}
	return text
}

// parse returns nil for a text that is no placement: Karmada, too, then knows of none.
func (p placements) parse(text string) *api.Placement {
	placement, known := p.parsed[text]
	if !known {
		if json.Unmarshal([]byte(text), &placement) != nil {
			placement = nil
		}
		remember(p.parsed, text, placement)
	}
	return placement
}

// seed has texts that read like the placement of a policy be read as that: what is the same is one, and compared immediately.
func (p placements) seed(placement *api.Placement) { remember(p.parsed, p.text(placement), placement) }

// Placement returns the placement that a policy or other bindings have, where one of those reads like it.
func (s *Store) Placement(placement *api.Placement) *api.Placement {
	if placement == nil {
		return nil
	}
	return cmp.Or(s.placements.parsed[s.placements.text(placement)], placement)
}

func remember[K comparable, V any](m map[K]V, key K, value V) {
	if len(m) >= maxPlacements {
		clear(m)
	}
	m[key] = value
}
