package messages

import "k8s.io/apimachinery/pkg/types"

// ToAPIClient is what a client of the API server understands.
type ToAPIClient interface{ toAPIClient() }

// APIVerb is what a request asks of the API server.
type APIVerb string

// The requests of one eviction, in their order.
const (
	// VerbGet reads the pod.
	VerbGet APIVerb = "get"
	// VerbPatch gives the pod its condition DisruptionTarget.
	VerbPatch APIVerb = "patch"
	// VerbDelete deletes the pod.
	VerbDelete APIVerb = "delete"
	// VerbEvict asks the Eviction API to do both, where evictions honour budgets.
	VerbEvict APIVerb = "evict"
)

// RequestAsked asks for a request to the API server in the name of a pod. From: pod eviction. To: API client.
type RequestAsked struct {
	Pod  PodName
	Verb APIVerb
	// Attempt numbers the attempts of the pod; the answer carries it.
	Attempt int
	// UID is that of the pod that is meant: another pod of its name is not touched.
	UID types.UID
	// Reason and Message are those of the condition that VerbPatch gives.
	Reason, Message string
	// Event: the eviction begins, and the client writes an Event of it, too.
	Event bool
}

// RequestWithdrawn takes back the requests of a pod up to that attempt that the client has not made yet: they need no token any more.
// From: pod eviction. To: API client.
type RequestWithdrawn struct {
	Pod     PodName
	Attempt int
}

// RequestsRefused has the API server refuse every request with that verb from now on; without an error it serves them again.
// From: API server. To: API client.
type RequestsRefused struct {
	Verb  APIVerb
	Error string
}

func (*RequestAsked) toAPIClient()     {}
func (*RequestWithdrawn) toAPIClient() {}
func (*RequestsRefused) toAPIClient()  {}
func (*Woken) toAPIClient()            {}
