package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// change is the policy that docs/diff.md proves better.
const change = "..docs/examples/fleet-policies.yaml"

func differedAs(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	require.Equal(t, code, execute(append([]string{"diff"}, args...), &out, &log), log.String())
	return out.String(), log.String()
}

func TestEachFormOfADifferenceIsAsItWas(t *testing.T) {
	t.Chdir("../..")
	for _, form := range []string{"text", "wide", "json", "yaml", "github"} {
		for name, lose := range map[string]string{"contingencies": "", "loss": "--lose cluster=us-1"} {
			out, _ := differedAs(t, 1, append(strings.Fields(lose), "-f", weak, "--with", change, "-o", form)...)
			isGolden(t, "diff/"+name+"."+form, out)
		}
	}
}

func TestEachLineOfADifferenceThatIsAPredictionSaysSo(t *testing.T) {
	t.Chdir("../..")
	out, _ := differedAs(t, 1, "-f", weak, "--with", change, "-o", "wide")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for _, line := range lines[2:] {
		if line != "" && !strings.HasPrefix(line, "WHAT DIFFERS") {
			require.True(t, strings.HasPrefix(line, "predicted: "), line)
		}
	}
}

func TestDiffExitsByWhetherTheSidesDiffer(t *testing.T) {
	t.Chdir("../..")
	const first = "scenarios/nginx-is-evicted-from-a-failed-cluster.yaml"
	const recording = "scenarios/recordings/nginx-is-evicted-from-a-failed-cluster.jsonl"
	for _, c := range []struct {
		code int
		args string
		says string
	}{
		{0, weak + " " + weak, "no difference"},
		{2, weak + " " + weak + " --lose zone=a", `there is no zone "a"`},
		{0, first + " " + first, "no difference"},
		{0, recording + " " + recording, "no difference"},
		{1, recording + " scenarios/recordings/karmada-failover.jsonl", "in A only"},
		{1, "docs/examples/taint-policy.yaml docs/examples/fleet-policies.yaml -f " + weak + " --lose cluster=us-1", "B is worse"},
		{1, "-f " + weak + " --with docs/examples/fleet-policies.yaml..docs/examples/taint-policy.yaml --lose cluster=us-1", "B is better"},
		{1, "-f " + weak + " --profile leeward..karmada --lose cluster=us-1", "B is"},
		{0, "-f " + first + " --set evictionWorkers=1..10", "no difference"},
		{2, "-f " + first + " --profile leeward..karmada", "side B: "},
		{2, first + " " + weak, "one side has a timeline"},
		{2, "-f " + weak, "-f alone is compared with the fleet of a server: read the kubeconfig: "},
		{2, "--profile karmada..leeward", "read the kubeconfig: "},
		{2, "--profile karmada..leeward --context x -f " + weak, "not both"},
		{2, weak, "name A and B, or with -f the files of two revisions"},
		{2, "", "name A and B, files with -f, or two sides of a flag"},
		{2, "nonesuch:x.yaml " + weak, "revision nonesuch: "},
		{2, "-x:y " + weak, "unknown shorthand flag"},
		{2, weak + " -f " + weak, "is one side"},
		{2, "-f " + weak + " --with ..", "read the kubeconfig: "},
		{2, "-f " + weak + " --with ..nowhere.yaml", "nowhere.yaml"},
		{2, "-f " + weak + " --set evictionWorkers", "not of the form"},
		{2, "-f " + weak + " --set evictionWorkers=1..many", "evictionWorkers"},
		{2, "-f " + weak + " --profile leeward..moon", "moon"},
		{2, "-f " + weak + " --profile karmada..leeward --lose moon=1", `--lose "moon=1": kind: must be`},
		{2, "-f " + weak + " --profile karmada..leeward --for 5m", "--for is for --lose"},
		{2, "--upload-pack=x..HEAD -f " + weak, "unknown flag"},
		{2, "HEAD..:x -f " + weak, "is not the name of a revision"},
		{2, "HEAD...HEAD~1 -f " + weak, "is not the name of a revision"},
		{2, "nonesuch..HEAD -f " + weak, "revision nonesuch: "},
		{2, weak + " " + weak + " " + weak, "accepts at most 2"},
	} {
		var out, log bytes.Buffer
		code := execute(append([]string{"diff"}, strings.Fields(c.args)...), &out, &log)
		require.Equal(t, c.code, code, c.args+": "+log.String())
		require.Contains(t, out.String()+log.String(), c.says, c.args)
	}
}

