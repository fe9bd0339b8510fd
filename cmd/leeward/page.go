package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"leeward/runtime/scenario/replay"
)

// pageFile is a file that --html asks for; nil where it does not. It appears when it is whole, in place of one
// that was there.
type pageFile struct {
	*bufio.Writer
	name string
	file *os.File
}

// createPage makes sure that there is a place for a page before the work for it begins. Without a name there is none.
func createPage(name string) (*pageFile, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Create(name + ".tmp")
	if err != nil {
		return nil, fmt.Errorf("--html: %w", err)
	}
	return &pageFile{bufio.NewWriter(file), name, file}, nil
}

// finish puts the page where it belongs.
func (p *pageFile) finish() error {
	err := p.Flush()
	if closed := p.file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(p.file.Name(), p.name)
	}
	if err != nil {
		return fmt.Errorf("write page %s: %w", p.name, err)
	}
	return nil
}

// tell says which page was written.
func (p *pageFile) tell(stderr io.Writer) {
	if p != nil {
		say(stderr, "wrote "+p.name+"\n")
	}
}

// discard leaves nothing behind of a page that was not finished.
func (p *pageFile) discard() {
	if p != nil {
		_ = p.file.Close()
		_ = os.Remove(p.file.Name())
	}
}

// paged is a report that is written as a page, too.
type paged struct {
	writer
	page writer
	file *pageFile
}

// Add reports the next run in both.
func (p *paged) Add(r *replay.Run) error {
	if err := p.writer.Add(r); err != nil {
		return err
	}
	return p.page.Add(r)
}

// Close ends both.
func (p *paged) Close() error {
	if err := p.writer.Close(); err != nil {
		return err
	}
	if err := p.page.Close(); err != nil {
		return err
	}
	return p.file.finish()
}
