package kubeapi

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// The groups of users that may do something. Who is in none may ask who he is, and what he may do.
const (
	// AdminGroup may do everything.
	AdminGroup = "leeward:admins"
	// EditorGroup may read and write every object, and not act as another user. "leeward:editors:shop" may so in the
	// namespace shop only.
	EditorGroup = "leeward:editors"
	// ViewerGroup may read every object but those that hold secrets. "leeward:viewers:shop" may so in the namespace shop only.
	ViewerGroup = "leeward:viewers"
	// AgentGroup are the agents of clusters. Each may report on its own cluster, and read and report on its Works.
	AgentGroup = "leeward:agents"
	// PusherGroup is the daemon itself, where it acts for clusters in push mode: it may read Clusters and their credentials.
	PusherGroup = "leeward:pushers"
	// MemberAdminGroup may do in the members in push mode whatever the hub's credentials may, where the daemon passes requests on to them.
	MemberAdminGroup = "leeward:member-admins"
)

// agentOf returns the cluster of an agent.
func agentOf(u user.Info) (string, bool) {
	if u == nil || !slices.Contains(u.GetGroups(), AgentGroup) {
		return "", false
	}
	return strings.CutPrefix(u.GetName(), api.AgentUserPrefix)
}

// rule allows verbs on resources. "*" is any; no names are all of them. A resource without a group is of any group.
type rule struct {
	verbs, groups, resources []string
	// custom is set of a rule about all custom kinds, whatever the other fields say of groups and resources.
	custom bool
	// namespace and names are where, and which; empty: all.
	namespace string
	names     []string
	// paths are of requests that are not about resources; one with "*" at its end is a prefix.
	paths []string
}

