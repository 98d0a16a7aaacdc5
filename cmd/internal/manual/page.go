package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rackboot/protocol"
)

// pages are the commands that have a page: all that help shows.
func pages(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if shown(c) {
			all = append(all, pages(c)...)
		}
	}
	return all
}

// shown leaves out what is hidden and the commands that every program of cobra has.
func shown(c *cobra.Command) bool {
	builtin := !c.Parent().HasParent() && (c.Name() == "help" || c.Name() == "completion")
	return !c.Hidden && !builtin
}

// pageName is the command's path with hyphens: rackctl-rack-join-token.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// page is a command's manual page, in the macros of man(7).
func page(c *cobra.Command, section int, date string) []byte {
	var r roff
	root := c.Root()
	r.macro("TH", strings.ToUpper(pageName(c)), fmt.Sprint(section), date, "Rackboot "+root.Version, "Rackboot")
	r.macro("SH", "NAME")
	r.line(pageName(c) + " - " + c.Short)

	r.macro("SH", "SYNOPSIS")
	r.bold(c.CommandPath())
	synopsis := strings.TrimPrefix(c.Use, c.Name())
	if c.HasAvailableSubCommands() {
		synopsis = " COMMAND"
	}
	if hasFlags(c.Flags(), c.InheritedFlags()) {
		synopsis += " [flags]"
	}
	r.line(strings.TrimSpace(synopsis))

	r.macro("SH", "DESCRIPTION")
	if c.Long == "" {
		r.prose(c.Short + ".")
	}
	r.prose(c.Long)
	if children := shownChildren(c); len(children) > 0 {
		r.macro("SH", "COMMANDS")
		for _, child := range children {
			r.macro("TP")
			r.bold(child.Name())
			r.line(child.Short)
		}
	}
	options(&r, "OPTIONS", c.NonInheritedFlags())
	options(&r, "GLOBAL OPTIONS", c.InheritedFlags())
	if c.Example != "" {
		r.macro("SH", "EXAMPLES")
		r.literal(c.Example)
	}
	if c == root {
		exitStatus(&r)
	}
	seeAlso(&r, c, section)
	return r.Bytes()
}

func shownChildren(c *cobra.Command) (all []*cobra.Command) {
	for _, child := range c.Commands() {
		if shown(child) {
			all = append(all, child)
		}
	}
	return all
}

func hasFlags(sets ...*pflag.FlagSet) bool {
	for _, s := range sets {
		if s.HasAvailableFlags() {
			return true
		}
	}
	return false
}

// options writes a section with the flags of a set.
func options(r *roff, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	r.macro("SH", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			name += " " + value
		}
		r.macro("TP")
		r.bold(name)
		switch f.DefValue {
		case "", "false", "0", "0s", "[]":
		default:
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		r.line(usage)
	})
}

// exitStatus lists what the exit codes of every command mean.
func exitStatus(r *roff) {
	r.macro("SH", "EXIT STATUS")
	r.macro("TP")
	r.bold("0")
	r.line("it was done")
	for _, code := range protocol.Codes() {
		r.macro("TP")
		r.bold(fmt.Sprint(code.ExitCode()))
		r.line(strings.ReplaceAll(string(code), "_", " "))
	}
}

// seeAlso names the pages above and below a command.
func seeAlso(r *roff, c *cobra.Command, section int) {
	var names []string
	if c.HasParent() {
		names = append(names, pageName(c.Parent()))
	}
	for _, child := range shownChildren(c) {
		names = append(names, pageName(child))
	}
	if len(names) == 0 {
		return
	}
	r.macro("SH", "SEE ALSO")
	for i, name := range names {
		end := ","
		if i == len(names)-1 {
			end = ""
		}
		r.macro("BR", name, fmt.Sprintf("(%d)%s", section, end))
	}
}
