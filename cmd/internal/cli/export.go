package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func (a *app) exportCmd() *cobra.Command {
	var rack string
	cmd := &cobra.Command{
		Use: "export FILE [KIND]...", Short: "Write what people own, and what was proved of it, to a file for another hub", Args: cobra.MinimumNArgs(1),
		Long: `Write what people own, and what was proved of it, to a file for another hub; - is standard
output. It has racks, segments, BMCs, servers, claims, maintenances and holds, the boot
configurations with their agents' signed records, and the public keys of those agents; and boot
environments, templates, profiles and params, boot images, server groups with their history, and
which groups are managed, also with --rack. Secrets are never in it: what refers to one is named,
so that somebody makes it again at the other hub. Uploaded files are not in it either: upload them
there (rackctl iso list names them). Files of boot images are fetched and verified there anew.

Stop the agents of what moves before, so that nothing happens after the export: see "Moving to
another hub" in OPERATIONS.md. A file that is there is not replaced.`,
		Example: "  rackctl export fleet.json\n  rackctl export r1.json --rack r1\n  rackctl export holds.json holds",
		RunE: func(cmd *cobra.Command, args []string) error {
			kinds, err := exportedKinds(args[1:])
			if err != nil {
				return err
			}
			c, hub, err := a.client()
			if err != nil {
				return err
			}
			e, err := c.Export(cmd.Context(), kinds, rack)
			if err != nil {
				return err
			}
			e.Hub, e.At = hub.URL, time.Now().UTC()
			raw, err := json.MarshalIndent(e, "", " ")
			if err != nil {
				return protocol.Errorf(protocol.CodeInternal, "export", "%w", err)
			}
			raw = append(raw, '\n')
			if len(raw) > api.MaxImport || len(e.Objects) > api.MaxImportObjects {
				return protocol.Errorf(protocol.CodeInvalid, "export", "%d objects with %d bytes are more than a hub imports at once", len(e.Objects), len(raw)).
					WithHint("export rack by rack: --rack RACK")
			}
			for _, l := range e.LeftOut {
				a.progress("left out: %s/%s: %s", strings.ToLower(string(l.Kind)), l.Name, l.Reason)
			}
			for _, k := range e.Keys {
				a.progress("agent key %x of rack %s", wire.KeyID(k.Key), k.Rack)
			}
			a.progress("%d objects, %d agent keys", len(e.Objects), len(e.Keys))
			if args[0] == "-" {
				_, err := a.cfg.Out.Write(raw)
				return err
			}
			return writeExport(args[0], raw)
		},
	}
	cmd.Flags().StringVar(&rack, "rack", "", "only this rack and what is in it, and what describes boot environments")
	return cmd
}

func exportedKinds(names []string) ([]resource.Kind, error) {
	if len(names) == 0 {
		return api.ExportKinds(), nil
	}
	var out []resource.Kind
	for _, n := range names {
		k, ok := resource.ParseKind(n)
		if !ok || !slices.Contains(api.ExportKinds(), k) {
			return nil, protocol.Errorf(protocol.CodeInvalid, "export", "%q is not a kind that is exported", n).
				WithHint("params, templates, profiles, bootenvs, bootimages, managedbootimages, servergroups, grouprevisions, racks, segments, bmcs, servers, claims, maintenances, bootconfigurations or holds; without any, all of them")
		}
		out = append(out, k)
	}
	return out, nil
}

// writeExport writes a file whole, or not at all, and replaces none.
func writeExport(path string, raw []byte) error {
	const op = "export"
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return protocol.Errorf(protocol.CodeConflict, op, "%s is there already", path).WithHint("give another name")
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".export-*") // mode 0600
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("check the folder of %s", path)
	}
	defer os.Remove(f.Name())
	_, wrong := f.Write(raw)
	if err := errors.Join(wrong, f.Sync(), f.Close()); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("check the disk of %s", path)
	}
	if err := os.Link(f.Name(), path); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("check the folder of %s", path)
	}
	return nil
}
