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

	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/difference"
	"leeward/runtime/scenario/forecast"
	"leeward/runtime/scenario/incident"
)

// diffSide is one side as the command line names it.
type diffSide struct {
	files, with []string
	// revision is that of git in which the files are; empty: they are those of the disk.
	revision string
	profile  string
	set      []config.Override
	// differs are the flags that the other side has otherwise.
	differs []string
}

// diffSides are both, and what fails.
type diffSides struct {
	a, b diffSide
	lose []forecast.Loss
}

const (
	// mostSideFiles, mostSideFile and mostSide bound how many files a side has, and how many bytes one has and all have.
	mostSideFiles = 10_000
	mostSideFile  = 64 << 20
	mostSide      = 256 << 20
)

// parse reads the command line.
func (d *diffing) parse(args []string) (*diffSides, error) {
	s := &diffSides{a: diffSide{files: d.files}, b: diffSide{files: d.files}}
	different, err := s.arguments(args, len(d.files) > 0)
	if err != nil {
		return nil, err
	}
	flags, err := s.values(d)
	if err != nil {
		return nil, err
	}
	if !different && !flags {
		return nil, errors.New("the sides are the same: name A and B, or two sides of a flag, as --profile karmada..leeward")
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

// arguments reads what is no flag, and reports whether it makes the sides differ.
func (s *diffSides) arguments(args []string, fleet bool) (different bool, err error) {
	switch {
	case len(args) == 2 && fleet:
		s.a.with, s.b.with = args[:1], args[1:]
		s.a.differs, s.b.differs = []string{"with " + args[0]}, []string{"with " + args[1]}
		return true, nil
	case len(args) == 2:
		s.a.files, s.b.files = args[:1], args[1:]
		return true, nil
	case !fleet:
		return false, errors.New("name A and B, or a fleet with -f")
	case len(args) == 0:
		return false, nil
	}
	a, b, two := cutSides(args[0])
	if !two {
		return false, fmt.Errorf("%q is one side: name two files, or two revisions as main..HEAD", args[0])
	}
	s.a.revision, s.b.revision = cmp.Or(a, "HEAD"), cmp.Or(b, "HEAD")
	for _, name := range []string{s.a.revision, s.b.revision} {
		if err := checkRevision(name); err != nil {
			return false, err
		}
	}
	s.a.differs, s.b.differs = []string{"at " + s.a.revision}, []string{"at " + s.b.revision}
	return true, nil
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

// name is what the side is called.
func (s *diffSide) name() string {
	words := []string{strings.Join(s.files, ", ")}
	if len(s.differs) > 0 {
		words = append(words, strings.Join(s.differs, " and "))
	}
	return strings.Join(words, " ")
}

// read reads the side. The error names the file.
func (s *diffSide) read(ctx context.Context, stderr io.Writer) (difference.Side, error) {
	side := difference.Side{Name: s.name(), Profile: s.profile, Set: s.set}
	fleet, err := s.fleet(ctx, stderr)
	side.Fleet = fleet
	return side, err
}

func (s *diffSide) fleet(ctx context.Context, stderr io.Writer) (*scenario.Scenario, error) {
	with, err := s.manifests()
	if err != nil {
		return nil, err
	}
	for _, path := range s.files {
		if len(isRecording(path)) > 0 {
			return s.recording(path, with, stderr)
		}
	}
	source, files, err := s.source(ctx)
	if err != nil {
		return nil, err
	}
	fleet, problems := source.Fleet(files)
	if len(problems) > 0 {
		return nil, joined(problems)
	}
	onTop(fleet, with)
	return fleet, nil
}

// recording is a side that is recorded: what happened to its clusters is played again.
func (s *diffSide) recording(path string, with []manifest.Document, stderr io.Writer) (*scenario.Scenario, error) {
	if len(s.files) > 1 || s.revision != "" {
		return nil, fmt.Errorf("%s: a recording must be named alone, without a revision", path)
	}
	data, err := bounded(path)
	if err != nil {
		return nil, err
	}
	i, err := incident.Read(path, data)
	if err != nil {
		return nil, err
	}
	for _, note := range i.Notes {
		say(stderr, fmt.Sprintf("%s: %s\n", path, note))
	}
	return i.Scenario(incident.Under{With: with, Profile: s.profile, Set: s.set}), nil
}

// source is where the files are, and which those are.
func (s *diffSide) source(ctx context.Context) (scenario.Source, []string, error) {
	if s.revision != "" {
		return gitSource(ctx, s.revision, s.files)
	}
	files, err := sideFiles(s.files)
	budget := int64(mostSide)
	return scenario.Source{Glob: filepath.Glob, Read: func(name string) ([]byte, error) {
		data, err := bounded(name)
		if budget -= int64(len(data)); err == nil && budget < 0 {
			err = fmt.Errorf("the files are larger than %d MiB together", mostSide>>20)
		}
		return data, err
	}}, files, err
}

// sideFiles are the files of paths.
func sideFiles(paths []string) (files []string, err error) {
	for _, path := range paths {
		some, err := filesOf(path)
		if err != nil {
			return nil, err
		}
		if files = append(files, some...); len(files) > mostSideFiles {
			return nil, fmt.Errorf("%s: more than %d files", path, mostSideFiles)
		}
	}
	return files, nil
}

// bounded reads a file that is not too large.
func bounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, mostSideFile+1))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil && len(data) > mostSideFile {
		err = fmt.Errorf("%s is larger than %d MiB", name, mostSideFile>>20)
	}
	return data, err
}

// manifests are those that are applied on top.
func (s *diffSide) manifests() ([]manifest.Document, error) {
	files, err := sideFiles(s.with)
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
