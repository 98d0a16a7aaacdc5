package convert

import (
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/convert"
	"rackboot/cmd/internal/convert/dnsmasq"
	"rackboot/cmd/internal/convert/drprovision"
	"rackboot/cmd/internal/convert/maas"
	"rackboot/cmd/internal/convert/metal3"
	"rackboot/cmd/internal/convert/metaloperator"
	"rackboot/cmd/internal/convert/netbox"
	"rackboot/protocol"
)

// reader is one tool whose files are read.
type reader struct {
	name, short, long, example string
	read                       func(*convert.Conversion, []convert.File) error
	// rackOptional is of inputs that may need no rack.
	rackOptional bool
}

func readers() []reader {
	return []reader{
		{
			"metal3", "Convert BareMetalHosts and the Secrets that they name",
			"Convert BareMetalHosts and the Secrets that they name, as kubectl get -o yaml or -o json writes them.\n" +
				"A host becomes a Server and a BMC, and a Claim if it has an image and --image or --boot-env says what\n" +
				"the server boots instead: Rackboot writes no disk images.",
			"  kubectl get bmh,secret -n metal3 -o yaml | rackctl convert metal3 --rack r1 --bmc-ca bmc-ca.pem - | rackctl apply --dry-run -f -",
			metal3.Convert, false,
		},
		{
			"metal-operator", "Convert Servers, BMCs, BMCSecrets, Endpoints and ServerClaims",
			"Convert Servers, BMCs, BMCSecrets, Endpoints and ServerClaims of metal-operator, with the Secrets of their\n" +
				"Ignition, as kubectl get -o yaml or -o json writes them.",
			"  rackctl convert metal-operator --rack r1 --bmc-ca bmc-ca.pem site.yaml --to site-rackboot.yaml",
			metaloperator.Convert, false,
		},
		{
			"dr-provision", "Convert boot environments, templates, params, profiles and machines",
			"Convert content of dr-provision as drpcli contents writes it, and lists as drpcli machines list does.\n" +
				"Boot environments and templates are taken nearly whole; machines need --rack.",
			"  rackctl convert dr-provision content.yaml --to bootenvs.yaml\n  drpcli machines list | rackctl convert dr-provision --rack r1 --bmc-ca bmc-ca.pem -",
			drprovision.Convert, true,
		},
		{
			"netbox", "Convert a CSV export of devices, and of their interfaces",
			"Convert CSV exports of NetBox: of devices, and of interfaces, which have the MAC addresses. A device's rack\n" +
				"is its column's, unless --rack is given; its BMC is at its out-of-band address, or has the MAC address of an\n" +
				"interface for management.",
			"  rackctl convert netbox devices.csv interfaces.csv --bmc-ca bmc-ca.pem --report report.json --to servers.yaml",
			netbox.Convert, true,
		},
		{
			"dnsmasq", "Convert dhcp-host lines, dhcp-hostsfile and /etc/ethers",
			"Convert lines dhcp-host= of dnsmasq, files of dhcp-hostsfile, and /etc/ethers. A host NAME-bmc (or -ipmi,\n" +
				"-idrac, -ilo, -oob, -mgmt) is the BMC of the host NAME.",
			"  rackctl convert dnsmasq --rack r1 --bmc-ca bmc-ca.pem --credentials secret:bmcs /etc/ethers",
			dnsmasq.Convert, false,
		},
		{
			"maas", "Convert what maas machines read writes",
			"Convert what maas PROFILE machines read writes. BMCs come from power parameters: give a file with the answers\n" +
				"of maas PROFILE machine power-parameters, with the system_id of its machine in each.",
			"  rackctl convert maas --rack r1 --bmc-ca bmc-ca.pem machines.json power.json",
			maas.Convert, false,
		},
	}
}

// The exit codes besides 0 and those of protocol.Code.
const (
	exitLacking  = 10
	exitRejected = 11
)

// Command is rackctl convert.
func Command(src *files.Input, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "convert", Short: "Turn what other tools know of servers into manifests, and say what has no equal", Args: cobra.NoArgs,
		Long: `Turn what other tools know of servers into manifests, and say what has no equal. No hub is asked.

Manifests go to standard output, or to --to. What became of each field of the input goes to standard
error in brief, and to --report whole: taken, changed, no equal or refused, with a code. No report has a
value. Passwords become Secret manifests: keep those from others.

Exit codes besides those of all commands:
   0  everything was taken
  10  manifests were written; something has no equal, or a manifest lacks what the input did not have
  11  manifests were written; something was refused and is in none`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, r := range readers() {
		cmd.AddCommand(readerCmd(r, src, pr))
	}
	return cmd
}

