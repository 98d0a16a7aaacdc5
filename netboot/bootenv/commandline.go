package bootenv

import (
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// maxLine bounds the kernel's arguments, in bytes (COMMAND_LINE_SIZE of amd64 and arm64,
// with the zero at its end).
const maxLine = 2047

// commandLine are the kernel's arguments on one line: the environment's, rendered, those of
// the server and the owner, and at the end where user data is and where to report, as
// netboot/chain tells the kernel of an image. Of an argument that comes twice the kernel
// and most programs take the last.
//
// What stands behind a -- or --- of its own is what an installer writes into the system
// that it installs (debian-installer's --- ), or the kernel hands to init. Ours come before
// it: a token is of no use in a system that is installed.
func (r *run) commandLine() (string, error) {
	own := ""
	if r.root.Source == resource.EnvFromImage && r.e.arch.Kernel == "" {
		own = r.root.Image.CommandLine
	}
	if u := r.e.sources.bootParams; u != nil {
		if _, err := r.enter(); err != nil {
			return "", err
		}
		var err error
		if own, err = r.exec(u, &scope{r}); err != nil {
			return "", err
		}
		r.leave()
	}
	words := strings.Fields(own)
	ours := []string{}
	if r.hasUserData() {
		ours = append(ours, ignitionArgument+"="+r.site.url(protocol.FileIgnition))
	}
	ours = append(ours, reportArgument+"="+r.site.report())
	args := strings.Fields(r.e.Bundle.KernelArgs)
	if i := slices.IndexFunc(words, func(w string) bool { return w == "--" || w == "---" }); i >= 0 {
		words = slices.Concat(words[:i], ours, words[i:], args)
	} else {
		words = slices.Concat(words, args, ours)
	}
	line := strings.Join(words, " ")
	if strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c > '~' }) {
		return "", wrongf("the kernel's arguments have a character that is not printable ASCII")
	}
	if len(line) > maxLine {
		return "", wrongf("the kernel's arguments have %d bytes, and it takes %d", len(line), maxLine).
			WithHint("put what an installer needs into its configuration file")
	}
	return line, nil
}

// plain says whether GRUB and iPXE hand a command line on as it is. GRUB puts backslashes
// before quotes and backslashes (grub_create_loader_cmdline); iPXE has no quotes, replaces
// ${...}, and takes ||, && and ; for its own (exec.c).
func plain(line string) bool {
	return !strings.ContainsAny(line, `"'\`) && !strings.Contains(line, "${") && !slices.ContainsFunc(strings.Fields(line), func(w string) bool {
		return w == "||" || w == "&&" || w == ";"
	})
}
