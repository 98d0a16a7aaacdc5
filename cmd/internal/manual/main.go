// Command manual writes the manual pages of the programs and what shells complete them by,
// from the commands themselves.
//
//	go run ./cmd/internal/manual DIR
//
// DIR gets the folders of a share folder: man, bash-completion, zsh and fish. The date of the
// pages is SOURCE_DATE_EPOCH, or that of today.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli"
	"rackboot/cmd/internal/launch"
	"rackboot/cmd/internal/serve/agent"
	"rackboot/cmd/internal/serve/hub"
	"rackboot/cmd/internal/simulate"
)

// version is set by the build of a release.
var version = "0.2.0-dev"

func main() {
	if err := run(os.Args[1:], os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

func run(args []string, epoch string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: manual DIR")
	}
	date := time.Now()
	if epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return fmt.Errorf("SOURCE_DATE_EPOCH is not a number of seconds: %w", err)
		}
		date = time.Unix(seconds, 0)
	}
	for _, p := range programs() {
		if err := p.write(args[0], date.UTC().Format(time.DateOnly)); err != nil {
			return err
		}
	}
	return nil
}

// A program has a root command, and the section of the manual that it belongs to.
type program struct {
	root    *cobra.Command
	section int
}

func programs() []program {
	all := []program{
		{cli.Command(cli.Config{Version: version, Getenv: func(string) string { return "" }, Out: io.Discard, Err: io.Discard}), 1},
		{hub.Command(version, io.Discard, io.Discard), 8},
		{agent.Command(version, io.Discard, io.Discard), 8},
		{simulate.Command(version, io.Discard, io.Discard), 1},
	}
	for _, p := range all {
		// What cobra adds when a command runs.
		p.root.InitDefaultHelpCmd()
		p.root.InitDefaultCompletionCmd()
		p.root.InitDefaultVersionFlag()
	}
	return append(all, program{probeCommand(version), 8}, program{launcherCommand(version), 8})
}

// completions are what shells complete a program by: file and how it is written.
func (p program) completions() map[string]func(io.Writer) error {
	name := p.root.Name()
	bash, zsh, fish := "bash-completion/completions/"+name, "zsh/site-functions/_"+name, "fish/vendor_completions.d/"+name+".fish"
	if name == launch.Name { // its arguments are those of another one
		return nil
	}
	if name == probeName {
		return map[string]func(io.Writer) error{bash: probeBash, zsh: probeZsh, fish: probeFish}
	}
	return map[string]func(io.Writer) error{
		bash: func(w io.Writer) error { return p.root.GenBashCompletionV2(w, true) },
		zsh:  p.root.GenZshCompletion,
		fish: func(w io.Writer) error { return p.root.GenFishCompletion(w, true) },
	}
}

// write writes the pages of a program and its completions.
func (p program) write(dir, date string) error {
	for _, c := range pages(p.root) {
		name := fmt.Sprintf("man/man%d/%s.%[1]d", p.section, pageName(c))
		if err := writeFile(filepath.Join(dir, name), page(c, p.section, date)); err != nil {
			return err
		}
	}
	for file, generate := range p.completions() {
		var text bytes.Buffer
		if err := generate(&text); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, file), text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { // #nosec G301 -- everybody reads manuals
		return err
	}
	return os.WriteFile(path, text, 0o644) // #nosec G306 -- likewise
}
