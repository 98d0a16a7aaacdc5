package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed are licences that ask for their text and notices to travel along, and for
// nothing else of the programs. EPL-2.0 and MPL-2.0 ask for the source of their own files only.
const allowed = "Apache-2.0 BSD-2-Clause BSD-3-Clause CC0-1.0 EPL-2.0 ISC MIT MPL-2.0 Unlicense"

// enough is the share of a file, in percent, that must be the text of a licence.
const enough = 75

// module is what programs contain of others.
type module struct {
	Path, Version, Dir string
	licences           []string // SPDX identifiers
	texts              []string // of the licences
	copyrights         []string // lines of those
	notices            []string // texts that Apache-2.0 wants passed on
	programs           []string
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
	return m.readFolder()
}

// standardLibrary is that of the Go which built the programs, and with which this runs.
func standardLibrary(programs []program) (*module, error) {
	said, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	m := &module{Path: "std", Version: strings.TrimPrefix(programs[0].info.GoVersion, "go"), Dir: strings.TrimSpace(string(said))}
	for _, p := range programs {
		m.programs = append(m.programs, p.name())
	}
	return m, m.readFolder()
}

func (m *module) readFolder() error {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || name == "LICENSE.DOCS" { // of pages, which programs do not contain
			continue
		}
		begins := func(p string) bool { return strings.HasPrefix(name, p) }
		isLicence := slices.ContainsFunc([]string{"LICEN", "COPYING", "UNLICENSE"}, begins)
		if !isLicence && !begins("NOTICE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return err
		}
		if isLicence {
			m.addLicence(text)
		} else {
			m.notices = append(m.notices, strings.TrimSpace(string(text)))
		}
	}
	return m.check()
}

// addLicence takes a file whose text is mostly that of a licence.
func (m *module) addLicence(text []byte) {
	cover := licensecheck.Scan(text)
	if cover.Percent < enough {
		return
	}
	for _, l := range cover.Match {
		if !slices.Contains(m.licences, l.ID) {
			m.licences = append(m.licences, l.ID)
		}
	}
	m.texts = append(m.texts, strings.TrimSpace(string(text)))
	// Somebody's name or a year, and not words about copyright, nor the form that comes with Apache-2.0.
	for line := range strings.Lines(string(text)) {
		line = strings.Trim(line, " \t\r\n*#/")
		if regexp.MustCompile(`^(Copyright|COPYRIGHT) .*([12]\d{3}|\([cC]\)|©| [Tt]he )`).MatchString(line) && !strings.ContainsAny(line, "[{") &&
			!regexp.MustCompile(`(?i)copyright (notice|holder|owner|license)`).MatchString(line) && !slices.Contains(m.copyrights, line) {
			m.copyrights = append(m.copyrights, line)
		}
	}
}

func (m *module) check() error {
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
