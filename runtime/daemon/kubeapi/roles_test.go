package kubeapi_test

import (
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/daemon/kubeapi"
)

var (
	viewer   = kubeapi.User{Name: "vera", Groups: []string{kubeapi.ViewerGroup}}
	editor   = kubeapi.User{Name: "ed", Groups: []string{kubeapi.EditorGroup}}
	stranger = kubeapi.User{Name: "stan"}
)

// TestNothingForTheMembersActsOnTheHub: a role permits nothing here, and a quota limits nothing. Who may write them is what kinds of
// their namespace, or of the fleet, are for.
func TestNothingForTheMembersActsOnTheHub(t *testing.T) {
	t.Parallel()
	d := twoTeams(t)
	const everything = "rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]"
	const everyone = "subjects: [{kind: User, name: stan}, {kind: Group, name: 'system:authenticated'}, {kind: Group, name: 'leeward:editors:shop'}]"
	const rbac = "apiVersion: rbac.authorization.k8s.io/v1\nkind: "
	write := func(u kubeapi.User, text string) error {
		o := parse(t, text)
		o.SetName("leeward:admins")
		at := d.client(u).Resource(resourceOf(t, o))
		if strings.Contains(text, "Cluster") {
			_, err := at.Create(t.Context(), o, metav1.CreateOptions{})
			return err
		}
		_, err := at.Namespace("shop").Create(t.Context(), o, metav1.CreateOptions{})
		return err
	}
	for _, text := range []string{rbac + "Role\n" + everything, rbac + "RoleBinding\nroleRef: {kind: Role, name: 'leeward:admins'}\n" + everyone} {
		require.True(t, apierrors.IsForbidden(write(stranger, text)))
		require.NoError(t, write(shopEditor, text))
	}
	for _, text := range []string{
		rbac + "ClusterRole\n" + everything + "\n", rbac + "ClusterRoleBinding\nroleRef: {kind: ClusterRole, name: 'leeward:admins'}\n" + everyone,
	} {
		require.True(t, apierrors.IsForbidden(write(shopEditor, text)))
		require.NoError(t, write(editor, text))
	}
	for name, attempt := range map[string]func() error{
		"a stranger reads": func() error {
			_, err := d.client(stranger).Resource(clusters).List(t.Context(), metav1.ListOptions{})
			return err
		},
		"a team reads of another": func() error {
			_, err := d.client(shopEditor).Resource(secrets).Namespace("bank").Get(t.Context(), "key", metav1.GetOptions{})
			return err
		},
		"a stranger reads in shop": func() error {
			_, err := d.client(stranger).Resource(secrets).Namespace("shop").List(t.Context(), metav1.ListOptions{})
			return err
		},
		"a team reads of the fleet": func() error {
			_, err := d.client(shopEditor).Resource(clusters).List(t.Context(), metav1.ListOptions{})
			return err
		},
	} {
		require.True(t, apierrors.IsForbidden(attempt()), name)
	}
	quota := parse(t, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: none}\nspec: {hard: {configmaps: 0, count/configmaps: 0}}")
	_, err := d.client(shopEditor).Resource(resourceOf(t, quota)).Namespace("shop").Create(t.Context(), quota, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = d.client(shopEditor).Resource(configMaps).Namespace("shop").Create(t.Context(), object("v1", "ConfigMap", "shop", "c", nil), metav1.CreateOptions{})
	require.NoError(t, err)
}

func TestEachRoleMayDoItsPart(t *testing.T) {
	d := serve(t)
	const may, mayNot = true, false
	for name, c := range map[string]struct {
		user  kubeapi.User
		asked authorizationv1.ResourceAttributes
		may   bool
	}{
		"an administrator may act as others": {kubeapi.Admin(), authorizationv1.ResourceAttributes{Verb: "impersonate", Resource: "users"}, may},
		"an editor may not":                  {editor, authorizationv1.ResourceAttributes{Verb: "impersonate", Resource: "users"}, mayNot},
		"an editor may taint":                {editor, of("patch", "cluster.karmada.io", "clusters", "", "m1"), may},
		"a viewer may look":                  {viewer, of("watch", "work.karmada.io", "resourcebindings", "", ""), may},
		"a viewer may not taint":             {viewer, of("patch", "cluster.karmada.io", "clusters", "", "m1"), mayNot},
		"a viewer may not see secrets":       {viewer, of("get", "", "secrets", "default", "s"), mayNot},
		"a viewer may ask what would happen": {viewer, of("create", "leeward.dev", "failoverpreviews", "", ""), may},
		"a stranger may not look":            {stranger, of("get", "cluster.karmada.io", "clusters", "", "m1"), mayNot},
		"an agent may see its cluster":       {kubeapi.Agent("m1"), of("get", "cluster.karmada.io", "clusters", "", "m1"), may},
		"an agent may not see others":        {kubeapi.Agent("m1"), of("get", "cluster.karmada.io", "clusters", "", "m2"), mayNot},
		"an agent may not list clusters":     {kubeapi.Agent("m1"), of("list", "cluster.karmada.io", "clusters", "", ""), mayNot},
		"an agent may not taint its cluster": {kubeapi.Agent("m1"), of("patch", "cluster.karmada.io", "clusters", "", "m1"), mayNot},
		"an agent may report on its cluster": {kubeapi.Agent("m1"), sub(of("patch", "cluster.karmada.io", "clusters", "", "m1"), "status"), may},
		"an agent may not report on others":  {kubeapi.Agent("m1"), sub(of("patch", "cluster.karmada.io", "clusters", "", "m2"), "status"), mayNot},
		"an agent may renew its lease":       {kubeapi.Agent("m1"), of("update", "coordination.k8s.io", "leases", "karmada-cluster", "m1"), may},
		"an agent may renew no other":        {kubeapi.Agent("m1"), of("update", "coordination.k8s.io", "leases", "karmada-cluster", "m2"), mayNot},
		"an agent may follow its works":      {kubeapi.Agent("m1"), of("watch", "work.karmada.io", "works", "karmada-es-m1", ""), may},
		"an agent may not follow others":     {kubeapi.Agent("m1"), of("watch", "work.karmada.io", "works", "karmada-es-m2", ""), mayNot},
		"an agent may not delete its works":  {kubeapi.Agent("m1"), of("delete", "work.karmada.io", "works", "karmada-es-m1", "w"), mayNot},
		"the pusher may see credentials":     {kubeapi.Pusher(), of("list", "", "secrets", "karmada-cluster", ""), may},
		"the pusher may see no others":       {kubeapi.Pusher(), of("get", "", "secrets", "default", "s"), mayNot},
		"the pusher may see none everywhere": {kubeapi.Pusher(), of("list", "", "secrets", "", ""), mayNot},
		"the pusher may report on clusters":  {kubeapi.Pusher(), sub(of("patch", "cluster.karmada.io", "clusters", "", "m1"), "status"), may},
		"the pusher may change no cluster":   {kubeapi.Pusher(), of("patch", "cluster.karmada.io", "clusters", "", "m1"), mayNot},
		"an agent may not see credentials":   {kubeapi.Agent("m1"), of("get", "", "secrets", "karmada-cluster", "m1"), mayNot},
		"a viewer may not see credentials":   {viewer, of("list", "", "secrets", "karmada-cluster", ""), mayNot},
		"a name alone makes no agent":        {kubeapi.User{Name: api.AgentUserPrefix + "m1"}, of("get", "cluster.karmada.io", "clusters", "", "m1"), mayNot},
		"the group alone makes no agent":     {kubeapi.User{Name: "m1", Groups: []string{kubeapi.AgentGroup}}, of("get", "cluster.karmada.io", "clusters", "", "m1"), mayNot},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := kubernetes.NewForConfig(d.as(c.user))
			require.NoError(t, err)
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &c.asked}}
			got, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
			require.NoError(t, err)
			require.Equal(t, c.may, got.Status.Allowed)
		})
	}
}

