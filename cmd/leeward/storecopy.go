package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	strict "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"leeward/cmd/internal/exitcode"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/messages/spelling"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
	"leeward/runtime/fleet/catalog"
)

// expiresAnnotation carries through an export when an object goes by itself, as Events do.
const expiresAnnotation = "leeward.dev/expires"

func storeExportCommand() *cobra.Command {
	form := wordFlag{word: "jsonl", choices: []string{"jsonl", "yaml"}}
	salvage := false
	c := &cobra.Command{
		Use:   "export DIR",
		Short: "Write the objects of a store as manifests",
		Long: `Write the objects of a store to standard output, ordered by group, resource, namespace and name: one JSON
object a line, or one YAML List. Objects that expire, as Events do, have the time in the annotation
` + expiresAnnotation + `.

` + storeExitCodes,
		Example: `  leeward store export leewardd.data/store > objects.jsonl
  leeward store export leewardd.data/store -o yaml | leeward validate /dev/stdin`,
		Args: oneFolder,
		RunE: func(c *cobra.Command, args []string) error { return exportStore(c, args[0], form.word, salvage) },
	}
	form.add(c, "output", "o", "form: jsonl or yaml")
	c.Flags().BoolVar(&salvage, "salvage", false, "export the objects of a damaged store up to the damage")
	return c
}

// exportStore ends with 1 when it has salvaged: something is lost.
func exportStore(c *cobra.Command, dir, form string, salvage bool) error {
	state, loss := wal.Load(dir)
	if loss != nil && !(salvage && errors.As(loss, new(*wal.Damage))) {
		return ofStore(loss)
	}
	for _, note := range state.Notes {
		say(c.ErrOrStderr(), note+"\n")
	}
	out := bufio.NewWriter(c.OutOrStdout())
	if err := errors.Join(exportObjects(out, &state, form), out.Flush()); err != nil || loss == nil {
		return err
	}
	return ofStore(fmt.Errorf("%w; exported the objects before the damage, at version %d", loss, state.Version))
}

func exportObjects(w io.Writer, state *wal.State, form string) error {
	if form == "yaml" {
		beginning := "apiVersion: v1\nkind: List\nitems:\n"
		if len(state.Records) == 0 {
			beginning = "apiVersion: v1\nkind: List\nitems: []\n"
		}
		if _, err := io.WriteString(w, beginning); err != nil {
			return err
		}
	}
	for i := range state.Records {
		o, err := exported(&state.Records[i])
		if err != nil {
			return &exitcode.Exit{Code: exitFailed, Err: fmt.Errorf("%s: %w", state.Records[i].Key, err)}
		}
		if err := writeObject(w, o, form); err != nil {
			return err
		}
	}
	return nil
}

// exported is a record as a manifest.
func exported(r *wal.Record) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(r.Object); err != nil {
		return nil, err
	}
	o.SetResourceVersion(strconv.FormatInt(r.Version, 10))
	if r.Expires != 0 {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[expiresAnnotation] = time.Unix(0, r.Expires).UTC().Format(time.RFC3339Nano)
		o.SetAnnotations(annotations)
	}
	return o, nil
}

func writeObject(w io.Writer, o *unstructured.Unstructured, form string) error {
	var data []byte
	var err error
	if form == "yaml" {
		data, err = yaml.Marshal([]any{o.Object})
	} else {
		data, err = o.MarshalJSON() // with a new line at its end
	}
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

func storeImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import DIR FILE...",
		Short: "Make a new store from manifests",
		Long: `Make a new store from manifests: YAML documents and Lists, or one JSON object a line in a file that ends in
.jsonl. The folder must not have a store yet. Manifests are read strictly; their metadata and status remain
unchanged, except the resource versions, which start again. Nothing is written if a manifest is invalid, or
if the command is killed.

` + storeExitCodes,
		Example: `  leeward store export leewardd.data/store > objects.jsonl && leeward store import new.data/store objects.jsonl
  kubectl get clusters,resourcebindings -A -o yaml > live.yaml && leeward store import rehearsal.data/store live.yaml`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return misused(c, fmt.Errorf("%s needs a folder and manifests", c.CommandPath()))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return importStore(c, args[0], args[1:]) },
	}
}

func importStore(c *cobra.Command, dir string, files []string) error {
	switch exists, err := wal.Exists(dir); {
	case err != nil:
		return ofStore(err)
	case exists:
		return ofStore(fmt.Errorf("%s: %w", dir, wal.ErrExists))
	}
	in := importing{places: map[string]string{}}
	for _, name := range files {
		in.file(name)
	}
	in.customs()
	if len(in.problems) > 0 {
		return ofInput(errors.Join(in.problems...))
	}
	if err := wal.Create(dir, in.records); err != nil {
		return ofStore(err)
	}
	_, err := fmt.Fprintf(c.OutOrStdout(), "imported: %s\n", spelling.Count(len(in.records), "object"))
	return err
}

// importing gathers records, and all that is wrong with the manifests.
type importing struct {
	records []wal.Record
	// places says where each key was met, as "fleet.yaml:3".
	places   map[string]string
	problems []error
	// waiting are objects of custom kinds, of which the definitions in kinds are read first.
	waiting []custom
	kinds   []*catalog.Resource
}

// custom is an object of a custom kind, and where it was met.
type custom struct {
	object api.Object
	place  string
}

func (in *importing) file(name string) {
	data, err := os.ReadFile(name)
	switch {
	case err != nil:
		in.problems = append(in.problems, err)
	case filepath.Ext(name) == ".jsonl":
		in.lines(name, bytes.Split(data, []byte("\n")))
	default:
		in.documents(name, data, 0)
	}
}

