package object

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/choice"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
)

func patchCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var patch, file, form string
	var dry dryRun
	cmd := &cobra.Command{
		Use: "patch KIND NAME... -p PATCH", Short: "Change fields of resources", Args: cobra.MinimumNArgs(1),
		Long: "Change fields of resources: by a JSON Merge Patch (RFC 7396), in which null takes a field away, or with\n" +
			"--type json by a JSON Patch (RFC 6902). What comes out is read as strictly as a file, and the hub\n" +
			"checks it as it checks what is applied. Who is slower than somebody else is refused (exit code 4).",
		Example: "  rackctl patch claim c1 -p '{\"spec\":{\"power\":\"Off\"}}'\n" +
			"  rackctl patch server n1 --type json -p '[{\"op\":\"remove\",\"path\":\"/spec/kernelArgs\"}]'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if (patch == "") == (file == "") {
				return protocol.Errorf(protocol.CodeInvalid, "", "give one patch: -p PATCH or --patch-file FILE")
			}
			if file != "" {
				text, err := src.Small(file)
				if err != nil {
					return err
				}
				patch = text
			}
			change, err := patcher(form, patch)
			if err != nil {
				return err
			}
			wanted, err := choice.Targets(args)
			if err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			var sets []*manifest.Set
			for _, w := range wanted {
				if len(w.Names) == 0 {
					return protocol.Errorf(protocol.CodeInvalid, "", "give a name too: %s NAME", args[0])
				}
				for _, name := range w.Names {
					obj, err := readWritten(cmd.Context(), c, "patch", w.Kind, name)
					if err != nil {
						return err
					}
					raw, err := writtenJSON(obj)
					if err != nil {
						return err
					}
					if raw, err = change(raw); err != nil {
						return err
					}
					set, err := rewritten("patched "+choice.Named(w.Kind, name), raw, w.Kind, name)
					if err != nil {
						return err
					}
					sets = append(sets, set)
				}
			}
			out, err := put(cmd.Context(), c, sets, bool(dry))
			if err != nil {
				return err
			}
			names, lines := outcomeText(out.Results, "patched", bool(dry))
			return pr.Text(out, names, strings.Join(lines, "\n"))
		},
	}
	cmd.Flags().StringVarP(&patch, "patch", "p", "", "the patch, in JSON")
	cmd.Flags().StringVar(&file, "patch-file", "", "file with it, or - for standard input")
	cmd.Flags().StringVar(&form, "type", "merge", "merge or json")
	addDryRun(cmd.Flags(), &dry, "let the hub check everything, and change nothing")
	return cmd
}

// patcher reads a patch. What is not for patches, the status of a resource, is refused here: the hub would
// ignore it, and somebody would believe that it was taken.
func patcher(form, text string) (func([]byte) ([]byte, error), error) {
	refused := func(err error) error {
		return protocol.Errorf(protocol.CodeInvalid, "patch", "%w", err).WithHint("nothing was changed")
	}
	status := errors.New("status is what the hub says of a resource, and is not written")
	switch form {
	case "merge":
		var fields map[string]json.RawMessage
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		if err := d.Decode(&fields); err != nil || fields == nil || d.More() {
			return nil, refused(errors.New(`a merge patch is one JSON object: {"spec":{"power":"Off"}}`))
		}
		if _, has := fields["status"]; has {
			return nil, refused(status)
		}
		return func(doc []byte) ([]byte, error) {
			out, err := jsonpatch.MergePatch(doc, []byte(text))
			if err != nil {
				return nil, refused(err)
			}
			return out, nil
		}, nil
	case "json":
		patch, err := jsonpatch.DecodePatch([]byte(text))
		if err != nil {
			return nil, refused(err)
		}
		for _, op := range patch {
			path, err := op.Path()
			if err != nil {
				return nil, refused(err)
			}
			if path == "" || path == "/status" || strings.HasPrefix(path, "/status/") {
				return nil, refused(status)
			}
		}
		return func(doc []byte) ([]byte, error) {
			out, err := patch.Apply(doc)
			if err != nil {
				return nil, refused(err)
			}
			return out, nil
		}, nil
	}
	return nil, protocol.Errorf(protocol.CodeInvalid, "", "--type %q is not one of merge, json", form).
		WithHint("resources have no lists that strategic patches know; write a merge patch")
}
