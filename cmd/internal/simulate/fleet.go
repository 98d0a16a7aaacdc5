package simulate

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/integration/fleet"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// fleetCmd loads a hub with agents that have no rack.
func fleetCmd(stdout io.Writer) *cobra.Command {
	c := &cobra.Command{Use: "fleet", Short: "Load a hub with many agents that have no rack, and measure it", Args: cobra.NoArgs}
	c.Long = "Make racks at a hub, speak their agents' side of the link in this one process, and measure the hub.\n\n" +
		"It is a load, and no agent: there are no BMCs, no packets and no disks. A server is a few fields in memory,\n" +
		"and is installed and stopped as the hub's documents say. It is for a hub that nobody needs: the racks,\n" +
		"named fleet-0001 and so on, stay there, and their holds prove nothing.\n\n" +
		"With --script it does what a file says, a step on each line: claims, boots that fail, BMCs that answer nothing,\n" +
		"racks that lose power and have it again, holds. The same --seed chooses the same racks, servers and boots.\n\n" +
		"Keys and certificates are kept in --dir, so that another run needs no joins. With --from each agent has an\n" +
		"address of its own, as those of racks do."
	var cfg fleet.Config
	ca := c.Flags().String("ca", "", "file with the hub's ca.pem")
	token := c.Flags().String("token-file", "", "file with the token of a client that may do everything, as admin.token")
	claims := c.Flags().String("claims", "none", "which servers have a claim, and are installed: all or none")
	reference := c.Flags().String("image", "", "the image of the claims (default: "+firstImage+" of --registry)")
	script := c.Flags().String("script", "", "file with what happens, in place of a measurement; configs/sim has examples (with --claims all, which are made as it says)")
	registry := c.Flags().String("registry", "", "address:port of an image registry for as long as the command runs, which has "+firstImage)
	from := c.Flags().String("from", "", "addresses of this host that agents connect from, one each, such as 127.80.0.0/16")
	c.Flags().StringVar(&cfg.Hub.URL, "hub", "https://127.0.0.1:8443", "the hub's URL")
	c.Flags().StringVar(&cfg.Dir, "dir", "fleet", "folder for keys and certificates")
	c.Flags().Uint64Var(&cfg.Seed, "seed", 1, "chooses what chance would: racks, servers and boots")
	c.Flags().IntVar(&cfg.Racks, "racks", 10, fmt.Sprintf("how many racks, 1 to %d", fleet.MaxRacks))
	c.Flags().IntVar(&cfg.Skip, "skip", 0, "how many racks come before the first: those of a fleet beside this one, at the same hub")
	c.Flags().IntVar(&cfg.Servers, "servers", 10, fmt.Sprintf("how many servers in each, 1 to %d", message.MaxServersPerShard))
	c.Flags().DurationVar(&cfg.Load.For, "for", time.Minute, "how long is measured, once all racks are in step")
	c.Flags().DurationVar(&cfg.Within, "within", 10*time.Minute, "how long they may take until then")
	c.Flags().DurationVar(&cfg.ReportEvery, "report-every", resource.ReportEvery, "the pause between an agent's reports without news")
	c.Flags().Float64Var(&cfg.Load.News, "news", 0, "changes of servers per second, over the fleet: each is a report and an event")
	c.Flags().IntVar(&cfg.Load.Holds, "holds", 0, "how many holds are placed and released while it is measured")
	c.Flags().IntVar(&cfg.Load.HubPID, "hub-pid", 0, "the hub's process on this host, to measure its processor time and memory")
	c.Flags().BoolVar(&cfg.JSON, "json", false, "write each figure as a line of JSON")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if cfg.Hub.CA, cfg.Hub.Client, err = hubClient(cfg.Hub.URL, *ca, *token); err != nil {
			return err
		}
		defer cfg.Hub.Client.CloseIdle()
		if *from != "" {
			if cfg.From, err = netip.ParsePrefix(*from); err != nil {
				return protocol.Errorf(protocol.CodeInvalid, "read --from", "%q is not a prefix such as 127.80.0.0/16", *from)
			}
		}
		steps, err := readScript(*script)
		if err != nil {
			return err
		}
		if *registry != "" {
			r, errStart := startRegistry(c.Context(), *registry)
			if errStart != nil {
				return errStart
			}
			defer func() { err = errors.Join(err, r.Close()) }()
		}
		if cfg.Image, err = claimed(*claims, *reference, *registry); err != nil {
			return err
		}
		cfg.Out = stdout
		return fleet.Run(c.Context(), cfg, steps)
	}
	return c
}

// readScript reads the steps of a file; empty is none.
func readScript(path string) ([]fleet.Step, error) {
	const op = "read --script"
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, fleet.MaxScript+1))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err)
	}
	steps, err := fleet.ParseScript(text)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s: %w", path, err).WithHint("%s", protocol.HintOf(err))
	}
	return steps, nil
}

// claimed is the image that servers are claimed for; empty is no claims.
func claimed(claims, reference, registry string) (string, error) {
	const op = "read --claims"
	switch {
	case claims == "none" && reference == "":
		return "", nil
	case claims == "none":
		return "", protocol.Errorf(protocol.CodeInvalid, op, "--image is for --claims all")
	case claims != "all":
		return "", protocol.Errorf(protocol.CodeInvalid, op, "%q is not all or none", claims)
	case reference == "" && registry == "":
		return "", protocol.Errorf(protocol.CodeInvalid, op, "claims want an image").
			WithHint("give --image REFERENCE of a registry that the hub reaches, or --registry 127.0.0.1:5000")
	case reference == "":
		return registry + "/" + firstImage, nil
	}
	return reference, nil
}

// hubClient is a client with the account of a token.
func hubClient(url, caFile, tokenFile string) (ca []byte, client *api.Client, err error) {
	const op = "read --ca and --token-file"
	if caFile == "" || tokenFile == "" {
		return nil, nil, protocol.Errorf(protocol.CodeInvalid, op, "both are needed").WithHint("the hub has ca.pem and pki/admin.token in its dataDir")
	}
	if ca, err = os.ReadFile(caFile); err != nil {
		return nil, nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err).WithHint("the hub has ca.pem and pki/admin.token in its dataDir")
	}
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return nil, nil, protocol.Errorf(protocol.CodeInvalid, op, "%w", err).WithHint("the hub has ca.pem and pki/admin.token in its dataDir")
	}
	client, err = api.NewClient(api.Config{BaseURL: url, CA: ca, Token: strings.TrimSpace(string(token))})
	return ca, client, err
}
