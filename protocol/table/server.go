package table

import (
	"fmt"
	"strings"
	"time"

	"rackboot/protocol/resource"
)

func server(s *resource.Server, now time.Time) []filled {
	var power, attempt, intended, observed string
	var seen, stopped, awaits Cell
	holds := 0
	if r := s.Status.Report; r != nil {
		power, seen = string(r.Observation.Power), since(&r.Observation.ReadAt)
		if t := s.Status.ReadAt; t != nil { // by the hub's clock
			seen = read(t, s.Status.Stale)
		}
		stopped, awaits = at(r.StoppedSince), Waits(r.Awaits)
		if t := r.Attempt; t != nil {
			attempt = fmt.Sprintf("%s#%d", t.State, t.Number)
			intended, observed = string(t.Intended), string(t.Observed)
		}
		for _, h := range r.Holds {
			if h.Word != resource.HoldReleased {
				holds++
			}
		}
	}
	return []filled{
		name(s),
		phase(s.Status.Phase),
		column("POWER", "Its power, as its BMC shows it.", text(power)),
		column("ATTEMPT", "The newest attempt to boot it, and the number of that.", text(attempt)),
		column("CLAIM", "The claim that has it.", text(s.Status.Claim)),
		column("HOLDS", "How many holds are on it.", number(holds)),
		conditions(s.Status.Conditions, now),
		column("READ", "When its BMC was read last.", seen),
		age(s),
		wide("INTENDED", "What the newest attempt has it boot from.", text(intended)),
		wide("OBSERVED", "What it was seen to boot from.", text(observed)),
		wide("BMC", "Its BMC.", text(s.Spec.BMCRef.Name)),
		wide("SEGMENT", "The segment that it boots in.", text(s.Spec.SegmentRef.Name)),
		wide("BOOT-MAC", "The address that it boots by.", text(s.Spec.BootMAC)),
		wide("STOPPED-SINCE", "Since when it is known to be off.", stopped),
		wide("SAFE-STOP", "How surely it can be stopped.", text(s.Status.SafeStop)),
		wide("DETECTION", "How surely it is seen that somebody powers it on.", text(s.Status.Detection)),
		wide("EVIDENCE", "The class of the evidence of what has booted.", text(s.Status.EvidenceClass)),
		wide("SECRETS", "The way that its user data goes.", text(s.Status.Secrets)),
		wide("BOOTENV", "The boot environment that it has.", text(s.Status.BootEnv)),
		wide("OS", "The image that it runs.", text(s.Status.OS)),
		wide("AWAITS", "What it waits for.", awaits),
		wide("HARDWARE", "What was found in it.", text(Hardware(s.Status.Discovered))),
	}
}

// Hardware is what was found in one line: 2 CPUs, 64 cores, 512 GiB, 4 NICs, 2 disks.
func Hardware(d *resource.Discovered) string {
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
			parts = append(parts, plural(p.n, p.word))
		}
	}
	if h.MemoryBytes > 0 {
		memory := fmt.Sprintf("%d GiB", h.MemoryBytes>>30)
		if h.MemoryBytes < 1<<30 {
			memory = fmt.Sprintf("%d MiB", h.MemoryBytes>>20)
		}
		parts = append(parts, memory)
	}
	return strings.Join(append(parts, plural(len(h.Interfaces), "NIC"), plural(len(h.Disks), "disk")), ", ")
}

// plural is a number of things: 1 server, 2 servers.
func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
