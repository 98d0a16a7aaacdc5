package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/netboot/probe"
)

const probeName = "rackboot-probe"

// probeCommand is rackboot-probe as if it were of cobra, for its page. It goes into an initramfs
// and is small without: it has one command, and cannot be asked for completions.
func probeCommand(version string) *cobra.Command {
	c := &cobra.Command{Use: probe.Synopsis(), Short: probe.Short, Long: probe.Short + ".\n\n" + probe.Long, Version: version}
	c.Flags().AddGoFlagSet(probe.Flags())
	return c
}

// A probeFlag is a flag as shells want it.
type probeFlag struct {
	name, value, usage string
	file               bool
}

func probeFlags() (all []probeFlag) {
	probe.Flags().VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		all = append(all, probeFlag{"--" + f.Name, value, usage, value == "file"})
	})
	return all
}

func probeBash(w io.Writer) error {
	var names, files, values []string
	for _, f := range probeFlags() {
		names = append(names, f.name)
		switch {
		case f.file:
			files = append(files, f.name)
		case f.value != "":
			values = append(values, f.name)
		}
	}
	_, err := fmt.Fprintf(w, `# bash completion for %[1]s
_rackboot_probe() {
    local word=${COMP_WORDS[COMP_CWORD]} words='%[2]s'
    case ${COMP_WORDS[COMP_CWORD-1]} in
    %[3]s) COMPREPLY=($(compgen -f -- "$word")); return ;;
    %[4]s) COMPREPLY=(); return ;;
    esac
    [ "$COMP_CWORD" -gt 1 ] && words='%[5]s'
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _rackboot_probe %[1]s
`, probeName, strings.Join(probe.Modes(), " "), strings.Join(files, "|"), strings.Join(values, "|"), strings.Join(names, " "))
	return err
}

var zshEscapes = strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`)

func probeZsh(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "#compdef %s\n_arguments \\\n", probeName); err != nil {
		return err
	}
	for _, f := range probeFlags() {
		value := ""
		switch {
		case f.file:
			value = ":file:_files"
		case f.value != "":
			value = ":" + f.value + ":"
		}
		// A bracket ends the text, a colon begins the next part.
		text := zshEscapes.Replace(f.usage)
		if _, err := fmt.Fprintf(w, "    %s \\\n", quoted(f.name+"["+text+"]"+value)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "    '1:mode:(%s)'\n", strings.Join(probe.Modes(), " "))
	return err
}

func probeFish(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "# fish completion for %[1]s\ncomplete -c %[1]s -f\ncomplete -c %[1]s -n __fish_is_first_token -a '%s'\n", probeName, strings.Join(probe.Modes(), " ")); err != nil {
		return err
	}
	for _, f := range probeFlags() {
		value := ""
		switch {
		case f.file:
			value = " -r -F"
		case f.value != "":
			value = " -x"
		}
		if _, err := fmt.Fprintf(w, "complete -c %s -l %s%s -d %s\n", probeName, strings.TrimPrefix(f.name, "--"), value, quoted(f.usage)); err != nil {
			return err
		}
	}
	return nil
}

// quoted is a word for zsh, and for fish, where a backslash stands before the quote as well.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
