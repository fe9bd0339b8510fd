package live

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
)

// removal has an object of the engine go with the world's. A cluster waits until its agent has taken down what it
// runs, unless it is not Ready: then its Works are given up. Source: Karmada's cluster controller.
func (f *Fleet) removal(p pending, old api.Object, version int64) []pending {
	var with []pending
	if c, ok := old.(*api.Cluster); ok {
		name := messages.ClusterName(c.Name)
		if f.leaving[name] = meta.IsStatusConditionTrue(c.Status.Conditions, api.ConditionReady); f.leaving[name] {
			for _, w := range f.worksOn(name) {
				if !ofNamespace(w) {
					return nil
				}
			}
		}
		delete(f.leaving, name)
		with = f.giveUp(name)
	}
	if !p.remove(old, version) {
		return nil
	}
	return append(with, p)
}

// giveUp has the Works of a cluster go, though no agent has let them.
func (f *Fleet) giveUp(cluster messages.ClusterName) (all []pending) {
	for key, w := range f.worksOn(cluster) {
		f.going[key] = true
		given := pending{key: key, write: engine.Delete(key, engine.VersionOf(w))}
		if on, binding, ours := observed.Copy(w.(*api.Work)); ours && workKey(on, binding) == key {
			given.wish = new(wishOf(&messages.CopyUnwanted{Binding: binding, Cluster: on})) // if its agent reports just now
		}
		all = append(all, given)
	}
	return all
}

// worksOf has the Works go of which the machines have said so, with the binding that is gone: after a kill between the two it would
// not be known whether they are to preserve what they ask for.
func (f *Fleet) worksOf(source api.Key) (with []pending) {
	name := bindingOf(source)
	if name == "" {
		return nil
	}
	if f.unwanted == nil {
		f.unwanted = map[messages.BindingName][]wish{}
		for _, i := range newest(f.wishes) {
			if w := &f.wishes[i]; w.unwanted != nil {
				f.unwanted[w.binding] = append(f.unwanted[w.binding], *w)
			}
		}
	}
	for i := range f.unwanted[name] {
		w := &f.unwanted[name][i]
		if f.going[w.key] {
			continue
		}
		if p, needed := f.work(w, f.now()); needed {
			with = append(with, p)
		}
	}
	return with
}

// letGo reports whether a cluster that is being deleted was removed from the fleet: its object remains for the finalizers of others.
func letGo(c api.Object) bool {
	return c.GetDeletionTimestamp() != nil && !slices.Contains(c.GetFinalizers(), ClusterFinalizer)
}

// worksOn are the Works of a cluster by their keys.
func (f *Fleet) worksOn(c messages.ClusterName) iter.Seq2[string, engine.Object] {
	return f.config.Engine.Table(catalog.Works.Name()).Snapshot().Under(engine.Key(catalog.Works.Name(), workNamespace(c), ""), "")
}

// remainsToLeave has a cluster that leaves looked at again, because of one of its Works.
func (f *Fleet) remainsToLeave(c messages.ClusterName) {
	if f.leaving[c] {
		f.world.Store().Note(store.ClusterKey(c))
	}
}

// remove deletes an object, or only takes our finalizer from it while others hold it. It reports whether that is a
// change.
func (p *pending) remove(old api.Object, version int64) bool {
	if old == nil {
		return false
	}
	others := slices.DeleteFunc(slices.Clone(old.GetFinalizers()), func(name string) bool { return name == ClusterFinalizer })
	if len(others) == 0 {
		p.write = engine.Delete(p.key, version)
		return true
	}
	if len(others) == len(old.GetFinalizers()) {
		return false
	}
	next := api.Shallow(old)
	next.SetFinalizers(others)
	p.object, p.write = next, engine.Update(p.key, next, version)
	return true
}