func of(verb, group, resource, namespace, name string) authorizationv1.ResourceAttributes {
	return authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource, Namespace: namespace, Name: name}
}

func sub(a authorizationv1.ResourceAttributes, subresource string) authorizationv1.ResourceAttributes {
	a.Subresource = subresource
	return a
}

func TestAnAgentTakesOnlyTheLeaseOfItsCluster(t *testing.T) {
	d := serve(t)
	agent := d.client(kubeapi.Agent("m1")).Resource(leases).Namespace("karmada-cluster")
	_, err := agent.Create(t.Context(), lease("karmada-cluster", "m2"), metav1.CreateOptions{})
	require.ErrorContains(t, err, "the lease of this agent must have the name m1")
	_, err = agent.Create(t.Context(), lease("karmada-cluster", "m1"), metav1.CreateOptions{})
	require.NoError(t, err)
}

func TestAUserIsToldWhoHeIs(t *testing.T) {
	d := serve(t)
	client, err := kubernetes.NewForConfig(d.as(viewer))
	require.NoError(t, err)
	me, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "vera", me.Status.UserInfo.Username)
	require.Equal(t, []string{kubeapi.ViewerGroup, "system:authenticated"}, me.Status.UserInfo.Groups)
	rules, err := client.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(),
		&authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"get", "list", "watch"}, rules.Status.ResourceRules[0].Verbs)
	require.NotEmpty(t, rules.Status.NonResourceRules)
}