// repository is one with two revisions of the fleet, the second with another policy; the working directory is a folder in it.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	before, err := os.ReadFile("../../" + weak)
	require.NoError(t, err)
	dir := t.TempDir()
	git := func(args ...string) {
		c := exec.CommandContext(t.Context(), "git", args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	folder := filepath.Join(dir, "clusters", "fleet")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	git("init", "-q", "-b", "main")
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "fleet.yaml"), []byte(text), 0o600))
		git("add", "-A")
		git("commit", "-q", "-m", "fleet")
	}
	write(string(before))
	git("tag", "before")
	write(strings.ReplaceAll(string(before), "effect: NoExecute}\n    spread", "effect: NoExecute, tolerationSeconds: 60}\n    spread"))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "fleet.yaml"), []byte("not read"), 0o600))
	t.Chdir(filepath.Join(dir, "clusters"))
	return dir
}

func TestTwoRevisionsOfAFolderAreCompared(t *testing.T) {
	dir := repository(t)
	tree := func() (names []string) {
		require.NoError(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := e.Info()
			require.NoError(t, err)
			names = append(names, name+" "+info.ModTime().String())
			return nil
		}))
		return names
	}
	before := tree()
	for _, of := range []string{"before..HEAD -f fleet", "before.. -f fleet/fleet.yaml", "main~1..main -f .", "before..HEAD -f ../clusters/fleet/"} {
		out, _ := differedAs(t, 1, append(strings.Fields(of), "--lose", "cluster=us-1")...)
		require.Contains(t, out, "predicted: B is better than A", of)
	}
	out, _ := differedAs(t, 0, "HEAD..main", "-f", "fleet")
	require.Contains(t, out, "no difference")
	out, _ = differedAs(t, 1, "before:fleet", "HEAD:fleet/fleet.yaml", "--lose", "cluster=us-1")
	require.Contains(t, out, "diff: A is fleet at before; B is fleet/fleet.yaml at HEAD; ")
	_, log := differedAs(t, 2, "before:fleet", "fleet", "--lose", "cluster=us-1")
	require.Contains(t, log, "fleet/fleet.yaml", "the file of the disk is no manifest")
	_, log = differedAs(t, 2, "before..HEAD", "-f", "nowhere")
	require.Contains(t, log, "nowhere: revision before has no such file, nor manifests below it")
	_, log = differedAs(t, 2, "before..HEAD", "-f", "../..")
	require.Contains(t, log, "is outside of the repository")
	require.Equal(t, before, tree(), "nothing is written")
	t.Setenv("PATH", "")
	_, log = differedAs(t, 2, "before..HEAD", "-f", "fleet")
	require.Contains(t, log, "comparing revisions needs git, which is not on the PATH")
}

func TestSidesOfAValue(t *testing.T) {
	for text, want := range map[string][]string{
		"karmada..leeward":      {"karmada", "leeward"},
		"..b.yaml":              {"", "b.yaml"},
		"a.yaml..":              {"a.yaml", ""},
		"../a.yaml":             nil,
		"../a.yaml..../b.yaml":  {"../a.yaml", "../b.yaml"},
		"....//b.yaml":          {"", "..//b.yaml"},
		"x/../a.yaml..x/b.yaml": {"x/../a.yaml", "x/b.yaml"},
		"..":                    nil,
		"":                      nil,
		"1.5":                   nil,
	} {
		a, b, two := cutSides(text)
		require.Equal(t, want != nil, two, text)
		if two {
			require.Equal(t, want, []string{a, b}, text)
		}
	}
}

func FuzzSidesOfAValue(f *testing.F) {
	f.Add("../a.yaml..../b.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		a, b, two := cutSides(text)
		if two {
			require.Equal(t, text, a+sidesApart+b)
		} else {
			require.Equal(t, []string{text, text}, []string{a, b})
		}
		if checkRevision(text) == nil {
			require.False(t, strings.HasPrefix(text, "-"))
			require.NotContains(t, text, ":")
		}
	})
}

func FuzzTreeOfARevision(f *testing.F) {
	f.Add([]byte("100644 blob 0123 12\ta/b.yaml\x00120000 blob 01 3\tlink\x00160000 commit 01 -\tsub\x00"))
	f.Fuzz(func(t *testing.T, list []byte) {
		files, err := parseTree(list)
		if err != nil {
			require.Nil(t, files)
			return
		}
		for _, blob := range files {
			require.GreaterOrEqual(t, blob.size, int64(0))
		}
	})
}

