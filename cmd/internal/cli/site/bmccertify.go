package site

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/bmc/certify"
	"rackboot/bmc/redfish"
	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// certification is what bmc certify was asked for.
type certification struct {
	direct                directProbe
	config                certify.Config
	what                  string // a name or an address
	allowPower, unmanaged bool
	out                   string
}

func bmcCertifyCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var c certification
	cmd := &cobra.Command{
		Use: "certify BMC|ADDRESS --user USER --password-file FILE --allow-power", Short: "Try a machine of yours with the orders that Rackboot gives", Args: cobra.ExactArgs(1),
		Long: "Try a machine of yours with the orders that Rackboot gives, for an hour, and write a page about it.\n" +
			"THE MACHINE IS POWERED OFF AND ON, again and again, by force too: nothing may run on it.\n\n" +
			"rackctl itself speaks with the BMC at ADDRESS, https://host[:port], on a host that reaches it; that of a\n" +
			"BMC that was found and is not accepted yet may be given by its name at the hub. It reads,\n" +
			"arms and disarms boot overrides, forces the machine off, reads Off for as long as a hold does, powers it\n" +
			"on, forces it off while firmware starts, and asks the operating system to stop. What counts is what is\n" +
			"read afterwards. Between it boots what its firmware order has. Boots from the network and virtual media\n" +
			"are not tried. At the end, also after Ctrl-C, overrides and power are as they were found.\n\n" +
			"A BMC that the hub has accepted is refused: its agent would take the orders for somebody else's.\n" +
			"--unmanaged says that no hub has it, and asks none.\n\n" +
			"Exit codes: 0 if everything that was ordered came to be, 5 if not; else the machine was not tried.",
		Example: "  rackctl bmc certify https://10.7.0.130 --user admin --password-file pw --fingerprint sha256:… --allow-power --unmanaged\n" +
			"  rackctl bmc certify https://10.7.0.130 --user admin --password-file pw --ca ca.pem --allow-power --for 10m --out page.md",
		RunE: func(cmd *cobra.Command, args []string) error {
			c.what = args[0]
			r, err := c.run(cmd.Context(), hubs, src, pr)
			if err != nil {
				return err
			}
			if err := errors.Join(pr.Text(r, []string{r.System}, r.Markdown()), c.write(pr, r)); err != nil {
				return err // what an hour has shown is written to one place though the other fails
			}
			if !r.Passed() {
				return protocol.Errorf(protocol.CodeUnsupported, "certify", "not everything that was ordered came to be").WithHint("the page says what, in the BMC's words")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.direct.user, "user", "", "the account")
	f.StringVar(&c.direct.passwordFile, "password-file", "", "file with its password, - for standard input")
	f.StringVar(&c.direct.system, "system", "", "path of one system (default: the BMC's only host)")
	f.BoolVar(&c.direct.legacyTLS, "legacy-tls", false, "also by TLS that is too old, as spec.tls.legacy of a BMC")
	f.BoolVar(&c.allowPower, "allow-power", false, "power the machine off and on")
	f.BoolVar(&c.unmanaged, "unmanaged", false, "no hub has this BMC: ask none")
	f.DurationVar(&c.config.For, "for", time.Hour, "how long cycles are begun, up to 24h; 0 is one cycle")
	f.DurationVar(&c.config.Settle, "settle", 30*time.Second, "how long Off is read, 1s to 10m")
	f.DurationVar(&c.config.Boot, "boot", 3*time.Minute, "how long the operating system has to start, 1s to 30m")
	f.DurationVar(&c.config.Every, "every", time.Second, "pause between two reads, 10ms to 10s")
	f.StringVar(&c.out, "out", "", "write the page to a file as well")
	c.direct.pin.flags(cmd)
	return cmd
}

// write keeps the page, if that was asked for.
func (c *certification) write(pr *printer.Printer, r *certify.Report) error {
	if c.out == "" {
		return nil
	}
	if err := os.WriteFile(c.out, []byte(r.Markdown()), 0o644); err != nil {
		return protocol.Errorf(protocol.CodeInvalid, "write the page", "%w", err).WithHint("it stands on standard output")
	}
	pr.Progress("wrote %s", c.out)
	return nil
}

// check says what is wrong with the flags.
func (c *certification) check() error {
	switch {
	case c.direct.user == "" || c.direct.passwordFile == "":
		return protocol.Errorf(protocol.CodeInvalid, "", "certify needs --user and --password-file")
	case !c.allowPower:
		return protocol.Errorf(protocol.CodeDenied, "certify", "the machine would be powered off and on, by force too").WithHint("--allow-power, if nothing runs on it")
	case c.config.For < 0 || c.config.For > 24*time.Hour:
		return protocol.Errorf(protocol.CodeInvalid, "", "--for %s is not within 0 and 24h", c.config.For)
	case c.config.Settle < time.Second || c.config.Settle > 10*time.Minute:
		return protocol.Errorf(protocol.CodeInvalid, "", "--settle %s is not within 1s and 10m", c.config.Settle)
	case c.config.Boot < time.Second || c.config.Boot > 30*time.Minute:
		return protocol.Errorf(protocol.CodeInvalid, "", "--boot %s is not within 1s and 30m", c.config.Boot)
	case c.config.Every < 10*time.Millisecond || c.config.Every > 10*time.Second:
		return protocol.Errorf(protocol.CodeInvalid, "", "--every %s is not within 10ms and 10s", c.config.Every)
	}
	return nil
}

func (c *certification) run(ctx context.Context, hubs *client.Hubs, src *files.Input, pr *printer.Printer) (*certify.Report, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.out != "" { // known before the machine is touched, not after an hour
		f, err := os.OpenFile(c.out, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, "certify", "--out: %w", err).WithHint("give a file that can be written")
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	if err := c.find(ctx, hubs); err != nil {
		return nil, err
	}
	look, cancel := context.WithTimeout(ctx, api.ProbeWait)
	defer cancel()
	target, err := c.direct.target(look, src, pr)
	if err != nil {
		return nil, err
	}
	driver, err := openAt(target, redfish.Config{})
	if err != nil {
		return nil, err
	}
	defer driver.Close() //nolint:errcheck // the session ends by itself where it cannot be ended
	probe, err := probeBy(look, driver)
	if err != nil {
		return nil, err
	}
	pr.Progress("%s %s, serial number %s: trying it for %s", printer.Dash(probe.Inventory.Vendor), printer.Dash(probe.Inventory.Model), printer.Dash(probe.Inventory.Serial), c.config.For)
	c.config.Tell = func(s certify.Step) {
		if s.Check != certify.CheckRead || s.Outcome != certify.Passed {
			pr.Progress("%s %s", time.Now().UTC().Format(time.TimeOnly), stepText(s))
		}
	}
	return certify.Run(ctx, driver, probe, c.config), nil
}

func stepText(s certify.Step) string {
	text := fmt.Sprintf("%s: %s after %s", strings.TrimSpace(s.Check.Words()+" "+s.What), s.Outcome, s.Took.Round(time.Millisecond))
	if s.Words != "" {
		text += ": " + s.Words
	}
	return text
}

// find sees to it that no agent speaks with the BMC, and has its address.
func (c *certification) find(ctx context.Context, hubs *client.Hubs) error {
	named := !strings.Contains(c.what, "://")
	switch {
	case c.unmanaged && named:
		return protocol.Errorf(protocol.CodeInvalid, "certify", "%q is not https://host[:port], and with --unmanaged no hub is asked for a name", c.what).
			WithHint("give the BMC's address, or leave out --unmanaged")
	case c.unmanaged:
		c.direct.address = c.what
		return nil
	}
	hub, err := hubs.Connect()
	if err != nil {
		return err
	}
	if named {
		return c.findNamed(ctx, hub)
	}
	c.direct.address = c.what
	return c.refuseManaged(ctx, hub)
}

// findNamed takes the address of a BMC that nobody has accepted yet: no agent orders anything of it. Another
// one's agent reads it all the time, and would take what it did not order for somebody's at the machine.
func (c *certification) findNamed(ctx context.Context, hub *api.Client) error {
	obj, err := hub.Objects.Get(ctx, resource.KindBMC, c.what)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return protocol.Errorf(protocol.CodeNotFound, "certify", "the hub has no BMC %s", c.what).WithHint("rackctl get bmcs lists them; an address is https://host[:port]")
	}
	if err != nil {
		return err
	}
	b, is := obj.(*resource.BMC)
	switch {
	case !is:
		return protocol.Errorf(protocol.CodeInternal, "certify", "the hub gave no BMC as %s", c.what)
	case b.Reach() == "":
		return protocol.Errorf(protocol.CodeInvalid, "certify", "the address of BMC %s is not known", c.what).WithHint("give it as https://host[:port]")
	case !b.Pending():
		return managed(b)
	}
	c.direct.address = b.Reach()
	return nil
}

// managed refuses a BMC that an agent speaks with, and says how it is certified all the same.
func managed(b *resource.BMC) error {
	name := b.Metadata.Name
	return protocol.Errorf(protocol.CodeConflict, "certify", "the hub has it as BMC %s, and its agent would take the orders for somebody else's", name).
		WithHint("certify it before it is accepted, or take it from the hub for as long, with the servers that name it: rackctl get bmc %s -o yaml, rackctl delete bmc %s, then rackctl bmc certify %s --allow-power …, and apply it again", name, name, b.Reach())
}

// refuseManaged refuses an address at which an agent speaks with a BMC.
func (c *certification) refuseManaged(ctx context.Context, hub *api.Client) error {
	all, err := hub.Objects.List(ctx, resource.KindBMC)
	if err != nil {
		return protocol.Errorf(protocol.CodeOf(err), "certify", "whether a hub has the BMC is not known: %w", err).WithHint("--unmanaged, if no hub has it")
	}
	for _, obj := range all {
		if b, is := obj.(*resource.BMC); is && !b.Pending() && resource.HostPort(b.Reach()) == resource.HostPort(c.direct.address) {
			return managed(b)
		}
	}
	return nil
}
