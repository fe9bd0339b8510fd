package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leeward/cmd/internal/exitcode"
	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/difference"
	"leeward/runtime/scenario/forecast"
	"leeward/runtime/scenario/incident"
)

// diffSide is one side as the command line names it, and what was read of it.
type diffSide struct {
	files, with []string
	// revision is that of git in which the files are; empty: they are those of the disk.
	revision string
	// live is set where the fleet is that of a server.
	live    bool
	profile string
	set     []config.Override
	// differs are the flags that the other side has otherwise.
	differs []string
	side    difference.Side
}

// diffSides are both, and what fails.
type diffSides struct {
	a, b diffSide
	from *fleetSource
	lose []forecast.Loss
}

const (
	// mostSideFiles, mostSideFile and mostSide bound how many files of a git revision a side has, and how many bytes one has and all have.
	mostSideFiles = mostFiles
	mostSideFile  = 64 << 20
	mostSide      = 256 << 20
)

// parse reads the command line.
func (d *diffing) parse(args []string) (*diffSides, error) {
	s := &diffSides{from: &d.from}
	for _, side := range []*diffSide{&s.a, &s.b} {
		side.files, side.live = d.from.files, d.from.live()
	}
	flags, err := s.values(d)
	if err != nil {
		return nil, err
	}
	if err := s.arguments(args, flags); err != nil {
		return nil, err
	}
	for _, text := range d.lose {
		losses, err := forecast.ParseLosses(text)
		if err != nil {
			return nil, fmt.Errorf("--lose %q: %w", text, err)
		}
		s.lose = append(s.lose, losses...)
	}
	if d.lasts != 0 && len(s.lose) == 0 {
		return nil, errors.New("--for is for --lose: the timeline says how long its outages last")
	}
	for _, side := range []*diffSide{&s.a, &s.b} {
		_, problems := config.Resolve(side.profile, side.set)
		if err := errors.Join(problems...); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// arguments reads what is no flag. Flags says whether a flag has two sides.
func (s *diffSides) arguments(args []string, flags bool) error {
	switch {
	case len(args) == 0 && flags:
		return s.from.check()
	case len(args) == 0 && !s.from.live():
		s.applied()
		return nil
	case len(args) == 0:
		return errors.New("name A and B, files with -f, or two sides of a flag, as --profile karmada..leeward")
	case len(args) == 2 && (!s.from.live() || s.from.server.names()):
		s.a.apply(args[0])
		s.b.apply(args[1])
		s.a.differ("with", args[0])
		s.b.differ("with", args[1])
		return s.from.check()
	case len(args) == 2:
		return errors.Join(s.a.is(args[0]), s.b.is(args[1]))
	case s.from.live():
		return errors.New("name A and B, or with -f the files of two revisions")
	}
	return errors.Join(s.revisions(args[0]), s.from.check())
}

// applied has the fleet of a server as it is on one side, and the files on top of it on the other.
func (s *diffSides) applied() {
	for _, file := range s.from.files {
		s.b.apply(file)
		s.b.differ("with", file)
	}
	s.a.files, s.b.files, s.a.live, s.b.live = nil, nil, true, true
}

// is makes the side a file, or that of a git revision: main:fleet.yaml.
func (s *diffSide) is(name string) error {
	s.files, s.live = []string{name}, false
	revision, file, cut := strings.Cut(name, ":")
	if _, err := os.Lstat(name); err == nil || !cut || file == "" || filepath.IsAbs(name) {
		return nil
	}
	s.files, s.revision, s.differs = []string{file}, revision, []string{"at " + revision}
	return checkRevision(revision)
}

// revisions makes the sides those of two revisions.
func (s *diffSides) revisions(text string) error {
	a, b, two := cutSides(text)
	if !two {
		return fmt.Errorf("%q is one side: name two files, or two revisions as main..HEAD", text)
	}
	for side, name := range map[*diffSide]string{&s.a: cmp.Or(a, "HEAD"), &s.b: cmp.Or(b, "HEAD")} { // order-free: each by itself
		side.revision, side.differs = name, append([]string{"at " + name}, side.differs...)
	}
	return errors.Join(checkRevision(s.a.revision), checkRevision(s.b.revision))
}

// values reads the flags that may have two sides, and reports whether one has.
func (s *diffSides) values(d *diffing) (different bool, err error) {
	pair := func(flag, a, b string) {
		different = true
		s.a.differ(flag, a)
		s.b.differ(flag, b)
	}
	a, b, two := cutSides(d.profile)
	if s.a.profile, s.b.profile = a, b; two {
		pair("profile", a, b)
	}
	for _, text := range d.set {
		field, value, found := strings.Cut(text, "=")
		if !found || field == "" {
			return false, fmt.Errorf("--set: %q is not of the form field=value or field=a..b", text)
		}
		a, b, two := cutSides(value)
		if two {
			pair(field, a, b)
		}
		s.a.override(field, a, two)
		s.b.override(field, b, two)
	}
	for _, text := range d.with {
		a, b, two := cutSides(text)
		if two && a == "" && b == "" {
			return false, fmt.Errorf("--with %q names no file", text)
		}
		if two {
			pair("with", a, b)
		}
		s.a.apply(a)
		s.b.apply(b)
	}
	return different, nil
}

// differ notes what this side has that the other has not.
func (s *diffSide) differ(flag, value string) {
	switch {
	case value == "":
	case flag == "with":
		s.differs = append(s.differs, "with "+value)
	default:
		s.differs = append(s.differs, "with "+flag+" "+value)
	}
}

// override sets a field. An empty one of two sides leaves it as it is.
func (s *diffSide) override(field, value string, two bool) {
	if value != "" || !two {
		s.set = append(s.set, config.Override{Field: field, Value: value, Source: "--set"})
	}
}

func (s *diffSide) apply(file string) {
	if file != "" {
		s.with = append(s.with, file)
	}
}

// String names both sides in errors.
func (s *diffSides) String() string { return "A is " + s.a.name() + ", B is " + s.b.name() }

// name is what the side is called.
func (s *diffSide) name() string {
	words := []string{strings.Join(s.files, ", ")}
	if s.live {
		words[0] = "the fleet of the server"
	}
	if len(s.differs) > 0 {
		words = append(words, strings.Join(s.differs, " and "))
	}
	return strings.Join(words, " ")
}

// read reads both sides; a server lists its fleet once for both. The error has its exit code.
func (s *diffSides) read(ctx context.Context, stderr io.Writer) error {
	var listed []api.Object
	var host string
	if s.a.live || s.b.live {
		s.from.templates = len(s.a.with)+len(s.b.with) > 0
		var err error
		if listed, host, err = s.from.list(ctx, stderr); err != nil {
			return s.unlisted(err)
		}
	}
	for _, side := range []*diffSide{&s.a, &s.b} {
		side.side = difference.Side{Name: side.name(), Profile: side.profile, Set: side.set}
		if err := side.read(ctx, listed, host, stderr); err != nil {
			return ofInput(err)
		}
	}
	return nil
}

// unlisted is the error of a server that cannot be asked. Where files are named, another use of them may be meant.
func (s *diffSides) unlisted(err error) error {
	if exitcode.Of(err) == exitInvalid && !s.from.live() {
		return invalid(fmt.Errorf("-f alone is compared with the fleet of a server: %w", err))
	}
	return err
}

// read reads the side; of a server, from the objects that it listed. The error names the file.
func (s *diffSide) read(ctx context.Context, listed []api.Object, host string, stderr io.Writer) error {
	with, err := s.manifests()
	if err != nil {
		return err
	}
	if s.live {
		own := lists.Of(listed, api.Copy)
		s.side.Fleets = []*scenario.Scenario{scenario.FleetOf(own, host)}
	} else if recorded, err := s.recording(with, stderr); recorded || err != nil {
		return err
	} else if s.side.Fleets, err = s.fleets(ctx); err != nil {
		return err
	}
	for _, fleet := range s.side.Fleets {
		if err := forecast.Claims(fleet.Objects, with); err != nil {
			return err
		}
		onTop(fleet, with)
	}
	return nil
}

// recording reads a side that is recorded, if it is one: what happened to its clusters is played again.
func (s *diffSide) recording(with []manifest.Document, stderr io.Writer) (is bool, err error) {
	var path string
	for _, file := range s.files {
		if len(isRecording(file)) == 0 {
			continue
		}
		data, err := bounded(file)
		if err != nil {
			return false, err
		}
		if beginsRecording(data) {
			path = file
		}
	}
	switch {
	case path == "":
		return false, nil
	case len(s.files) > 1 || s.revision != "":
		return false, fmt.Errorf("%s: a recording must be named alone, without a revision", path)
	}
	data, err := bounded(path)
	if err != nil {
		return false, err
	}
	i, err := incident.Read(path, data)
	if err != nil {
		return false, err
	}
	for _, note := range i.Notes {
		say(stderr, fmt.Sprintf("%s: %s\n", path, note))
	}
	s.side.Fleets = []*scenario.Scenario{i.Scenario(incident.Under{With: with, Profile: s.profile, Set: s.set})}
	s.side.Recorded = &difference.Recording{Evictions: i.Evictions(), Lasts: i.Duration}
	return true, nil
}

// fleets reads a side of files: all scenarios of one file, or the fleet that manifests describe.
func (s *diffSide) fleets(ctx context.Context) ([]*scenario.Scenario, error) {
	source, files, err := s.source(ctx)
	if err != nil {
		return nil, err
	}
	scenarios, problems := source.Among(files)
	switch {
	case len(problems) > 0:
		return nil, joined(problems)
	case len(scenarios) > 0: // of a directory, what they include is among the other files
		return scenarios, nil
	}
	fleet, problems := source.Fleet(files)
	if len(problems) > 0 {
		return nil, joined(problems)
	}
	return []*scenario.Scenario{fleet}, nil
}

// source is where the files are, and which those are.
func (s *diffSide) source(ctx context.Context) (scenario.Source, []string, error) {
	if s.revision != "" {
		return gitSource(ctx, s.revision, s.files)
	}
	files, err := filesIn(s.files)
	return fromDisk(mostRead), files, err
}

// manifests are those that are applied on top.
func (s *diffSide) manifests() ([]manifest.Document, error) {
	files, err := filesIn(s.with)
	if err != nil {
		return nil, err
	}
	return manifests(files)
}

// onTop applies manifests: an object takes the place of that with the same name.
func onTop(fleet *scenario.Scenario, with []manifest.Document) {
	if len(with) == 0 {
		return
	}
	instead := map[api.Key]manifest.Document{}
	for _, d := range with {
		instead[keyOnTop(d)] = d
	}
	objects := slices.Clone(fleet.Objects)
	placed := map[api.Key]bool{}
	for i, d := range objects {
		key := keyOnTop(d)
		if other, is := instead[key]; is {
			objects[i], placed[key] = other, true
		}
	}
	for _, d := range with {
		if key := keyOnTop(d); !placed[key] {
			objects, placed[key] = append(objects, instead[key]), true
		}
	}
	fleet.Objects = objects
}

// keyOnTop is the key of a manifest in the namespace that an API server would put it in.
func keyOnTop(d manifest.Document) api.Key {
	object := api.Copy(d.Object)
	admission.DefaultNamespace(object)
	return api.KeyOf(object)
}
