package kinds

import (
	"fmt"
	"strings"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
)

// imageFacts say what the image of a server reported last, and what it found there.
func imageFacts(r *protocol.ImageReport) []printer.Fact {
	if r == nil {
		return nil
	}
	var out []printer.Fact
	if r.State != "" { // else the owner of whose boot it was has let the server go
		out = append(out, printer.Fact{"Image reported", fmt.Sprintf("%s at %s", r.State, printer.Stamp(&r.At))}, printer.Fact{"Image message", r.Message})
	}
	h := r.Inventory
	switch {
	case h == nil && r.Digest != "":
		return append(out, printer.Fact{"Inventory", fmt.Sprintf("%d bytes, not told yet or too long; rackboot-agent explain at the rack has it", r.Bytes)})
	case h == nil:
		return out
	}
	return append(out, hostFacts(h)...)
}

// hostFacts are what is in a server.
func hostFacts(h *protocol.HostInventory) []printer.Fact {
	if h == nil {
		return nil
	}
	board := strings.Join(strings.Fields(strings.Join([]string{h.Board.Vendor, h.Board.Product, h.Board.Serial}, " ")), " ")
	out := []printer.Fact{
		{"Board", board},
		{"Processors", fmt.Sprintf("%d sockets, %d cores, %d threads, %s %s", h.CPU.Sockets, h.CPU.Cores, h.CPU.Threads, h.CPU.Architecture, h.CPU.Model)},
		{"Memory", fmt.Sprintf("%d MiB", h.MemoryBytes>>20)},
	}
	for _, n := range h.Interfaces {
		text := n.MAC + ", no link"
		if n.Link {
			text = fmt.Sprintf("%s, %d Mb/s", n.MAC, n.SpeedMbps)
			if n.SpeedMbps == 0 {
				text = n.MAC + ", link"
			}
		}
		for _, o := range n.Neighbours {
			name := o.System
			if name == "" {
				name = o.Chassis
			}
			text += ", " + name + " " + o.Port
		}
		out = append(out, printer.Fact{"Interface " + n.Name, text})
	}
	for _, d := range h.Disks {
		out = append(out, printer.Fact{"Disk " + d.Name, strings.Join(strings.Fields(fmt.Sprintf("%d GB %s %s %s", d.Bytes/1e9, d.Transport, d.Model, d.Serial)), " ")})
	}
	return out
}