func TestATreeHoldsRegularFilesAlone(t *testing.T) {
	files, err := parseTree([]byte("100644 blob 0123 12\ta b.yaml\x00120000 blob 01 3\tlink\x00160000 commit 01 -\tsub\x00"))
	require.NoError(t, err)
	require.Equal(t, map[string]gitBlob{"a b.yaml": {"0123", 12}}, files)
	for _, bad := range []string{"x", "100644 blob 1 -1\tx", "100644 blob 1 much\tx", "100644 blob 1 1"} {
		_, err := parseTree([]byte(bad))
		require.Error(t, err, bad)
	}
}

func TestFilesAndAnswersOfGitAreBounded(t *testing.T) {
	l := &limited{most: 3}
	_, err := l.Write([]byte("abcd"))
	require.ErrorIs(t, err, errTooLong)
	_, err = io.Copy(l, strings.NewReader("abcd")) // as os/exec copies what a command prints
	require.ErrorIs(t, err, errTooLong)
	tree := &gitTree{revision: "x", top: mustGetwd(), files: map[string]gitBlob{"a.yaml": {"1", mostSideFile + 1}, "b.yaml": {"2", 9}}, budget: 8}
	_, err = tree.read(t.Context(), filepath.Join(tree.top, "a.yaml"))
	require.ErrorContains(t, err, "larger than 64 MiB")
	_, err = tree.read(t.Context(), filepath.Join(tree.top, "b.yaml"))
	require.ErrorContains(t, err, "larger than 256 MiB together")
	file := filepath.Join(t.TempDir(), "large.yaml")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Truncate(file, mostFile+1))
	_, err = bounded(file)
	require.ErrorContains(t, err, "larger than 1024 MiB")
}

func TestAShellIsOfferedTheSidesOfAFlag(t *testing.T) {
	for line, offered := range map[string]string{"--profile": "karmada..leeward", "--lose": "region=", "-o": "github", "--kind": "network"} {
		var out bytes.Buffer
		require.Zero(t, execute([]string{"__complete", "diff", line, ""}, &out, io.Discard))
		require.Contains(t, strings.Fields(out.String()), offered)
	}
}

// The scenarios of two folders are compared file by file: here one of them differs, and one is of nodes.
func TestTwoFoldersOfScenariosAreCompared(t *testing.T) {
	const one, two = "nginx-is-evicted-from-a-failed-cluster.yaml", "nodes/a-zone-is-lost-and-its-pods-go-to-the-others.yaml"
	scenarios, err := filepath.Abs("../../scenarios")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	for _, dir := range []string{"a", "b", "twice/x", "twice/y"} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
		for _, file := range []string{one, two} {
			text := strings.ReplaceAll(string(readAll(t, filepath.Join(scenarios, file))), "for: 15m", "for: 16m")
			if dir == "a" {
				text = string(readAll(t, filepath.Join(scenarios, file)))
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(file)), []byte(text), 0o600))
		}
	}
	out, _ := differedAs(t, 0, "a", "a")
	require.Contains(t, out, "note: 1 scenario of nodes is not compared\n")
	out, _ = differedAs(t, 1, "a", "b")
	require.Contains(t, out, one+" nginx-is-evicted-from-a-failed-cluster")
	_, log := differedAs(t, 2, "a", "twice")
	require.Contains(t, log, "name one of these files")
}

func readAll(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return text
}

// A pipe, as a shell makes one of <(kubectl get ...), is read once, whatever asks for it again.
func TestBothSidesMayBeOfAPipe(t *testing.T) {
	t.Chdir("../..")
	text := readAll(t, "docs/examples/dump.yaml")
	for _, args := range [][]string{{"diff", "--set", "evictionWorkers=1..2", "-f"}, {"init", "--out", filepath.Join(t.TempDir(), "first.yaml"), "-f"}} {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		go func() {
			_, _ = w.Write(text)
			_ = w.Close()
		}()
		var out, log bytes.Buffer
		require.Zero(t, execute(append(args, fmt.Sprintf("/dev/fd/%d", r.Fd())), &out, &log), log.String())
		require.NotContains(t, out.String(), " 0 expectations")
		require.NoError(t, r.Close())
	}
}