// options are the flags of each reader.
type options struct {
	settings     convert.Settings
	caFile       string
	fingerprints map[string]string
	to, report   string
}

func readerCmd(r reader, src *files.Input, pr *printer.Printer) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use: r.name + " FILE...", Short: r.short, Long: r.long + "\n\nrackctl convert --help has the exit codes.", Example: r.example, Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(r, args, src, pr) },
	}
	f := cmd.Flags()
	f.StringVar(&o.settings.Rack, "rack", "", "the rack of the BMCs")
	f.StringVar(&o.settings.Segment, "segment", "", "the segment that the servers boot on (default RACK-boot)")
	f.StringVar(&o.caFile, "bmc-ca", "", "file with the CA of the BMCs' certificates, PEM")
	f.StringToStringVar(&o.fingerprints, "bmc-fingerprint", nil, "BMC=sha256:HEX of a BMC's own certificate; may be repeated")
	f.StringVar(&o.settings.Credentials, "credentials", "", "secret:NAME or local:NAME for BMCs whose account is not in the input (default local:BMC)")
	f.StringVar(&o.settings.Image, "image", "", "what claims boot whose image cannot be taken: an OCI reference or bootimage/NAME")
	f.StringVar(&o.settings.BootEnv, "boot-env", "", "the same, by a boot environment")
	f.StringVar(&o.to, "to", "", "write the manifests to this new file, or into this folder")
	f.StringVar(&o.report, "report", "", "write the whole report to this new file, as JSON")
	return cmd
}

func (o *options) run(r reader, args []string, src *files.Input, pr *printer.Printer) error {
	if err := o.check(r, src, pr); err != nil {
		return err
	}
	in, err := read(args, src)
	if err != nil {
		return err
	}
	c := convert.New(o.settings)
	if err := r.read(c, in); err != nil {
		return err
	}
	out, err := c.Finish()
	if err != nil {
		return err
	}
	if err := o.writeReport(out.Report); err != nil {
		return err
	}
	if err := o.write(out, pr); err != nil {
		return err
	}
	summary(pr, out.Report)
	switch out.Report.Outcome() {
	case convert.Lacking:
		return printer.Exit(exitLacking)
	case convert.Rejected:
		return printer.Exit(exitRejected)
	case convert.Whole:
	}
	return nil
}

// check reads the flags.
func (o *options) check(r reader, src *files.Input, pr *printer.Printer) error {
	const op = "convert"
	invalid := func(hint, format string, args ...any) error {
		return protocol.Errorf(protocol.CodeInvalid, op, format, args...).WithHint("%s", hint)
	}
	s := &o.settings
	switch {
	case pr.Form != printer.FormTable && pr.Form != printer.FormYAML && pr.Form != printer.FormName:
		return invalid("--report FILE has the report as JSON", "manifests are written as YAML, and not as %s", pr.Form)
	case s.Rack == "" && !r.rackOptional:
		return invalid("rackctl get racks lists those that there are", "give the rack of the servers with --rack")
	case s.Image != "" && s.BootEnv != "":
		return invalid("give one of both", "--image and --boot-env say the same")
	}
	for flag, name := range map[string]string{"--rack": s.Rack, "--segment": s.Segment, "--boot-env": s.BootEnv} {
		if name != "" && !protocol.ValidName(name) {
			return invalid("use 1 to 63 of a-z, 0-9 and -", "%s: %q is not a name", flag, name)
		}
	}
	for name, fp := range o.fingerprints {
		if !protocol.ValidFingerprint(fp) {
			return invalid("rackctl bmc probe --direct shows it", "--bmc-fingerprint: that of %s is not sha256: and 64 hex digits", name)
		}
	}
	s.Fingerprints = o.fingerprints
	if o.caFile == "" {
		return nil
	}
	ca, err := src.Small(o.caFile)
	if err != nil {
		return err
	}
	if s.CA = ca; !strings.Contains(s.CA, "-----BEGIN CERTIFICATE-----") {
		return invalid("give a file that begins with -----BEGIN CERTIFICATE-----", "--bmc-ca: %s has no certificate", o.caFile)
	}
	return nil
}
