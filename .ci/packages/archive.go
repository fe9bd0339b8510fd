package main

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is one file of an archive: its name there, and where it is.
type entry struct{ name, file string }

// entries reads FILE or NAME=FILE; a folder is all files in it.
func entries(arguments []string) (all []entry, err error) {
	for _, a := range arguments {
		name, file, named := strings.Cut(a, "=")
		if !named {
			name, file = filepath.Base(a), a
		}
		err := filepath.WalkDir(file, func(found string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			below, err := filepath.Rel(file, found)
			all = append(all, entry{path.Join(name, filepath.ToSlash(below)), found})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// archive writes files as tar.gz whose bytes depend on their names, modes and contents, and on one time, alone.
func archive(out io.Writer, at time.Time, arguments []string) error {
	files, err := entries(arguments)
	if err != nil {
		return err
	}
	packed := gzip.NewWriter(out)
	if err := tarred(packed, at, files); err != nil {
		return err
	}
	return packed.Close()
}

func tarred(out io.Writer, at time.Time, files []entry) error {
	t := tar.NewWriter(out)
	for _, f := range files {
		text, err := os.ReadFile(f.file)
		if err != nil {
			return err
		}
		info, err := os.Stat(f.file)
		if err != nil {
			return err
		}
		mode := int64(0o644)
		if info.Mode()&0o111 != 0 {
			mode = 0o755
		}
		if err := t.WriteHeader(&tar.Header{Name: f.name, Mode: mode, Size: int64(len(text)), ModTime: at, Format: tar.FormatPAX}); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if _, err := t.Write(text); err != nil {
			return err
		}
	}
	return t.Close()
}
