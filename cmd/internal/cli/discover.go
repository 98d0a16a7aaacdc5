package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/protocol/resource"
)

func (a *app) serverDiscoverCmd() *cobra.Command {
	return &cobra.Command{
		Use: "discover SERVER", Short: "Discover a server again", Args: cobra.ExactArgs(1),
		Long: "Discover a server again: boot it into the image of its rack's spec.discovery, which reports\n" +
			"what is in it. That is done by itself for a server that was never discovered. It ends the\n" +
			"condition DiscoveryFailed. Nobody may own the server: it is refused while the server has a\n" +
			"claim or a maintenance, and no claim gets it before it was discovered.",
		Example: "  rackctl server discover n1",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := a.client()
			if err != nil {
				return err
			}
			s, err := c.Discover(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			a.progress("server %s: a discovery was asked for", args[0])
			v := objectsView(resource.KindServer, []resource.Object{s}, time.Now())
			v.single = true
			return a.print.show(v)
		},
	}
}

// discoveryFacts are what the hub keeps of a server's discoveries.
func discoveryFacts(s *resource.Server) (out []fact) {
	if d := s.Status.Discovery; d != nil {
		if d.AskedAt != nil {
			out = append(out, fact{"Discovery asked", fmt.Sprintf("by %s at %s", d.AskedBy, stamp(d.AskedAt))})
		}
		if d.FailedAt != nil {
			out = append(out, fact{"Discovery given up", stamp(d.FailedAt) + ": " + d.Reason})
		}
	}
	d := s.Status.Discovered
	if d == nil {
		return out
	}
	out = append(out, fact{"Discovered", fmt.Sprintf("%s by %s with %s", stamp(&d.At), dash(string(d.Method)), d.ImageDigest)}, fact{"Hardware", hardware(d)})
	return append(out, hostFacts(d.Inventory)...)
}

// hardware is what was found in one line: 2 CPUs, 64 cores, 512 GiB, 4 NICs, 2 disks.
func hardware(d *resource.Discovered) string {
	if d == nil {
		return ""
	}
	h := d.Inventory
	if h == nil {
		if d.Bytes > 0 {
			return fmt.Sprintf("inventory of %d bytes, at the agent", d.Bytes)
		}
		return ""
	}
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{h.CPU.Sockets, "CPU"}, {h.CPU.Cores, "core"}} {
		if p.n > 0 {
			parts = append(parts, count(p.n, p.word))
		}
	}
	if h.MemoryBytes > 0 {
		memory := fmt.Sprintf("%d GiB", h.MemoryBytes>>30)
		if h.MemoryBytes < 1<<30 {
			memory = fmt.Sprintf("%d MiB", h.MemoryBytes>>20)
		}
		parts = append(parts, memory)
	}
	return strings.Join(append(parts, count(len(h.Interfaces), "NIC"), count(len(h.Disks), "disk")), ", ")
}

func count(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}
