// Command licenses writes what the programs contain: modules, licences and notices.
//
//	go run ./licenses -table ../docs/DEPENDENCIES.md -notice ../NOTICE ../bin/*
//	go run ./licenses -texts ../bin/copyright -bom ../dist/rackboot.cdx.json -version 0.1.0 ../bin/amd64/* ../bin/arm64/*
//
// What a program contains is read from the program itself. A module whose licence is
// not known, or may not be linked into a program that is given away without its source,
// is an error.
package main

import (
	"bytes"
	"debug/buildinfo"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("licenses", flag.ContinueOnError)
	table := flags.String("table", "", "`file` for the table of modules")
	notices := flags.String("notice", "", "`file` for who holds the copyright, and for notices that go along")
	texts := flags.String("texts", "", "`file` for the texts of all licences, ours first")
	bom := flags.String("bom", "", "`file` for a bill of materials (CycloneDX)")
	version := flags.String("version", "dev", "version of the programs, for -bom")
	if err := flags.Parse(args); err != nil {
		return err
	}
	programs, modules, err := contained(flags.Args())
	if err != nil {
		return err
	}
	for _, m := range modules {
		if err := m.read(); err != nil {
			return err
		}
	}
	// The standard library is in every program, and in no table of modules.
	goes, err := standardLibrary(programs)
	if err != nil {
		return err
	}
	all := append([]*module{goes}, modules...)
	for _, out := range []struct {
		file  string
		write func(io.Writer) error
	}{
		{*table, func(w io.Writer) error { return writeTable(w, modules) }},
		{*notices, func(w io.Writer) error { return writeNotice(w, all) }},
		{*texts, func(w io.Writer) error { return writeTexts(w, all) }},
		{*bom, func(w io.Writer) error { return writeBOM(w, *version, programs, all) }},
	} {
		if out.file == "" {
			continue
		}
		var b bytes.Buffer
		if err := out.write(&b); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(out.file), 0o755); err != nil { // #nosec G301 -- everybody may read it
			return err
		}
		if err := os.WriteFile(out.file, b.Bytes(), 0o644); err != nil { // #nosec G306 -- likewise
			return err
		}
	}
	return nil
}

// program is a file, and what the linker says of it.
type program struct {
	file string
	info *buildinfo.BuildInfo
}

func (p program) name() string { return filepath.Base(p.file) }

// setting is one of the build's, such as GOARCH.
func (p program) setting(key string) string {
	for _, s := range p.info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// contained are the programs and their modules, by path.
func contained(files []string) ([]program, []*module, error) {
	if len(files) == 0 {
		return nil, nil, fmt.Errorf("name the programs: make build makes them in bin/")
	}
	var programs []program
	found := map[string]*module{}
	for _, file := range files {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		p := program{file, info}
		programs = append(programs, p)
		for _, d := range info.Deps {
			if d.Replace != nil {
				return nil, nil, fmt.Errorf("%s: %s is replaced", file, d.Path)
			}
			if found[d.Path] == nil {
				found[d.Path] = &module{Path: d.Path, Version: d.Version}
			}
			m := found[d.Path]
			if m.Version != d.Version {
				return nil, nil, fmt.Errorf("%s has %s %s, another program %s: build them together", file, d.Path, d.Version, m.Version)
			}
			if !slices.Contains(m.programs, p.name()) {
				m.programs = append(m.programs, p.name())
			}
		}
	}
	out := make([]*module, 0, len(found))
	for _, m := range found {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *module) int { return strings.Compare(a.Path, b.Path) })
	return programs, out, nil
}
