package site

import (
	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func bmcCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "bmc", Short: "Accept BMCs that were found, find out what one can do, try one, and change accounts", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(bmcAcceptCmd(hubs, src, pr), bmcProbeCmd(hubs, src, pr), bmcCertifyCmd(hubs, src, pr), bmcRotateCmd(hubs, pr), bmcOwnCmd(hubs, pr))
	return cmd
}

// pin is how a BMC's certificate is known.
type pin struct {
	fingerprint, caFile string
	trustShown          bool
}

func (p *pin) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.fingerprint, "fingerprint", "", "sha256:<hex> of the certificate, as compared at the BMC")
	cmd.Flags().StringVar(&p.caFile, "ca", "", "file with the PEM certificates that signed it")
	cmd.Flags().BoolVar(&p.trustShown, "trust-shown", false, "pin the certificate that the BMC showed, without comparing it")
	cmd.MarkFlagsMutuallyExclusive("fingerprint", "ca", "trust-shown")
}

// resolve is the pin; shown says what the BMC showed.
func resolve(src *files.Input, pr *printer.Printer, p pin, name string, shown func() (string, error)) (out resource.BMCTLS, err error) {
	if p.caFile != "" {
		out.CA, err = src.Small(p.caFile)
		return out, err
	}
	if p.fingerprint != "" {
		return resource.BMCTLS{Fingerprint: p.fingerprint}, nil
	}
	fingerprint, err := shown()
	switch {
	case err != nil:
		return out, err
	case fingerprint == "":
		return out, protocol.Errorf(protocol.CodeInvalid, "trust bmc", "%s has shown no certificate", name).
			WithHint("give --fingerprint as the BMC's console shows it, or --ca FILE")
	case !p.trustShown:
		return out, protocol.Errorf(protocol.CodeInvalid, "trust bmc", "%s shows a certificate with the fingerprint %s", name, fingerprint).
			WithHint("compare it at the BMC and give it with --fingerprint; --trust-shown pins it as it is")
	}
	pr.Progress("%s shows a certificate with the fingerprint %s; it is pinned", name, fingerprint)
	return resource.BMCTLS{Fingerprint: fingerprint}, nil
}

func bmcAcceptCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var req api.AcceptBMC
	var p pin
	cmd := &cobra.Command{
		Use: "accept BMC --credentials secret:NAME", Short: "Accept a BMC that was found on a bmc segment", Args: cobra.ExactArgs(1),
		Long: "Accept a BMC that was found on a bmc segment. Only then are its credentials tried: those\n" +
			"of the Secret NAME, or with local:NAME in the file NAME of the credentials folder on the agent's host.\n\n" +
			"Without --fingerprint and --ca the command shows the fingerprint that the BMC showed, and\n" +
			"stops. Compare it at the BMC, or pin it as it is with --trust-shown.",
		Example: "  rackctl get bmcs\n  rackctl bmc accept bmc-3cecef000001 --credentials secret:smc --fingerprint sha256:…",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			tls, err := resolve(src, pr, p, args[0], func() (string, error) {
				b, err := api.Get[*resource.BMC](cmd.Context(), c, args[0])
				if err != nil || b.Status.Found == nil {
					return "", err
				}
				return b.Status.Found.Fingerprint, nil
			})
			if err != nil {
				return err
			}
			req.Fingerprint, req.CA = tls.Fingerprint, tls.CA
			b, err := c.BMCs.Accept(cmd.Context(), args[0], req)
			if err != nil {
				return err
			}
			return pr.Show(kinds.View(resource.KindBMC, b))
		},
	}
	cmd.Flags().StringVar(&req.CredentialsRef, "credentials", "", "secret:NAME, or local:NAME, a file in the agent's credentials folder")
	cmd.Flags().BoolVar(&req.LegacyTLS, "legacy-tls", false, "use it though its TLS is too old (spec.tls.legacy)")
	p.flags(cmd)
	return cmd
}

func bmcProbeCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var system string
	var direct directProbe
	cmd := &cobra.Command{
		Use: "probe BMC", Short: "Find out what a BMC can do, what would be written where, and what is missing", Args: cobra.MaximumNArgs(1),
		Long: "Find out what a BMC can do, what would be written where, and what is missing. Nothing is\n" +
			"changed: the rack's agent reads the BMC, which takes up to 3 minutes. It ends with a verdict.\n\n" +
			"Exit codes:\n" +
			"   0  ready: at least one method boots the server as it is, and a hold of it is provable\n" +
			"   4  every method that could boot it waits for a BIOS setting, which the verdict names\n" +
			"   5  nothing boots it, or no hold of it can be forced and proved\n" +
			"1 to 8 else say that the BMC was not read (docs/reference/codes.md); then nothing is printed\n" +
			"on standard output. Of several systems the worst counts.\n\n" +
			"With --direct there is no hub and no agent: rackctl itself reads the BMC at --address, on\n" +
			"a host that reaches it. -o json is a stable form for both. --record writes each answer to a\n" +
			"gzipped tar, for a bug report: passwords, tokens and free texts are left out; addresses, UUIDs,\n" +
			"serial numbers, and names of hosts and users are replaced, the same one always by the same. Look\n" +
			"through it before you send it: what stands where nobody expects it is not known.",
		Example: "  rackctl bmc probe b1\n  rackctl bmc probe b1 --system /redfish/v1/Systems/1 -o json\n" +
			"  rackctl bmc probe --direct --address https://10.7.0.130 --user admin --password-file pw --fingerprint sha256:…\n" +
			"  rackctl bmc probe --direct --address https://10.7.0.130 --user admin --password-file pw --trust-shown --record bmc.tar.gz",
		RunE: func(cmd *cobra.Command, args []string) error {
			var list api.ProbeList
			var err error
			switch {
			case direct.record != "" && !direct.on:
				return protocol.Errorf(protocol.CodeInvalid, "", "--record needs --direct").WithHint("run it on a host that reaches the BMC")
			case direct.on:
				direct.system = system
				list, err = direct.probe(cmd.Context(), src, pr)
			case len(args) == 0:
				return protocol.Errorf(protocol.CodeInvalid, "", "give the BMC's name").WithHint("rackctl get bmcs lists them; --direct needs none")
			default:
				c, errClient := hubs.Connect()
				if errClient != nil {
					return errClient
				}
				list, err = c.BMCs.Probe(cmd.Context(), args[0], api.ProbeRequest{SystemURI: system})
			}
			if err != nil {
				return err
			}
			var names []string
			for _, p := range list.Items {
				names = append(names, p.Inventory.SystemURI)
			}
			if err := pr.Text(list, names, probeReport(list.Items)); err != nil {
				return err
			}
			return unready(list.Items)
		},
	}
	cmd.Flags().StringVar(&system, "system", "", "path of one system (default: every host behind the BMC)")
	direct.flags(cmd)
	return cmd
}
