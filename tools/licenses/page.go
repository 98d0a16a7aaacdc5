package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// writeTable writes docs/DEPENDENCIES.md.
func writeTable(w io.Writer, modules []*module) error {
	fmt.Fprint(w, "# Dependencies\n\nThe modules that the programs contain, as `make licenses` reads them from the programs, with their licences.\n\n")
	fmt.Fprint(w, "| module | version | licence | in |\n|---|---|---|---|\n")
	for _, m := range modules {
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", m.Path, m.Version, strings.Join(m.licences, ", "), strings.Join(m.programs, ", "))
	}
	return nil
}

// label names a module for people; the version of the standard library is that of whoever
// builds.
func (m *module) label() string {
	if m.Path == "std" {
		return "the Go standard library"
	}
	return m.Path + " " + m.Version
}

// writeNotice writes NOTICE.
func writeNotice(w io.Writer, modules []*module) error {
	fmt.Fprint(w, "Rackboot\nCopyright The Rackboot authors\nLicensed under the Apache License, Version 2.0: see LICENSE.\n\n"+
		"The programs contain the works below, under licences of their own. `make licenses` writes this\n"+
		"file; packages and images have the texts of the licences beside the programs.\n")
	for _, m := range modules {
		fmt.Fprintf(w, "\n%s: %s\n", m.label(), strings.Join(m.licences, ", "))
		for _, line := range m.copyrights {
			fmt.Fprintf(w, "    %s\n", line)
		}
		for _, notice := range m.notices {
			fmt.Fprint(w, "    Its notice:\n")
			for line := range strings.Lines(notice) {
				fmt.Fprintf(w, "        %s\n", strings.TrimRight(line, " \t\r\n"))
			}
		}
	}
	return nil
}

// writeTexts writes our licence and those of the modules, each text once.
func writeTexts(w io.Writer, modules []*module) error {
	ours, err := os.ReadFile("../LICENSE")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Rackboot is licensed as follows.\n\n%s\n", strings.TrimSpace(string(ours)))
	var order []string
	of := map[string][]string{}
	for _, m := range modules {
		for _, text := range append(m.texts, m.notices...) {
			if of[text] == nil {
				order = append(order, text)
			}
			of[text] = append(of[text], m.label())
		}
	}
	for _, text := range order {
		fmt.Fprintf(w, "\n%s\n%s:\n\n%s\n", strings.Repeat("-", 80), strings.Join(of[text], ", "), text)
	}
	return nil
}