// lines reads one object a line, on every processor, and in their order what is not read by quickly.
func (in *importing) lines(name string, lines [][]byte) {
	read := make([]*wal.Record, len(lines))
	var readers sync.WaitGroup
	parts := runtime.GOMAXPROCS(0)
	for part := range parts {
		readers.Go(func() {
			for n := part; n < len(lines); n += parts {
				read[n] = quickly(lines[n])
			}
		})
	}
	readers.Wait()
	for n, line := range lines {
		if read[n] == nil {
			in.documents(name, line, n)
			continue
		}
		place := fmt.Sprintf("%s:%d", name, n+1)
		if err := in.add(read[n], place); err != nil {
			in.documents(name, line, n) // which names the object
		}
	}
}

// quickly returns the record of a line that is one object in JSON without a mistake, as a store exports it, in a tenth of
// the time that a manifest takes. Of any other it returns nil: what it holds, or what is wrong, is for manifest to say.
func quickly(line []byte) *wal.Record {
	var kind metav1.TypeMeta
	if err := jsonv2.Unmarshal(line, &kind); err != nil {
		return nil
	}
	o, into := emptyOf(kind)
	if mistakes, err := strict.UnmarshalStrict(line, into); err != nil || len(mistakes) > 0 || o.GetName() == "" {
		return nil
	}
	resource := catalog.Of(api.KeyOf(o))
	if resource == nil || resource.IsCustom() || resource == catalog.Definitions {
		return nil
	}
	r, err := recordOf(o, resource)
	if err != nil {
		return nil
	}
	return &r
}

var typed = manifest.FleetKinds()

// emptyOf returns an empty object of a kind, as manifest makes them, and what its JSON is read into.
func emptyOf(kind metav1.TypeMeta) (o api.Object, into any) {
	if empty, known := typed[kind]; known {
		o = empty()
		return o, o
	}
	u := &unstructured.Unstructured{}
	return u, &u.Object
}

// documents reads manifests that begin below so many lines of a file.
func (in *importing) documents(name string, data []byte, below int) {
	documents, problems := manifest.Decode(name, data)
	for _, p := range problems {
		p.Line += below
		in.problems = append(in.problems, p)
	}
	for _, d := range documents {
		place := fmt.Sprintf("%s:%d", name, d.Line("")+below)
		if err := in.object(d.Object, place); err != nil {
			in.problems = append(in.problems, fmt.Errorf("%s: %s: %w", place, api.KeyOf(d.Object), err))
		}
	}
}

func (in *importing) object(o api.Object, place string) error {
	resource := catalog.Of(api.KeyOf(o))
	switch {
	case resource == nil:
		return errors.New("the daemon does not store objects of this kind")
	case resource.IsCustom():
		in.waiting = append(in.waiting, custom{o, place})
		return nil
	case resource == catalog.Definitions:
		in.kinds = append(in.kinds, catalog.Defined(o.(*unstructured.Unstructured)))
	}
	return in.record(o, resource, place)
}

func (in *importing) record(o api.Object, resource *catalog.Resource, place string) error {
	r, err := recordOf(o, resource)
	if err != nil {
		return err
	}
	return in.add(&r, place)
}

// customs takes the objects of custom kinds, each as its definition says.
func (in *importing) customs() {
	for _, c := range in.waiting {
		if err := in.custom(c.object, c.place); err != nil {
			in.problems = append(in.problems, fmt.Errorf("%s: %s: %w", c.place, api.KeyOf(c.object), err))
		}
	}
}

func (in *importing) custom(o api.Object, place string) error {
	kind := o.GetObjectKind().GroupVersionKind()
	i := slices.IndexFunc(in.kinds, func(r *catalog.Resource) bool { return r.Kind.GroupKind() == kind.GroupKind() })
	switch {
	case i < 0:
		return errors.New("no CustomResourceDefinition of its kind is imported")
	case in.kinds[i].Kind != kind:
		return fmt.Errorf("apiVersion: its CustomResourceDefinition stores objects as %s", in.kinds[i].Kind.GroupVersion())
	case in.kinds[i].ClusterScoped && o.GetNamespace() != "":
		return fmt.Errorf("metadata.namespace: %q: its kind has no namespace", o.GetNamespace())
	}
	return in.record(o, in.kinds[i], place)
}

// add takes a record, unless there is one of its object.
func (in *importing) add(r *wal.Record, place string) error {
	if before, ok := in.places[r.Key]; ok {
		return fmt.Errorf("is at %s already", before)
	}
	in.places[r.Key] = place
	in.records = append(in.records, *r)
	return nil
}

// recordOf is an object of a resource as a log has it.
func recordOf(o api.Object, resource *catalog.Resource) (r wal.Record, err error) {
	if !resource.ClusterScoped && o.GetNamespace() == "" {
		o.SetNamespace("default")
	}
	r.Key = engine.Key(resource.Name(), o.GetNamespace(), o.GetName())
	if o.GetUID() == "" { // of a manifest: the API patches no object without one
		o.SetUID(types.UID(uuid.NewSHA1(uuid.NameSpaceURL, []byte(r.Key)).String()))
	}
	if r.Expires, err = takeExpiry(o); err != nil {
		return r, err
	}
	o.SetResourceVersion("")
	r.Object, err = json.Marshal(o)
	return r, err
}

// takeExpiry takes out of an object what its export said about its end.
func takeExpiry(o api.Object) (int64, error) {
	annotations := o.GetAnnotations()
	text, ok := annotations[expiresAnnotation]
	if !ok {
		return 0, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, fmt.Errorf("metadata.annotations[%s]: %q: want a time as in 2006-01-02T15:04:05Z", expiresAnnotation, text)
	}
	delete(annotations, expiresAnnotation)
	if len(annotations) == 0 {
		annotations = nil
	}
	o.SetAnnotations(annotations)
	return at.UnixNano(), nil
}