var (
	anything = []string{"*"}
	reading  = []string{"get", "list", "watch"}
	writing  = append([]string{"create", "update", "patch", "delete", "deletecollection"}, reading...)
	// readable are all resources that hold no secrets, and teamReads and teamWrites those within a namespace.
	readable   = resourcesOf(func(k *kind) bool { return !k.holdsSecrets() })
	teamReads  = resourcesOf(func(k *kind) bool { return !k.holdsSecrets() && !k.ClusterScoped })
	teamWrites = resourcesOf(func(k *kind) bool { return !k.ClusterScoped })

	adminRules = []rule{{verbs: anything, groups: anything, resources: anything}, {verbs: anything, paths: anything}}

	editorRules = []rule{
		{verbs: writing, groups: anything, resources: anything},
		{verbs: []string{"get"}, paths: []string{"/metrics", "/metrics/*"}},
	}

	viewerRules = []rule{
		{verbs: reading, groups: anything, resources: readable},
		{verbs: reading, groups: []string{catalog.Definitions.Kind.Group}, resources: []string{catalog.Definitions.Plural, catalog.Definitions.Plural + "/status"}},
		{verbs: reading, custom: true},
		{verbs: []string{"create"}, groups: []string{leewardVersion.Group}, resources: []string{"failoverpreviews"}},
		{verbs: []string{"get"}, paths: []string{"/metrics", "/metrics/*"}},
	}

	pusherRules = []rule{
		{verbs: reading, groups: []string{"cluster.karmada.io"}, resources: []string{"clusters"}},
		{verbs: []string{"patch"}, groups: []string{"cluster.karmada.io"}, resources: []string{"clusters/status"}},
		{verbs: reading, groups: []string{""}, resources: []string{"secrets"}, namespace: api.LeaseNamespace},
	}

	memberAdminRules = []rule{{verbs: passed, groups: []string{catalog.Clusters.Kind.Group}, resources: []string{clusterProxy}}}

	// everyoneRules are those of every authenticated user.
	everyoneRules = []rule{
		{verbs: []string{"create"}, groups: []string{"authorization.k8s.io"}, resources: []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews"}},
		{verbs: []string{"create"}, groups: []string{"authentication.k8s.io"}, resources: []string{"selfsubjectreviews"}},
		{verbs: []string{"list"}, groups: []string{catalog.Definitions.Kind.Group}, resources: []string{catalog.Definitions.Plural}}, // they hold no more than discovery; kubectl asks
		{verbs: []string{"get"}, paths: []string{"/", "/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", "/version", "/version/", "/livez/*", "/readyz/*"}},
		{verbs: []string{"get"}, paths: healthPaths},
		{verbs: []string{"get"}, paths: []string{watchPath, explainPath, searchPath, pastPath}}, // of the live page, whose handlers ask for more
	}

	// anonymousRules are those of who is not authenticated: a client that is about to register a cluster reads, signed with its token,
	// whom it may trust.
	anonymousRules = []rule{
		{verbs: []string{"get"}, paths: healthPaths},
		{verbs: []string{"get"}, groups: []string{""}, resources: []string{"configmaps"}, namespace: metav1.NamespacePublic, names: []string{bootstrapapi.ConfigMapClusterInfo}},
	}

	// healthPaths may be asked for by anyone.
	healthPaths = []string{"/healthz", "/livez", "/readyz"}
)

// holdsSecrets reports whether objects of the kind hold what only those may read who may read Secrets. A Work has the whole
// manifests of what its cluster runs, Secrets among them.
func (k *kind) holdsSecrets() bool {
	return k.Name() == corev1.Resource("secrets") || k.Resource == catalog.Works
}

// everyKind is each kind that a server may keep: a rule about a resource that is not served allows nothing.
func everyKind() []*kind {
	all := append(slices.Clone(kinds), further...)
	for _, r := range catalog.OfNodes {
		all = append(all, &kind{r, looks[r.Kind.Kind]})
	}
	return all
}

// resourcesOf returns the resources, with what is below them, of the kinds that are chosen.
func resourcesOf(chosen func(*kind) bool) []string {
	var names []string
	for _, k := range everyKind() {
		if !chosen(k) {
			continue
		}
		names = append(names, k.Plural)
		if k.has("Status") {
			names = append(names, k.Plural+"/status")
		}
		if k.Resource == catalog.Pods {
			names = append(names, k.Plural+"/eviction")
		}
		if workload, _ := counted(k.New()); workload != nil {
			names = append(names, k.Plural+"/scale")
		}
	}
	return names
}

// teamRules are those of a team, in its namespace and nowhere else.
func teamRules(group string) []rule {
	if namespace, is := strings.CutPrefix(group, EditorGroup+":"); is && namespace != "" {
		return []rule{{verbs: writing, groups: anything, resources: teamWrites, namespace: namespace}, {verbs: writing, custom: true, namespace: namespace}}
	}
	if namespace, is := strings.CutPrefix(group, ViewerGroup+":"); is && namespace != "" {
		return []rule{{verbs: reading, groups: anything, resources: teamReads, namespace: namespace}, {verbs: reading, custom: true, namespace: namespace}}
	}
	return nil
}

// agentRules are those of the agent of a cluster: its own cluster's status and lease, and the Works in its own
// namespace with what they need.
func agentRules(cluster string) []rule {
	own := []string{cluster}
	works := api.WorkNamespacePrefix + cluster
	return []rule{
		{verbs: reading, groups: []string{"cluster.karmada.io"}, resources: []string{"clusters"}, names: own},
		{verbs: []string{"get", "update", "patch"}, groups: []string{"cluster.karmada.io"}, resources: []string{"clusters/status"}, names: own},
		{verbs: []string{"get", "update", "patch"}, groups: []string{"coordination.k8s.io"}, resources: []string{"leases"}, namespace: api.LeaseNamespace, names: own},
		{verbs: []string{"create"}, groups: []string{"coordination.k8s.io"}, resources: []string{"leases"}, namespace: api.LeaseNamespace},
		{verbs: append([]string{"update", "patch"}, reading...), groups: []string{"work.karmada.io"}, resources: []string{"works"}, namespace: works},
		{verbs: []string{"get", "update", "patch"}, groups: []string{"work.karmada.io"}, resources: []string{"works/status"}, namespace: works},
		{verbs: reading, groups: []string{""}, resources: []string{"configmaps", "secrets"}, namespace: works},
		{verbs: reading, groups: []string{"config.karmada.io"}, resources: []string{"resourceinterpretercustomizations"}},
		{verbs: []string{"create", "patch"}, groups: []string{"", "events.k8s.io"}, resources: []string{"events"}, namespace: works},
	}
}

// rulesOf returns all that a user may do.
func (w roles) rulesOf(u user.Info) []rule {
	groups := u.GetGroups()
	var rules []rule
	for _, role := range []struct {
		group string
		rules []rule
	}{
		{user.SystemPrivilegedGroup, adminRules},
		{AdminGroup, adminRules},
		{EditorGroup, editorRules},
		{ViewerGroup, viewerRules},
		{PusherGroup, pusherRules},
		{MemberAdminGroup, memberAdminRules},
		{BootstrapGroup, tokenRules},
		{user.AllAuthenticated, everyoneRules},
		{user.AllUnauthenticated, anonymousRules},
	} {
		if slices.Contains(groups, role.group) {
			rules = append(rules, role.rules...)
		}
	}
	for _, g := range groups {
		rules = append(rules, teamRules(g)...)
	}
	if cluster, is := agentOf(u); is {
		rules = append(rules, agentRules(cluster)...)
	}
	if cluster, is := karmadaAgentOf(u); is && w.mayRegister(cluster) {
		rules = append(rules, karmadaAgentRules(cluster)...)
	}
	if isRegistrar(u) {
		rules = append(rules, registrarRules...)
	}
	return rules
}

// roles decides who may do what.
type roles struct {
	authorizer.AuthorizerFunc
	engine *engine.Engine
}

func newRoles(e *engine.Engine) roles {
	w := roles{engine: e}
	w.AuthorizerFunc = w.authorize
	return w
}

var (
	_ authorizer.Authorizer   = roles{}
	_ authorizer.RuleResolver = roles{}
)

func (w roles) authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	for _, r := range w.rulesOf(a.GetUser()) {
		if r.allows(a) {
			return authorizer.DecisionAllow, "", nil
		}
	}
	return authorizer.DecisionNoOpinion, "no group of the user allows it", nil
}

