package site

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/firstrack"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol"
)

// initAnswers are the questions of rackctl init, each a flag.
type initAnswers struct {
	rack, address, network, router, image, account string
	bmcs, macs                                     []string
	pin                                            pin
	httpPort                                       uint16
	local, offline, yes, force                     bool
}

func initCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var q initAnswers
	cmd := &cobra.Command{
		Use: "init [DIR]", Short: "Write the files of a first rack, and say what to do with them", Args: cobra.MaximumNArgs(1),
		Long: "Write the files of a first rack, and say what to do with them: rack, segment, BMCs and servers, as\n" +
			"rackctl apply -f DIR takes them; a claim to try; the agent's file, and the account of the BMCs for the\n" +
			"agent's host. DIR has the rack's name where none is given. No hub is asked.\n\n" +
			"Each BMC is read from this host, by Redfish, and nothing in it is changed: what it says of its\n" +
			"system, the UUID and the network ports is in the files. With --offline, where this host does not\n" +
			"reach them, give --mac for each BMC, in the same order.\n\n" +
			"What no flag says is asked at the terminal; without one, or with --yes, what is missing is named.\n" +
			"No file is written over without --force.",
		Example: "  rackctl init lab\n" +
			"  rackctl init lab --address 10.7.0.2/24 --interface eth1 --bmc https://10.6.0.21 --bmc n2=https://10.6.0.22 --account bmc.account --trust-shown\n" +
			"  rackctl init try --local --bmc server-1=https://127.0.0.1:8001 --account bmc.account --trust-shown",
		RunE: func(cmd *cobra.Command, args []string) error {
			return initRack(cmd.Context(), hubs, src, pr, q, strings.Join(args, ""))
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.rack, "rack", "", "name of the rack (default rack-1)")
	f.StringVar(&q.address, "address", "", "the agent's address on the network that servers boot on, as 10.7.0.2/24 (default with --local 127.0.0.1/8)")
	f.StringVar(&q.network, "interface", "", "its interface there; none on loopback")
	f.StringVar(&q.router, "router", "", "router of that network, where servers need one")
	f.StringArrayVar(&q.bmcs, "bmc", nil, "[NAME=]https://host[:port] of a server's BMC; may be repeated")
	f.StringVar(&q.account, "account", "", "file with the lines username: and password: of the BMCs; - reads them from standard input")
	f.StringArrayVar(&q.macs, "mac", nil, "MAC address that a server boots from, for each --bmc in order (default: what the BMC says)")
	f.StringVar(&q.image, "image", "", "image of the claim to try (default "+firstrack.DefaultImage+")")
	f.Uint16Var(&q.httpPort, "http-port", 0, "port of boot URLs (default 8080)")
	f.BoolVar(&q.local, "local", false, "hub and agent run on this host, out of DIR")
	f.BoolVar(&q.offline, "offline", false, "read no BMC")
	f.BoolVar(&q.yes, "yes", false, "ask nothing, take the defaults")
	f.BoolVar(&q.force, "force", false, "write over files that are there")
	q.pin.flags(cmd)
	return cmd
}

func initRack(ctx context.Context, hubs *client.Hubs, src *files.Input, pr *printer.Printer, q initAnswers, dir string) error {
	in := interview{pr: pr, src: src, yes: q.yes, person: terminal.Person(src.Stdin)}
	site, err := in.site(&q)
	if err != nil {
		return err
	}
	if dir == "" {
		dir = site.Rack
	}
	if site.Dir, err = filepath.Abs(dir); err != nil {
		return protocol.Errorf(protocol.CodeInvalid, "init", "%w", err)
	}
	if err := in.hosts(ctx, &q, site); err != nil {
		return err
	}
	site.Defaults()
	files, err := site.Files()
	if err != nil {
		return err
	}
	if err := firstrack.Write(dir, files, q.force); err != nil {
		return err
	}
	return showFirstRack(hubs, pr, site, files, dir)
}

// firstRack is what was written, and what comes next.
type firstRack struct {
	Files []string         `json:"files"`
	Next  []firstrack.Step `json:"next"`
}

func showFirstRack(hubs *client.Hubs, pr *printer.Printer, site *firstrack.Site, files []firstrack.File, dir string) error {
	out := firstRack{Next: site.Next(dir)}
	if _, err := hubs.Chosen(); err != nil && !site.Local {
		out.Next = append([]firstrack.Step{{Command: "rackctl login https://HUB:8443", What: "which hub, and who you are there"}}, out.Next...)
	}
	for _, f := range files {
		out.Files = append(out.Files, filepath.Join(dir, f.Path))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "wrote %s\n\nWhat to do next, in this order:\n\n", strings.Join(out.Files, "\n      "))
	for _, s := range out.Next {
		if s.What != "" {
			fmt.Fprintf(&b, "  # %s\n", s.What)
		}
		fmt.Fprintf(&b, "  %s\n", s.Command)
	}
	return pr.Text(out, out.Files, strings.TrimRight(b.String(), "\n"))
}

// interview asks at the terminal what no flag says.
type interview struct {
	pr     *printer.Printer
	src    *files.Input
	person *os.File
	yes    bool
	miss   []string // flags without which it cannot be done
}

// ask fills a value: from its flag, from the terminal, or with the default. What has none
// and is needed is missed, and said with all else that is.
func (i *interview) ask(value *string, flag, question, standard string, needed bool, check func(string) error) error {
	const op = "init"
	if *value == "" && i.person != nil && !i.yes {
		prompt := question
		if standard != "" {
			prompt += " [" + standard + "]"
		}
		for {
			typed, err := terminal.Ask(i.pr.Err, i.person, prompt+": ", false)
			if err != nil {
				return protocol.Errorf(protocol.CodeUnavailable, op, "the terminal cannot be read: %w", err).WithHint("give --%s", flag)
			}
			if typed = strings.TrimSpace(typed); typed == "" {
				typed = standard
			}
			switch err := check(typed); {
			case typed == "" && !needed:
				return nil
			case typed == "":
				i.pr.Progress("this one is needed")
			case err != nil:
				i.pr.Progress("%v", err)
			default:
				*value = typed
				return nil
			}
		}
	}
	if *value == "" {
		*value = standard
	}
	switch {
	case *value == "" && needed:
		i.miss = append(i.miss, "--"+flag)
		return nil
	case *value == "":
		return nil
	}
	if err := check(*value); err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "--%s: %w", flag, err)
	}
	return nil
}

// missing names all that was missed at once.
func (i *interview) missing() error {
	if len(i.miss) == 0 {
		return nil
	}
	return protocol.Errorf(protocol.CodeInvalid, "init", "nothing was written; missing: %s", strings.Join(i.miss, ", ")).
		WithHint("give them, or run it at a terminal, where they are asked; rackctl init --help says what each is")
}
