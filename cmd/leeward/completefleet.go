package main

import (
	"context"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/explain"
	"leeward/runtime/scenario/forecast"
	"leeward/runtime/scenario/replay"
)

const (
	// mostCompleted bounds how many bytes of files are read for the names that a shell is offered, and mostOffered how many names.
	mostCompleted = 4 << 20
	mostOffered   = 1000
)

// kindsOfNames are the kinds of objects that have, or make, the names of what can be explained.
var kindsOfNames = map[string][]string{
	explain.KindCluster: {"Cluster"},
	explain.KindBinding: {"ResourceBinding", "ClusterResourceBinding"},
	explain.KindPolicy:  {"ClusterTaintPolicy", "PropagationPolicy", "ClusterPropagationPolicy"},
	explain.KindNode:    {"Node"},
	explain.KindPod:     {"Pod"},
}

// sketch is the fleet of the source as far as names go: of a server the objects of some kinds. Nil: it cannot be read, is too large, or
// takes too long.
func (s *fleetSource) sketch(kinds []string) *scenario.Scenario {
	ctx, stop := context.WithTimeout(context.Background(), completesWithin)
	defer stop()
	read := make(chan *scenario.Scenario, 1)
	go func() { read <- s.sketched(ctx, kinds) }()
	select {
	case fleet := <-read:
		return fleet
	case <-ctx.Done():
		return nil
	}
}

func (s *fleetSource) sketched(ctx context.Context, kinds []string) *scenario.Scenario {
	if s.live() {
		objects, host, err := s.listOf(ctx, io.Discard, kinds)
		if err != nil {
			return nil
		}
		return scenario.FleetOf(objects, host)
	}
	files, err := filesIn(s.files)
	if err != nil || sizeOf(files) > mostCompleted {
		return nil
	}
	source := fromDisk(mostCompleted)
	source.Scenario = s.scenario
	fleet, err := fleetFrom(source, files)
	if err != nil {
		return nil
	}
	return fleet
}

// scenariosIn are the names of the scenarios in files and directories; none where they cannot be read, or are too large.
func scenariosIn(paths []string) (names []string) {
	files, err := filesIn(paths)
	if err != nil || sizeOf(files) > mostCompleted {
		return nil
	}
	all, _ := fromDisk(mostCompleted).Among(files)
	return lists.Of(all, func(one *scenario.Scenario) string { return one.Name })
}

// sizeOf is how large files are together. What is no regular file is not read for a shell.
func sizeOf(files []string) (sum int64) {
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			return mostCompleted + 1
		}
		sum += info.Size()
	}
	return sum
}

// offered are the names of a fleet that begin as what was typed does, in order.
func offered(names []string, typed string) []string {
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return !strings.HasPrefix(name, typed) })
	return names[:min(len(names), mostOffered)]
}

// completeExplained offers what can be explained, and then the names that the source has of it.
func (e *explaining) completeExplained(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return explain.Kinds(), cobra.ShellCompDirectiveNoFileComp
	}
	kind, err := explainedKind(args[0])
	if err != nil || len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	fleet := e.from.sketch(kindsOfNames[kind])
	if fleet == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	switch {
	case kind == explain.KindNode:
		names = nodesOf(fleet)
	case kind == explain.KindPod && !e.from.live():
		names = e.podsOf(fleet)
	default:
		for _, d := range fleet.Objects {
			names = append(names, namesOf(kind, d.Object, e.namespace)...)
		}
	}
	return offered(names, typed), cobra.ShellCompDirectiveNoFileComp
}

// namesOf are the names that an object gives one kind of what can be explained: of a workload that of the binding that it will have. In a
// namespace that the command names they have none; else that of others than default.
func namesOf(kind string, o api.Object, namespace string) []string {
	is, name := o.GetObjectKind().GroupVersionKind().Kind, o.GetName()
	own := slices.Contains(kindsOfNames[kind], is)
	if kind == explain.KindBinding && !own && slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet"}, is) {
		own, name = true, propagation.BindingName(is, name)
	}
	switch in := o.GetNamespace(); {
	case !own || namespace != "" && in != "" && in != namespace:
		return nil
	case in == "" || in == namespace || namespace == "" && in == metav1.NamespaceDefault:
		return []string{name}
	default:
		return []string{in + "/" + name}
	}
}

// nodesOf are the nodes of a scenario; in a fleet they have the cluster in front.
func nodesOf(s *scenario.Scenario) (names []string) {
	for _, d := range s.Objects {
		if d.Object.GetObjectKind().GroupVersionKind().Kind == "Node" {
			names = append(names, d.Object.GetName())
		}
	}
	for cluster, of := range s.MemberNodes { // order-free: sorted when they are offered
		for _, n := range of.Nodes {
			names = append(names, string(cluster)+"/"+n.Name)
		}
	}
	return names
}