func (r rule) allows(a authorizer.Attributes) bool {
	if !has(r.verbs, a.GetVerb()) {
		return false
	}
	if !a.IsResourceRequest() {
		return slices.ContainsFunc(r.paths, func(p string) bool { return matchesPath(p, a.GetPath()) })
	}
	resource := a.GetResource()
	if a.GetSubresource() != "" {
		resource += "/" + a.GetSubresource()
	}
	covers := has(r.groups, a.GetAPIGroup()) && has(r.resources, resource)
	if resource == clusterProxy && !slices.Contains(r.verbs, "*") {
		covers = covers && slices.Contains(r.resources, resource) // it is more than any object: who may write all objects may not do so in members
	}
	if r.custom {
		covers = !catalog.Reserved(a.GetAPIGroup())
	}
	return covers &&
		(r.namespace == "" || r.namespace == a.GetNamespace()) &&
		(len(r.names) == 0 || slices.Contains(r.names, a.GetName()))
}

func has(words []string, word string) bool {
	return slices.Contains(words, "*") || slices.Contains(words, word)
}

func matchesPath(pattern, path string) bool {
	if prefix, is := strings.CutSuffix(pattern, "*"); is {
		return strings.HasPrefix(path, prefix)
	}
	return pattern == path
}

// RulesFor lists what a user may do in a namespace, for "kubectl auth can-i --list".
func (w roles) RulesFor(_ context.Context, u user.Info, namespace string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	var resources []authorizer.ResourceRuleInfo
	var paths []authorizer.NonResourceRuleInfo
	for _, r := range w.rulesOf(u) {
		switch {
		case len(r.paths) > 0:
			paths = append(paths, &authorizer.DefaultNonResourceRuleInfo{Verbs: r.verbs, NonResourceURLs: r.paths})
		case r.custom && (r.namespace == "" || r.namespace == namespace):
			for _, k := range defined(w.engine) {
				if r.namespace == "" || !k.ClusterScoped {
					resources = append(resources, &authorizer.DefaultResourceRuleInfo{
						Verbs: r.verbs, APIGroups: []string{k.Kind.Group}, Resources: []string{k.Plural, k.Plural + "/status", k.Plural + "/scale"},
					})
				}
			}
		case r.namespace == "" || r.namespace == namespace:
			resources = append(resources, &authorizer.DefaultResourceRuleInfo{
				Verbs: r.verbs, APIGroups: r.groups, Resources: r.resources, ResourceNames: r.names,
			})
		}
	}
	return resources, paths, false, nil
}