func TestOnlyThoseWhoMayAskOfOthers(t *testing.T) {
	d := serve(t)
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "leeward:agent:m1", Groups: []string{kubeapi.AgentGroup}, ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "get", Group: "cluster.karmada.io", Resource: "clusters", Name: "m1",
		},
	}}
	ask := func(u kubeapi.User) (*authorizationv1.SubjectAccessReview, error) {
		client, err := kubernetes.NewForConfig(d.as(u))
		require.NoError(t, err)
		return client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
	}
	got, err := ask(kubeapi.Admin())
	require.NoError(t, err)
	require.True(t, got.Status.Allowed)
	_, err = ask(viewer)
	require.ErrorContains(t, err, "no group of the user allows it")
}

func TestAnyoneMayAskWhetherTheServerIsWell(t *testing.T) {
	d := serve(t)
	d.create(clusters, cluster("m1")) // it serves
	anyone := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	require.Eventually(t, func() bool {
		answer, err := anyone.Get("https://" + d.Addr() + "/readyz")
		return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	}, time.Minute, time.Millisecond, "it is ready once it knows the custom kinds")
	for path, code := range map[string]int{"/livez": 200, "/healthz": 200, "/version": 401, "/api": 401, "/metrics": 401, "/ui/": 401} {
		answer, err := anyone.Get("https://" + d.Addr() + path)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, code, answer.StatusCode, path)
	}
}

func TestAKubeconfigOutlivesARestart(t *testing.T) {
	e, dir := open(t), t.TempDir()
	first := start(t, e, dir, "127.0.0.1:0")
	known, addr := first.as(viewer), first.Addr()
	first.stop()
	start(t, e, dir, addr)
	client, err := rest.HTTPClientFor(known)
	require.NoError(t, err)
	answer, err := client.Get("https://" + addr + "/apis/cluster.karmada.io/v1alpha1/clusters")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	for file, mode := range map[string]os.FileMode{"kubeconfig": 0o600, "pki/ca.key": 0o600, "pki": os.ModeDir | 0o700} {
		info, err := os.Stat(filepath.Join(dir, file))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode(), file)
	}
}

func TestATokenOfTheFileIsAUser(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tokens.csv"), []byte("sesame,vera,1,\"leeward:viewers\"\n"), 0o600))
	d := start(t, open(t), dir, "127.0.0.1:0")
	c := rest.AnonymousClientConfig(d.as(viewer))
	for token, code := range map[string]int{"sesame": 200, "wrong": 401} {
		c.BearerToken = token
		client, err := rest.HTTPClientFor(c)
		require.NoError(t, err)
		answer, err := client.Get("https://" + d.Addr() + "/apis/cluster.karmada.io/v1alpha1/clusters")
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, code, answer.StatusCode, token)
	}
}

func TestWhatCannotBeServedIsRefused(t *testing.T) {
	broken := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(broken, "pki"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(broken, "pki", "ca.key"), []byte("no key"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(broken, "pki", "ca.crt"), []byte("no certificate"), 0o600))
	for name, c := range map[string]struct{ addr, dir, wrong string }{
		"an address of everyone":  {"0.0.0.0:0", t.TempDir(), `listen on "0.0.0.0:0": not a loopback address`},
		"an address without port": {"127.0.0.1", t.TempDir(), `listen on "127.0.0.1": address 127.0.0.1: missing port in address`},
		"a broken authority":      {"127.0.0.1:0", broken, "read the authority " + filepath.Join(broken, "pki", "ca.crt")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := kubeapi.New(configOf(t, open(t), c.dir, c.addr))
			require.ErrorContains(t, err, c.wrong)
		})
	}
}

func TestWritesAreAudited(t *testing.T) {
	d := serve(t)
	d.create(clusters, cluster("m1"))
	d.create(secrets, object("v1", "Secret", "default", "s", nil))
	d.get(clusters, "m1")
	_, err := d.client(kubeapi.Agent("m1")).Resource(leases).Namespace("karmada-cluster").Create(t.Context(), lease("karmada-cluster", "m1"), metav1.CreateOptions{})
	require.NoError(t, err)
	d.stop()
	text, err := os.ReadFile(filepath.Join(d.dir, "audit.jsonl"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], `"username":"leeward:admin"`)
	require.Contains(t, lines[0], `"requestObject"`)
	require.NotContains(t, lines[1], `"requestObject"`, "secrets are not written down")
}
