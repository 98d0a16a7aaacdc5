// Command licenses writes which modules the programs contain, and under which licences.
//
//	go run ./licenses ../bin/* > ../docs/DEPENDENCIES.md
//
// What a program contains is read from the program itself. A module whose licence is
// not known, or may not be linked into a program that is given away without its source,
// is an error.
package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed are licences that ask for their text and notices to travel along, and for
// nothing else of the programs. EPL-2.0 and MPL-2.0 ask for the source of their own files only.
const allowed = "Apache-2.0 BSD-2-Clause BSD-3-Clause CC0-1.0 EPL-2.0 ISC MIT MPL-2.0 Unlicense"

// enough is the share of a file, in percent, that must be the text of a licence.
const enough = 75

type module struct {
	Path, Version, Dir string
	licences           []string
	programs           []string
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(programs []string, out io.Writer) error {
	modules, err := contained(programs)
	if err != nil {
		return err
	}
	for _, m := range modules {
		if err := m.read(); err != nil {
			return err
		}
	}
	write(out, modules)
	return nil
}

// contained are the modules of the programs, by path.
func contained(programs []string) ([]*module, error) {
	if len(programs) == 0 {
		return nil, fmt.Errorf("name the programs: make build makes them in bin/")
	}
	found := map[string]*module{}
	for _, p := range programs {
		info, err := buildinfo.ReadFile(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		for _, d := range info.Deps {
			if d.Replace != nil {
				return nil, fmt.Errorf("%s: %s is replaced", p, d.Path)
			}
			if found[d.Path] == nil {
				found[d.Path] = &module{Path: d.Path, Version: d.Version}
			}
			m := found[d.Path]
			if m.Version != d.Version {
				return nil, fmt.Errorf("%s has %s %s, another program %s: build them together", p, d.Path, d.Version, m.Version)
			}
			m.programs = append(m.programs, filepath.Base(p))
		}
	}
	out := make([]*module, 0, len(found))
	for _, m := range found {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *module) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// read finds the module in the module cache and the licences in its first folder.
func (m *module) read() error {
	cmd := exec.Command("go", "mod", "download", "-json", m.Path+"@"+m.Version) // #nosec G204 -- of our own programs
	cmd.Stderr = os.Stderr
	said, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s@%s: %w", m.Path, m.Version, err)
	}
	if err := json.Unmarshal(said, m); err != nil {
		return err
	}
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if name == "LICENSE.DOCS" {
			continue // of pages, which programs do not contain
		}
		if e.IsDir() || !slices.ContainsFunc([]string{"LICEN", "COPYING", "UNLICENSE"}, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return err
		}
		cover := licensecheck.Scan(text)
		if cover.Percent < enough {
			continue
		}
		for _, l := range cover.Match {
			if !slices.Contains(m.licences, l.ID) {
				m.licences = append(m.licences, l.ID)
			}
		}
	}
	if len(m.licences) == 0 {
		return fmt.Errorf("%s@%s: no licence is recognised in %s: read it, and choose another module if it has none", m.Path, m.Version, m.Dir)
	}
	slices.Sort(m.licences)
	for _, l := range m.licences {
		if !slices.Contains(strings.Fields(allowed), l) {
			return fmt.Errorf("%s@%s is under %s, which is not among %s: choose another module", m.Path, m.Version, l, allowed)
		}
	}
	return nil
}

func write(out io.Writer, modules []*module) {
	var b bytes.Buffer
	fmt.Fprint(&b, "# Dependencies\n\nThe modules that the programs contain, as `make licenses` reads them from the programs, with their licences.\n\n")
	fmt.Fprint(&b, "| module | version | licence | in |\n|---|---|---|---|\n")
	for _, m := range modules {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", m.Path, m.Version, strings.Join(m.licences, ", "), strings.Join(m.programs, ", "))
	}
	_, _ = out.Write(b.Bytes())
}
