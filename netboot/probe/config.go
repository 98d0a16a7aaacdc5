package probe

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"rackboot/netboot/attest/chip"
	"rackboot/protocol"
)

const (
	// lldpTime is a little more than the interval of switches (30 s by IEEE 802.1AB).
	lldpTime = 35 * time.Second
	maxLLDP  = 5 * time.Minute
	// deadline bounds all that the program does; the agent may be restarting.
	deadline = 10 * time.Minute
)

// Config says what to report. The zero value of a field leaves the choice to the
// kernel's command line.
type Config struct {
	// State is what is reported; as init discovered if the kernel's command line does
	// not say.
	State   protocol.ProbeState
	Message string
	URL     string // base URL of the boot
	CA      string // file with PEM of the authority of an https URL
	// Inventory adds the inventory; discovered always has it.
	Inventory bool
	LLDP      time.Duration // how long to listen; 0 is not
	Deadline  time.Duration // 0 is 10 minutes
	// TPM is the path of the TPM's device, or of a socket of one in software, which discover enrols;
	// empty is the machine's.
	TPM string
	// EventLog is the path of the log of what firmware measured; empty is Linux'.
	EventLog string
	Logger   *slog.Logger

	lldpSet bool
	discard bool // the disks, before the report
}

// flags read into c.
func (c *Config) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("rackboot-probe", flag.ContinueOnError)
	flags.StringVar(&c.Message, "message", "", "`text` for people, at most 1 KiB")
	flags.StringVar(&c.URL, "url", "", "base `URL` of the boot; else the config image of virtual media, else kernel argument "+argumentURL+", else DHCP option 67")
	flags.StringVar(&c.CA, "ca", "", "`file` with PEM of the authority, where the URL is https; else kernel argument "+argumentCA+", else /ca.pem, else the system's")
	flags.BoolVar(&c.Inventory, "inventory", false, "add the inventory; discover always does")
	flags.DurationVar(&c.LLDP, "lldp", 0, "how long to listen for LLDP, at most 5m; as init 35s")
	flags.StringVar(&c.TPM, "tpm", chip.Device, "`path` of the TPM that discover enrols: its device, or a socket")
	flags.StringVar(&c.EventLog, "event-log", eventLog, "`path` of the log of what firmware measured, which discover sends with a quote")
	flags.DurationVar(&c.Deadline, "deadline", deadline, "how long to try at most")
	return flags
}

// Parse reads the arguments of the command: a mode, then flags. As init there may be
// none. Usage goes to w; errors are invalid.
func Parse(args []string, w io.Writer) (Config, error) {
	const op = "read arguments"
	var c Config
	flags := c.flags()
	flags.SetOutput(w)
	flags.Usage = func() {
		fmt.Fprintf(w, "usage: %s [flags]\n\n%s.\n\n%s\n\n", Synopsis(), Short, Long)
		flags.PrintDefaults()
	}
	if len(args) > 0 {
		if args[0] == "-h" || args[0] == "--help" {
			flags.Usage()
			return c, flag.ErrHelp
		}
		state, ok := stateOf(args[0])
		if args[0] == modeDiscard {
			return c, protocol.Errorf(protocol.CodeDenied, op, "disks are discarded as init only").WithHint("boot the server into the boot environment decommission by a Maintenance")
		}
		if !ok {
			return c, protocol.Errorf(protocol.CodeInvalid, op, "mode %q is none of %s", args[0], strings.Join(Modes(), ", ")).WithHint("see rackboot-probe --help")
		}
		c.State = state
		if err := flags.Parse(args[1:]); err != nil {
			return c, protocol.Errorf(protocol.CodeInvalid, op, "%w", err).WithHint("see rackboot-probe --help")
		}
	}
	flags.Visit(func(f *flag.Flag) { c.lldpSet = c.lldpSet || f.Name == "lldp" })
	r := protocol.ProbeReport{State: protocol.ProbeBooted, Message: c.Message}
	switch wrong := r.Validate(); {
	case flags.NArg() > 0:
		return c, protocol.Errorf(protocol.CodeInvalid, op, "%q is left over", flags.Arg(0)).WithHint("put a message of several words into quotes")
	case len(wrong) > 0:
		return c, protocol.Errorf(protocol.CodeInvalid, op, "%w", wrong)
	case c.LLDP < 0 || c.LLDP > maxLLDP || c.Deadline <= 0:
		return c, protocol.Errorf(protocol.CodeInvalid, op, "--lldp is not between 0 and %s, or --deadline is not positive", maxLLDP)
	}
	return c, nil
}

// eventLog is the path of firmware's log.
func (c Config) eventLog() string { return cmp.Or(c.EventLog, eventLog) }

// stateOf is the state that a mode reports.
func stateOf(mode string) (protocol.ProbeState, bool) {
	if mode == "discover" {
		return protocol.ProbeDiscovered, true
	}
	return protocol.ParseProbeState(mode)
}

// fill takes from the kernel's command line what was not given.
func (c Config) fill(arguments map[string]string, first bool) Config {
	if c.CA == "" {
		c.CA = arguments[argumentCA]
	}
	if c.Deadline <= 0 {
		c.Deadline = deadline
	}
	if c.TPM == "" {
		c.TPM = chip.Device
	}
	if first {
		if state, ok := stateOf(arguments[argumentMode]); ok && c.State == "" {
			c.State = state
		}
		if arguments[argumentMode] == modeDiscard && c.State == "" {
			c.discard, c.State = true, protocol.ProbeBooted
		}
		if c.State == "" {
			c.State = protocol.ProbeDiscovered
		}
		if !c.lldpSet && c.State == protocol.ProbeDiscovered {
			c.LLDP = lldpTime
		}
	}
	if d, err := time.ParseDuration(arguments[argumentLLDP]); err == nil && d >= 0 && d <= maxLLDP && !c.lldpSet {
		c.LLDP = d
	}
	c.Inventory = c.Inventory || c.State == protocol.ProbeDiscovered
	return c
}
