package kubeapi

import (
	"fmt"

	"leeward/messages/lists"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/apiserver/pkg/authentication/user"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/flowcontrol"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/tools/cache"
)

// priority says which requests have seats of their own. The users of a level get them in turn, and no level borrows those
// of another: what tells whether a cluster is silent is served whatever else is asked.
type priority struct {
	name string
	// seats is how many requests are served at the same time; a long list takes several.
	seats int32
	// of are the groups of the users, all of whose requests are meant but where covers names resources, by their API group.
	of     []string
	covers map[string][]string
}

// agents are those of clusters, of either make.
var agents = []string{AgentGroup, KarmadaAgentGroup}

// priorities are in the order in which a request is held against them. Kubernetes' own level "catch-all" is for
// unknown users.
var priorities = []priority{
	{"heartbeats", 2 * requestsOfUser, agents, map[string][]string{
		"coordination.k8s.io": {"leases"}, "cluster.karmada.io": {"clusters", "clusters/status"},
	}},
	{"agents", 2 * requestsOfUser, agents, nil},
	// a preview of a large fleet takes a processor for seconds
	{"previews", 4, []string{user.AllAuthenticated}, map[string][]string{leewardVersion.Group: {"failoverpreviews"}}},
	{"people", 2 * requestsOfUser, []string{user.AllAuthenticated}, nil},
}

const (
	// unknownSeats is how many requests of the level "catch-all" are served at the same time. Source: its shares in Kubernetes.
	unknownSeats = 5
	// queues, hand and queueLength say how many requests may wait for a seat of a level. Source: Kubernetes' suggested levels.
	queues, hand, queueLength = 64, 6, 50
)

// newFairness is Kubernetes' own priority and fairness, of levels and schemas that never change. It writes nothing back, and
// so needs no client: the schemas have the status that it would write.
func newFairness() utilflowcontrol.Interface {
	f := settled{levels: cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil), schemas: cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)}
	seats := unknownSeats
	_, _ = f.levels.Add(bootstrap.MandatoryPriorityLevelConfigurationExempt), f.schemas.Add(probes()) // they have names, so they can be added
	for i := range priorities {
		p := &priorities[i]
		seats += int(p.seats)
		_, _ = f.levels.Add(p.level()), f.schemas.Add(p.schema(int32(100+i)))
	}
	return utilflowcontrol.New(f, nil, seats)
}

func (p *priority) level() *flowcontrolv1.PriorityLevelConfiguration {
	return &flowcontrolv1.PriorityLevelConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: p.name, UID: types.UID(p.name)},
		Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: flowcontrolv1.PriorityLevelEnablementLimited,
			Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
				NominalConcurrencyShares: new(p.seats), LendablePercent: new(int32(0)), BorrowingLimitPercent: new(int32(0)),
				LimitResponse: flowcontrolv1.LimitResponse{
					Type:    flowcontrolv1.LimitResponseTypeQueue,
					Queuing: &flowcontrolv1.QueuingConfiguration{Queues: queues, HandSize: hand, QueueLengthLimit: queueLength},
				},
			},
		},
	}
}

var (
	every      = []string{"*"}
	everywhere = []string{flowcontrolv1.NamespaceEvery}
	anyPath    = []flowcontrolv1.NonResourcePolicyRule{{Verbs: every, NonResourceURLs: every}}
)

func (p *priority) schema(precedence int32) *flowcontrolv1.FlowSchema {
	rules := flowcontrolv1.PolicyRulesWithSubjects{Subjects: groups(p.of...)}
	for group, resources := range p.covers { // order-free: all of them count
		rules.ResourceRules = append(rules.ResourceRules, flowcontrolv1.ResourcePolicyRule{
			Verbs: every, APIGroups: []string{group}, Resources: resources, ClusterScope: true, Namespaces: everywhere,
		})
	}
	if p.covers == nil {
		rules.ResourceRules = []flowcontrolv1.ResourcePolicyRule{
			{Verbs: every, APIGroups: every, Resources: every, ClusterScope: true, Namespaces: everywhere},
		}
		rules.NonResourceRules = anyPath
	}
	return flowSchema(p.name, p.name, precedence, rules)
}

// probes are answered at any time.
func probes() *flowcontrolv1.FlowSchema {
	return flowSchema("probes", flowcontrolv1.PriorityLevelConfigurationNameExempt, 2, flowcontrolv1.PolicyRulesWithSubjects{
		Subjects:         groups(user.AllAuthenticated, user.AllUnauthenticated),
		NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: every, NonResourceURLs: healthPaths}},
	})
}

func groups(names ...string) []flowcontrolv1.Subject {
	return lists.Of(names, func(name string) flowcontrolv1.Subject {
		return flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindGroup, Group: &flowcontrolv1.GroupSubject{Name: name}}
	})
}

// flowSchema has the users that it covers get the seats of a level in turn.
func flowSchema(name, level string, precedence int32, rules flowcontrolv1.PolicyRulesWithSubjects) *flowcontrolv1.FlowSchema {
	return &flowcontrolv1.FlowSchema{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec: flowcontrolv1.FlowSchemaSpec{
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: level},
			MatchingPrecedence:         precedence,
			DistinguisherMethod:        &flowcontrolv1.FlowDistinguisherMethod{Type: flowcontrolv1.FlowDistinguisherMethodByUserType},
			Rules:                      []flowcontrolv1.PolicyRulesWithSubjects{rules},
		},
		Status: flowcontrolv1.FlowSchemaStatus{Conditions: []flowcontrolv1.FlowSchemaCondition{{
			Type: flowcontrolv1.FlowSchemaConditionDangling, Status: flowcontrolv1.ConditionFalse, Reason: "Found",
			Message: fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q and it exists", level),
		}}},
	}
}

// settled is where priority and fairness asks for its levels and schemas: informers that have all there will ever be.
type settled struct {
	informers.SharedInformerFactory
	levels, schemas cache.Indexer
}

func (s settled) Flowcontrol() flowcontrol.Interface { return flowcontrol.New(s, "", nil) }

func (s settled) InformerFor(o runtime.Object, _ internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	if _, is := o.(*flowcontrolv1.FlowSchema); is {
		return settledInformer{objects: s.schemas}
	}
	return settledInformer{objects: s.levels}
}

type settledInformer struct {
	cache.SharedIndexInformer
	objects cache.Indexer
}

func (s settledInformer) HasSynced() bool           { return true }
func (s settledInformer) GetIndexer() cache.Indexer { return s.objects }

func (s settledInformer) AddEventHandler(hears cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	for _, o := range s.objects.List() {
		hears.OnAdd(o, true)
	}
	return nil, nil
}
