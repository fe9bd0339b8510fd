// Command packages makes what docs/packages/release releases, each the same from the same input: archives, bills of materials,
// images and rendered charts.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

const usage = `packages archive -at TIME OUT [NAME=]FILE...   a tar.gz
packages sbom -version V BINARY...             CycloneDX on standard output
packages image -at TIME -version V [-ca FILE] OUT BINARY...
                                               an OCI layout; %s in a BINARY is the architecture
packages template CHART [VALUES...]            the manifests of a chart, linted, on standard output
packages steps ACTION [INPUT=VALUE...]         the shell steps of a composite action, as a script, on standard output`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("want a command:\n" + usage)
	}
	set := flag.NewFlagSet(args[0], flag.ContinueOnError)
	seconds := set.Int64("at", 0, "the time of all files, in seconds since 1970")
	version := set.String("version", "", "version of what is packed")
	authorities := set.String("ca", "", "file of certificate authorities")
	architectures := set.String("arch", "amd64,arm64", "architectures of an image")
	if err := set.Parse(args[1:]); err != nil {
		return err
	}
	at, rest := time.Unix(*seconds, 0).UTC(), set.Args()
	if len(rest) == 0 {
		return errors.New("want more arguments:\n" + usage)
	}
	switch args[0] {
	case "archive":
		out, err := os.Create(rest[0])
		if err != nil {
			return err
		}
		return errors.Join(archive(out, at, rest[1:]), out.Close())
	case "sbom":
		return sbom(os.Stdout, *version, rest)
	case "image":
		if len(rest) < 2 {
			return errors.New("an image needs a binary")
		}
		return image(rest[0], *version, at, strings.Split(*architectures, ","), rest[1:], *authorities)
	case "template":
		return template(os.Stdout, rest[0], rest[1:])
	case "steps":
		return steps(os.Stdout, rest[0], rest[1:])
	}
	return fmt.Errorf("unknown command %q:\n%s", args[0], usage)
}
