package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benbjohnson/clock"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"leeward/messages/lists"
	"leeward/runtime/client/install"
)

func attachCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "attach",
		Short: "Grant a daemon its rights on the API server that it is attached to, and take them back",
	}
	c.AddCommand(attachInstallCommand(), attachUninstallCommand())
	return c
}

// attaching is an attach command: its flags.
type attaching struct {
	editing
	namespace string
	beside    wordFlag
	output    wordFlag
	objects   bool
	// steps are what was done.
	steps []*install.Step
}

func newAttaching() *attaching {
	return &attaching{
		editing: newEditing(), beside: wordFlag{"", []string{string(install.Karmada), string(install.Kubernetes)}},
		output: wordFlag{"text", []string{"text", "json", "yaml"}},
	}
}

func (a *attaching) add(c *cobra.Command) {
	a.editing.add(c)
	f := c.Flags()
	f.StringVarP(&a.namespace, "namespace", "n", install.DefaultNamespace, "namespace of the service account and of the Lease, as leewardd --attach-namespace names it")
	f.Var(&a.beside, "beside", "karmada or kubernetes (default: what the server is)")
	complete(c, "beside", a.beside.choices)
}

const attachExitCodes = `Exit codes:
  0  done, or nothing to change
  1  the server refused it or did not answer; the lines printed before are done
  2  the command line is invalid
  3  an internal error`

func attachInstallCommand() *cobra.Command {
	a := newAttaching()
	c := &cobra.Command{
		Use:   "install ROLE",
		Short: "Apply the rights, and the kinds, that an attached daemon needs",
		Long: `Apply what leewardd --attach needs on an API server, for one of the roles

  shadow                beside Karmada or a Kubernetes cluster: it lists and watches, and writes nothing
  act                   in place of Karmada's scheduler and failover controllers: also the kinds EvictionBudget,
                        ClusterEvictionBudget and Governor, and the Governor fleet
  node-taint-eviction   in place of the taint-eviction controller of a Kubernetes cluster

It is server-side apply, so it may be repeated, and leaves what others added. It needs the rights that it grants.
-o yaml prints the objects; with --dry-run=client and --beside no server is asked.

` + attachExitCodes,
		Example: `  leeward attach install shadow
  leeward attach install act --dry-run=server
  leeward attach install shadow --beside karmada --dry-run=client -o yaml > shadow.yaml`,
		ValidArgs: roles, Args: oneRole,
		RunE: a.install,
	}
	a.add(c)
	c.Flags().VarP(&a.output, "output", "o", "text, json or yaml")
	complete(c, "output", a.output.choices)
	return c
}

func attachUninstallCommand() *cobra.Command {
	a := newAttaching()
	c := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove what leeward attach install applied",
		Long: `Remove what leeward attach install applied, of all roles. Stop leewardd first: while one acts, it refuses. It also refuses while
there are EvictionBudgets, ClusterEvictionBudgets or Governors that an installation did not make, or that pause evictions, because they
are deleted with their kinds: --delete-objects has it do so. Bindings stay as they are.

` + attachExitCodes,
		Example: "  leeward attach uninstall --dry-run=server\n  leeward attach uninstall\n  leeward attach uninstall --delete-objects",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.uninstall,
	}
	a.add(c)
	c.Flags().BoolVar(&a.objects, "delete-objects", false, "delete the objects of Leeward's kinds, too")
	return c
}

var roles = lists.Of(install.Roles, func(r install.Role) string { return string(r) })

func oneRole(c *cobra.Command, args []string) error {
	if len(args) != 1 || !slices.Contains(roles, args[0]) {
		return misused(c, fmt.Errorf("want one role of %s, not %q", strings.Join(roles, ", "), strings.Join(args, " ")))
	}
	return nil
}

// prepare checks the flags, connects, and says what the server is, unless nothing has to be asked.
func (a *attaching) prepare(c *cobra.Command, offline bool) error {
	if wrong := validation.IsDNS1123Label(a.namespace); len(wrong) > 0 {
		return misused(c, fmt.Errorf("--namespace: %q: %s", a.namespace, wrong[0]))
	}
	if offline && a.beside.word != "" {
		return nil
	}
	if err := a.connect(c); err != nil {
		return misused(c, err)
	}
	if a.beside.word != "" {
		return nil
	}
	is, err := install.ServerOf(c.Context(), a.client)
	a.beside.word = string(is)
	return refused(err)
}

func (a *attaching) install(c *cobra.Command, args []string) error {
	offline := a.dryRun.word == "client"
	if err := a.prepare(c, offline); err != nil {
		return err
	}
	choice := install.Choice{Role: install.Role(args[0]), Server: install.Server(a.beside.word), Namespace: a.namespace}
	manifests, err := choice.Manifests()
	if err != nil {
		return misused(c, err)
	}
	if !offline {
		i := install.Installation{Client: a.client, DryRun: a.dryRun.word == "server", Tell: a.tell(c)}
		return errors.Join(refused(i.Install(c.Context(), manifests)), a.printObjects(c))
	}
	tell := a.tell(c)
	for _, o := range manifests {
		if err := tell(&install.Step{Object: o, Did: "applied"}); err != nil {
			return err
		}
	}
	return a.printObjects(c)
}

// tell prints each step, or keeps it for the objects to be printed.
func (a *attaching) tell(c *cobra.Command) func(*install.Step) error {
	return func(s *install.Step) error {
		if a.output.word != "text" {
			a.steps = append(a.steps, s)
			return nil
		}
		if s.Why != "" {
			_, err := fmt.Fprintln(c.OutOrStdout(), s)
			return err
		}
		return a.print(c, s.Name(), s.Did)
	}
}

// printObjects prints the objects as a list, where they are asked for.
func (a *attaching) printObjects(c *cobra.Command) error {
	if a.output.word == "text" {
		return nil
	}
	items := make([]any, 0, len(a.steps))
	for _, s := range a.steps {
		s.Object.SetManagedFields(nil)
		items = append(items, s.Object.Object)
	}
	return printed(c.OutOrStdout(), a.output.word, map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, nil)
}

func (a *attaching) uninstall(c *cobra.Command, _ []string) error {
	if err := a.prepare(c, false); err != nil {
		return err
	}
	r := install.Removal{
		Client: a.client, Server: install.Server(a.beside.word), Namespace: a.namespace, Clock: clock.New(),
		Objects: a.objects, DryRun: a.dryRun.word != "none", Tell: a.tell(c),
	}
	return refused(r.Uninstall(c.Context()))
}
