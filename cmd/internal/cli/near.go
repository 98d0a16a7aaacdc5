package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"rackboot/protocol"
)

// elsewhere are verbs that other programs have, and what does their work here.
func elsewhere() map[string]string {
	return map[string]string{
		"create": "apply -f", "replace": "apply -f", "set": "patch", "auth": "whoami", "cluster-info": "version", "top": "get servers",
		"cordon": "hold", "drain": "hold", "uncordon": "release", "logs": "trace", "log": "trace", "list": "get", "ls": "get", "show": "describe",
		"poweroff": "power-off", "off": "power-off", "on": "release", "unhold": "release", "kill": "fence", "scale": "group", "status": "get",
	}
}

// suggest has every command that only has others below it say which of them was meant.
func suggest(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		suggest(c)
	}
	if !cmd.HasSubCommands() {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		err := protocol.Errorf(protocol.CodeInvalid, "", "%s has no command %q", cmd.CommandPath(), args[0])
		if near := nearest(cmd, args[0]); near != "" {
			return err.WithHint("did you mean %s %s?", cmd.CommandPath(), near)
		}
		return err.WithHint("%s --help lists the commands", cmd.CommandPath())
	}
}

// nearest is the command that somebody may have meant; empty for none.
func nearest(cmd *cobra.Command, word string) string {
	if !cmd.HasParent() {
		if other, ok := elsewhere()[strings.ToLower(word)]; ok {
			return other
		}
	}
	if cmd.SuggestionsMinimumDistance <= 0 {
		cmd.SuggestionsMinimumDistance = 2
	}
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		return near[0]
	}
	return ""
}