// podsOf are the pods of a scenario, whose names follow from the seed: it is replayed, for as long as a shell waits.
func (e *explaining) podsOf(s *scenario.Scenario) []string {
	ctx, stop := context.WithTimeout(context.Background(), completesWithin)
	defer stop()
	c := explain.Config{Scenario: s, Kind: explain.KindPod}
	run, err := replay.PlayContext(ctx, c.Nodes(), replay.Options{Seed: e.seed.value, Profile: e.profile, Set: e.set, Until: time.Duration(e.at), Unwatched: true})
	if err != nil || run.Err != nil {
		return nil
	}
	names := map[string]bool{}
	for i := range run.Events {
		f, is := run.Events[i].Fact.(messages.AboutPod)
		if !is {
			continue
		}
		parts := strings.Split(string(f.AboutPod()), "/")
		last := len(parts) - 1
		switch {
		case last < 1 || e.namespace != "" && parts[last-1] != e.namespace:
		case last == 1 && (e.namespace != "" || parts[0] == metav1.NamespaceDefault):
			names[parts[last]] = true
		default:
			names[string(f.AboutPod())] = true
		}
	}
	return slices.Collect(maps.Keys(names))
}

// completeLosses has a flag offer what may fail: kind=NAME, or several names with commas.
func (s *fleetSource) completeLosses(c *cobra.Command, flag string) {
	completeBy(c, flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		kind, _, cut := strings.Cut(typed, "=")
		if !cut {
			kinds := lists.Of(forecast.Kinds(), func(kind string) string { return kind + "=" })
			return kinds, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		before := typed[:strings.LastIndexAny(typed, "=,")+1]
		return offered(lists.Of(s.partsOf(kind), func(name string) string { return before + name }), typed), cobra.ShellCompDirectiveNoFileComp
	})
}

// completeClusters has a flag offer the names of clusters, each with what has to follow.
func (s *fleetSource) completeClusters(c *cobra.Command, flag, after string) {
	completeBy(c, flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		names := s.partsOf(forecast.KindCluster)
		for i := range names {
			names[i] += after
		}
		if after != "" {
			return offered(names, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return offered(names, typed), cobra.ShellCompDirectiveNoFileComp
	})
}

// partsOf are the clusters, regions, zones or providers of the source's fleet.
func (s *fleetSource) partsOf(kind string) (names []string) {
	fleet := s.sketch([]string{"Cluster"})
	if fleet == nil {
		return nil
	}
	for _, d := range fleet.Objects {
		if cluster, is := d.Object.(*api.Cluster); is {
			names = append(names, forecast.PartsOf(cluster, kind)...)
		}
	}
	return names
}

// completesWithin is how long a shell waits for the names that a server has; one that takes longer has none to offer.
const completesWithin = 2 * time.Second

// offered returns the names of a server's objects that begin as what was typed does.
func (s *serverFlags) offered(r *catalog.Resource, namespace, typed string) (names []string) {
	c, err := s.connect(io.Discard)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), completesWithin)
	defer cancel()
	all, _, err := c.List(ctx, r, namespace, "")
	if err != nil {
		return nil
	}
	for _, o := range all {
		if strings.HasPrefix(o.GetName(), typed) {
			names = append(names, o.GetName())
		}
	}
	return names
}

// offerClusters offers the clusters, or nodes, that were not named yet, after the word for them where that has to come first.
func (e *editing) offerClusters(wordFirst bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if wordFirst && len(args) == 0 {
			return []string{"clusters", "nodes"}, cobra.ShellCompDirectiveNoFileComp
		}
		resource := catalog.Clusters
		if len(args) > 0 && is(catalog.Nodes, args[0]) {
			resource = catalog.Nodes
		}
		fresh := slices.DeleteFunc(e.server.offered(resource, "", typed), func(name string) bool { return slices.Contains(args, name) })
		return fresh, cobra.ShellCompDirectiveNoFileComp
	}
}

// offerHeld offers what evictions can be held of: first the resource, then the names that were not named yet.
func (h *holding) offerHeld(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return []string{"clusters", "bindings", "clusterresourcebindings", "deployments", "statefulsets"}, cobra.ShellCompDirectiveNoFileComp
	}
	resource, namespace := catalog.Clusters, ""
	if !isClusters(args[0]) {
		resource, namespace = heldResource(args[0]), h.server.namespaced()
	}
	if resource == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	fresh := slices.DeleteFunc(h.server.offered(resource, namespace, typed), func(name string) bool { return slices.Contains(args[1:], name) })
	return fresh, cobra.ShellCompDirectiveNoFileComp
}

// heldResource is the resource of a word for what evictions can be held of; nil: the word means none.
func heldResource(word string) *catalog.Resource {
	if strings.EqualFold(word, "binding") || strings.EqualFold(word, "bindings") {
		return catalog.Bindings
	}
	for i := range catalog.All {
		kind := catalog.All[i].Kind.Kind
		if meant, known := spelling.KindMeant(word, []string{kind}); known && meant == kind {
			return &catalog.All[i]
		}
	}
	return nil
}
