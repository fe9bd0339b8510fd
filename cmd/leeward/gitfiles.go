package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"leeward/runtime/scenario"
)

const (
	// mostGit is how long git may take for one answer, and mostListing how long the list of a revision's files may be.
	mostGit     = 30 * time.Second
	mostListing = 64 << 20
	// mostRevision is how long the name of a revision may be.
	mostRevision = 256
)

// checkRevision reports what can be no revision, or could be an option of git.
func checkRevision(name string) error {
	switch {
	case strings.HasPrefix(name, "-"), strings.HasPrefix(name, "."), len(name) > mostRevision:
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`:?*[\`, r) }):
	default:
		return nil
	}
	return fmt.Errorf("%.40q is not the name of a revision: want a branch, a tag or a commit, as in main..HEAD", name)
}

// gitTree is the tree of one revision. It is only read.
type gitTree struct {
	// commit is the id of the revision, and top the folder of the repository.
	revision, commit, top string
	// files are those of the tree, by path from the top.
	files  map[string]gitBlob
	budget int64
}

type gitBlob struct {
	id   string
	size int64
}

// gitSource reads files of a revision by their paths from the working directory, and those that directories among paths have.
func gitSource(ctx context.Context, revision string, paths []string) (scenario.Source, []string, error) {
	t := &gitTree{revision: revision, budget: mostSide}
	if err := t.open(ctx); err != nil {
		return scenario.Source{}, nil, err
	}
	var files []string
	for _, name := range paths {
		some, err := t.under(name)
		if err != nil {
			return scenario.Source{}, nil, err
		}
		if files = append(files, some...); len(files) > mostSideFiles {
			return scenario.Source{}, nil, fmt.Errorf("%s at %s: more than %d files", name, revision, mostSideFiles)
		}
	}
	return scenario.Source{Read: func(name string) ([]byte, error) { return t.read(ctx, name) }, Glob: t.glob}, files, nil
}

// open finds the commit and lists its tree.
func (t *gitTree) open(ctx context.Context) error {
	top, err := gitOutput(ctx, "", mostListing, "rev-parse", "--show-toplevel")
	if err != nil {
		return fmt.Errorf("revision %s: %w", t.revision, err)
	}
	t.top = strings.TrimRight(string(top), "\r\n")
	id, err := gitOutput(ctx, t.top, mostListing, "rev-parse", "--verify", "--quiet", "--end-of-options", t.revision+"^{commit}")
	if err != nil {
		return fmt.Errorf("revision %s: the repository has no such commit (fetch it: in CI, check out with its history): %w", t.revision, err)
	}
	t.commit = strings.TrimSpace(string(id))
	list, err := gitOutput(ctx, t.top, mostListing, "ls-tree", "-r", "-z", "--long", "--full-tree", t.commit)
	if err != nil {
		return fmt.Errorf("revision %s: %w", t.revision, err)
	}
	t.files, err = parseTree(list)
	return err
}

// parseTree reads what git ls-tree -r -z --long writes: "mode type id size TAB path NUL" for each. What is no regular file is omitted.
func parseTree(list []byte) (map[string]gitBlob, error) {
	files := map[string]gitBlob{}
	for entry := range bytes.SplitSeq(list, []byte{0}) {
		if len(entry) == 0 {
			continue
		}
		head, name, found := strings.Cut(string(entry), "\t")
		fields := strings.Fields(head)
		if !found || len(fields) != 4 {
			return nil, fmt.Errorf("git ls-tree wrote %.80q, which is no entry of a tree", entry)
		}
		if fields[1] != "blob" || !strings.HasPrefix(fields[0], "100") {
			continue // a symbolic link, or another repository
		}
		size, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil || size < 0 {
			return nil, fmt.Errorf("git ls-tree wrote %.80q, which has no size", entry)
		}
		files[name] = gitBlob{fields[2], size}
	}
	return files, nil
}

// key is the path from the top of the repository.
func (t *gitTree) key(name string) (string, error) {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	// git knows the folder without symbolic links
	if folder, err := filepath.EvalSymlinks(mustGetwd()); err == nil && !filepath.IsAbs(name) {
		absolute = filepath.Join(folder, name)
	}
	relative, err := filepath.Rel(t.top, absolute)
	if err != nil || relative == ".." || strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
		return "", fmt.Errorf("%s is outside of the repository %s", name, filepath.Base(t.top))
	}
	return filepath.ToSlash(relative), nil
}

// mustGetwd is the working directory, or the relative name of it.
func mustGetwd() string {
	if folder, err := os.Getwd(); err == nil {
		return folder
	}
	return "."
}

// under are the files that a path names: itself, or the manifests below it, in order.
func (t *gitTree) under(name string) (files []string, err error) {
	key, err := t.key(name)
	if err != nil {
		return nil, err
	}
	if _, is := t.files[key]; is {
		return []string{name}, nil
	}
	for file := range t.files { // order-free: sorted below
		rest, below := strings.CutPrefix(file, key+"/")
		if key == "." {
			rest, below = file, true
		}
		if below && slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(file)) {
			files = append(files, filepath.Join(name, filepath.FromSlash(rest)))
		}
	}
	slices.Sort(files)
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: revision %s has no such file, nor manifests below it", name, t.revision)
	}
	return files, nil
}

// read is the content of a file.
func (t *gitTree) read(ctx context.Context, name string) ([]byte, error) {
	key, err := t.key(name)
	if err != nil {
		return nil, err
	}
	blob, is := t.files[key]
	switch {
	case !is:
		return nil, fmt.Errorf("revision %s has no such file", t.revision)
	case blob.size > mostSideFile:
		return nil, fmt.Errorf("the file of revision %s is larger than %d MiB", t.revision, mostSideFile>>20)
	}
	if t.budget -= blob.size; t.budget < 0 {
		return nil, fmt.Errorf("the files of revision %s are larger than %d MiB together", t.revision, mostSide>>20)
	}
	return gitOutput(ctx, t.top, blob.size, "cat-file", "blob", blob.id)
}

// glob are the files that match a pattern.
func (t *gitTree) glob(pattern string) (names []string, err error) {
	key, err := t.key(pattern)
	if err != nil {
		return nil, err
	}
	folder := filepath.Dir(pattern)
	for file := range t.files { // order-free: sorted below
		matches, err := path.Match(key, file)
		if err != nil {
			return nil, err
		}
		if matches {
			names = append(names, filepath.Join(folder, path.Base(file)))
		}
	}
	slices.Sort(names)
	return names, nil
}

// limited takes so many bytes. The buffer is no part of it, for a buffer reads from a pipe without a Write that could refuse.
type limited struct {
	taken bytes.Buffer
	most  int64
}

var errTooLong = errors.New("git wrote more than was expected")

func (l *limited) Write(p []byte) (int, error) {
	if int64(l.taken.Len()+len(p)) > l.most {
		return 0, errTooLong
	}
	return l.taken.Write(p)
}

// gitOutput runs git, which only reads: it fetches nothing, asks for nothing and takes no locks.
func gitOutput(ctx context.Context, dir string, most int64, args ...string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, mostGit)
	defer stop()
	c := exec.CommandContext(ctx, "git", args...)
	out, log := &limited{most: most}, &limited{most: 64 << 10}
	c.Dir, c.Stdout, c.Stderr, c.WaitDelay = dir, out, log, time.Second
	c.Env = append(os.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1")
	err := c.Run()
	switch {
	case err == nil:
		return out.taken.Bytes(), nil
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("comparing revisions needs git, which is not on the PATH: install it, or name two directories")
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("git %s took longer than %s", args[0], mostGit)
	}
	if said, _, _ := strings.Cut(strings.TrimSpace(log.taken.String()), "\n"); said != "" {
		err = errors.New(said)
	}
	return nil, fmt.Errorf("git %s: %w", args[0], err)
}
