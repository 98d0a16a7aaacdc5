package object

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func exportCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
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
another hub" in docs/guide/take-over.md. A file that is there is not replaced.`,
		Example: "  rackctl export fleet.json\n  rackctl export r1.json --rack r1\n  rackctl export holds.json holds",
		RunE: func(cmd *cobra.Command, args []string) error {
			kinds, err := exportedKinds(args[1:])
			if err != nil {
				return err
			}
			hub, err := hubs.Chosen()
			if err != nil {
				return err
			}
			c, err := hub.Client()
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
				pr.Progress("left out: %s/%s: %s", strings.ToLower(string(l.Kind)), l.Name, l.Reason)
			}
			for _, k := range e.Keys {
				pr.Progress("agent key %x of rack %s", wire.KeyID(k.Key), k.Rack)
			}
			pr.Progress("%d objects, %d agent keys", len(e.Objects), len(e.Keys))
			if args[0] == "-" {
				_, err := pr.Out.Write(raw)
				return err
			}
			return files.WriteNew(args[0], raw)
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
