package object

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// defaultEditor is what edits where neither VISUAL nor EDITOR says it.
const defaultEditor = "vi"

func editCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "edit KIND NAME", Short: "Change a resource in an editor", Args: cobra.RangeArgs(1, 2),
		Long: "Change a resource in the editor that VISUAL or EDITOR names, else vi. What is saved is read as\n" +
			"strictly as a file, and the hub checks it as it checks what is applied. A text that is refused, also\n" +
			"because somebody else has changed the resource meanwhile (exit code 4), is kept in a file.",
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, name, err := choice.OneTarget(args)
			if err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			obj, err := readWritten(cmd.Context(), c, "edit", kind, name)
			if err != nil {
				return err
			}
			before, err := editable(obj)
			if err != nil {
				return err
			}
			full := choice.Named(kind, name)
			path, after, err := edited(cmd, src, before, strings.ReplaceAll(full, "/", "-"))
			if err != nil {
				return err
			}
			if bytes.Equal(before, after) {
				return joinRemove(path, pr.Text(obj, []string{full}, full+" not changed"))
			}
			set, err := rewritten(path, after, kind, name)
			if err != nil {
				return kept(path, err)
			}
			out, err := put(cmd.Context(), c, []*manifest.Set{set}, false)
			if err != nil {
				return kept(path, err)
			}
			names, lines := outcomeText(out.Results, "edited", false)
			return joinRemove(path, pr.Text(out, names, strings.Join(lines, "\n")))
		},
	}
}

// editable is what somebody wrote of a resource, as YAML.
func editable(obj resource.Object) ([]byte, error) {
	raw, err := writtenJSON(obj)
	if err != nil {
		return nil, err
	}
	out, err := manifest.FromJSON(raw)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "edit", "%w", err)
	}
	return out, nil
}

// edited has somebody edit a text, in a file that only they read.
func edited(cmd *cobra.Command, src *files.Input, text []byte, name string) (path string, after []byte, err error) {
	f, err := os.CreateTemp("", "rackctl-"+name+"-*.yaml") // mode 0600
	if err != nil {
		return "", nil, protocol.Errorf(protocol.CodeUnavailable, "edit", "%w", err).WithHint("set TMPDIR")
	}
	_, err = f.Write(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = runEditor(cmd.Context(), cmd, cmp.Or(src.Getenv("VISUAL"), src.Getenv("EDITOR"), defaultEditor), f.Name())
	}
	if err != nil {
		return "", nil, joinRemove(f.Name(), protocol.Errorf(protocol.CodeUnavailable, "edit", "%w", err).WithHint("nothing was changed; set EDITOR to an editor that waits until it is closed"))
	}
	after, err = os.ReadFile(f.Name())
	if err != nil {
		return "", nil, protocol.Errorf(protocol.CodeUnavailable, "edit", "%w", err).WithHint("nothing was changed")
	}
	return f.Name(), after, nil
}

// runEditor runs an editor, which may have arguments: EDITOR="code --wait".
func runEditor(ctx context.Context, cmd *cobra.Command, editor, path string) error {
	e := exec.CommandContext(ctx, "/bin/sh", "-c", editor+` "$1"`, "editor", path)
	e.Stdin, e.Stdout, e.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	return e.Run()
}

// kept says where a text is that was refused.
func kept(path string, err error) error {
	code, hint := protocol.CodeOf(err), fmt.Sprintf("nothing was changed; your text is in %s", path)
	if code == protocol.CodeConflict {
		hint += "; edit again, and take over what you changed"
	} else {
		hint += ", which rackctl apply -f takes once it is right"
	}
	return protocol.Errorf(code, "edit", "%w", err).WithHint("%s", hint)
}

// joinRemove removes a file that has done its work.
func joinRemove(path string, err error) error {
	if gone := os.Remove(path); err == nil && gone != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "edit", "%w", gone).WithHint("remove %s yourself", path)
	}
	return err
}
