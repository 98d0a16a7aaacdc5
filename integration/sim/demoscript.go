package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"rackboot/netboot/firmware"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// stepTimeout bounds one step of the demo.
const stepTimeout = 30 * time.Second

// demoStep is one thing that the demo shows; do returns what was seen.
type demoStep struct {
	title string
	do    func(context.Context) (string, error)
}

// begin is how every scenario begins: hub and agent know each other and the servers.
func (d *Demo) begin() []demoStep {
	return []demoStep{
		{"hub is up", func(ctx context.Context) (string, error) {
			if err := d.writeFiles(); err != nil {
				return "", err
			}
			return d.startHub(ctx)
		}},
		{"rackctl has a context", d.login},
		{"rack and servers applied", d.apply("manifests")},
		{"agent joins", d.joinAgent},
		{"joined", d.event(resource.EventJoined)},
		{"servers are read", d.serversRead},
	}
}

// installed is a first boot in few steps.
func (d *Demo) installed() []demoStep {
	return []demoStep{
		{"claim accepted", d.apply("claim")},
		{"provisioned by one network boot", d.event(resource.EventProvisioned)},
		{"boots from its disk", d.event(resource.EventDiskBoot)},
	}
}

// mainJob is the demo without a scenario.
func mainJob(d *Demo) []demoStep {
	return append(d.begin(), []demoStep{
		{"claim accepted", d.apply("claim")},
		{"claim bound", d.event(resource.EventBound)},
		{"image resolved to a digest, grant given", d.event(resource.EventResolved)},
		{"boot files are local and verified", d.event(resource.EventArtefactsLocal)},
		{"grant used, on disk", d.event(resource.EventGrantUsed)},
		{"override armed and read back", d.event(resource.EventArmed)},
		{"power on", d.event(resource.EventPowerOn)},
		{"DHCP seen", d.event(resource.EventDHCPSeen)},
		{"UKI fetched", d.event(resource.EventFetched)},
		{"installed reported", d.event(resource.EventInstalled)},
		{"provisioned", d.event(resource.EventProvisioned)},
		{"boots from its disk", d.event(resource.EventDiskBoot)},
		{"operator reboots", d.reboot},
		{"boots from its disk again", d.event(resource.EventDiskBoot)},
		{"hold fences the server", d.hold},
		{"receipt", d.receipt},
		{"hub is stopped", func(context.Context) (string, error) { return "", d.hub.Stop() }},
		{"held without the hub", d.stillHeld},
		{"hub is back", d.startHub},
		{"hold is released", d.release},
		{"boots from its disk again", d.event(resource.EventDiskBoot)},
		{"one network boot, three disk boots", d.count(1, 3)},
		{"nothing warns", d.quiet},
	}...)
}

func (d *Demo) step(ctx context.Context, s demoStep) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	detail, err := s.do(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", s.title, err)
	}
	row := demoRow{s.title, strings.TrimSpace(detail), time.Since(d.started)}
	d.rows = append(d.rows, row)
	d.printf("%6.1fs  %-42s %s\n", row.at.Seconds(), row.step, row.detail)
	return nil
}

func (d *Demo) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(d.cfg.Out, format, args...) // a terminal that is gone ends nothing
}

func (d *Demo) apply(dir string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		out, err := d.rackctl(ctx, "apply", "-f", d.path(dir), "-o", "name")
		return strings.Join(strings.Fields(out), " "), err
	}
}

// event waits for the next event with the code.
func (d *Demo) event(code resource.EventCode) func(context.Context) (string, error) {
	return func(ctx context.Context) (detail string, err error) {
		err = until(ctx, func() (bool, error) {
			list, err := d.client.Events(ctx, d.seen, 100)
			if err != nil {
				return false, err
			}
			for _, e := range list.Items {
				d.seen = e.Index
				if e.Code == resource.EventAttemptFailed || e.Code == resource.EventHoldViolated {
					return false, fmt.Errorf("%s: %s", e.Code, e.Message)
				}
				if e.Code == code {
					detail = strings.TrimSpace(e.Server + "  " + e.Message)
					return true, nil
				}
			}
			return false, nil
		})
		return detail, err
	}
}

func (d *Demo) serversRead(ctx context.Context) (string, error) {
	err := until(ctx, func() (bool, error) {
		list, err := api.GetAll[*resource.Server](ctx, d.client)
		if err != nil {
			return false, err
		}
		for _, s := range list {
			if s.Status.Phase != resource.PhaseAvailable || s.Status.Report.Observation.Power != protocol.PowerOff {
				return false, nil
			}
		}
		return len(list) == len(d.servers), nil
	})
	return fmt.Sprintf("%d, all Available and Off", len(d.servers)), err
}

// claimed is the server that the claim got.
func (d *Demo) claimed(ctx context.Context) (string, error) {
	c, err := api.Get[*resource.Claim](ctx, d.client, "demo-claim")
	if err != nil {
		return "", err
	}
	return c.Status.Server, nil
}

func (d *Demo) reboot(ctx context.Context) (string, error) {
	name, err := d.claimed(ctx)
	if err != nil {
		return "", err
	}
	_, err = d.rackctl(ctx, "reboot", name, "--wait")
	return name, err
}

func (d *Demo) hold(ctx context.Context) (string, error) {
	name, err := d.claimed(ctx)
	if err != nil {
		return "", err
	}
	_, err = d.rackctl(ctx, "hold", name, "--key", "demo", "--mode", "hard", "--reason", "demo", "--wait", "fenced")
	return name, err
}

func (d *Demo) theHold(ctx context.Context) (*resource.Hold, error) {
	list, err := api.GetAll[*resource.Hold](ctx, d.client)
	if err == nil && len(list) != 1 {
		err = fmt.Errorf("%d holds, want 1", len(list))
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func (d *Demo) receipt(ctx context.Context) (string, error) {
	h, err := d.theHold(ctx)
	if err != nil {
		return "", err
	}
	out, err := d.rackctl(ctx, "receipt", h.Metadata.Name)
	if err == nil {
		d.printf("%s\n", indent(out))
	}
	return "proved by reads of the BMC", err
}

func indent(s string) string {
	return "         " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n         ")
}

// heldFor is how long the demo watches a held server without its hub.
const heldFor = 3 * time.Second

// stillHeld watches the held server, and lets its firmware ask for a boot.
func (d *Demo) stillHeld(ctx context.Context) (string, error) {
	var held *Server
	for _, s := range d.servers {
		if s.Disk.Digest() != "" {
			held = s
		}
	}
	watch := time.Now().Add(heldFor)
	if err := until(ctx, func() (bool, error) {
		if p := held.BMC.PowerState(); p != protocol.PowerOff {
			return false, fmt.Errorf("%s is %s under its hold", held.Name, p)
		}
		return time.Now().After(watch), nil
	}); err != nil {
		return "", err
	}
	if _, err := held.firmware().HTTPBoot(ctx); !errors.Is(err, firmware.ErrRefused) {
		return "", fmt.Errorf("its firmware asked for a boot and got %w, not a refusal", err)
	}
	return held.Name + " is Off, and its firmware is refused", nil
}

func (d *Demo) release(ctx context.Context) (string, error) {
	h, err := d.theHold(ctx)
	if err != nil {
		return "", err
	}
	_, err = d.rackctl(ctx, "release", h.Metadata.Name)
	return h.Spec.Server, err
}

// count compares what the simulated firmware counted on all servers.
func (d *Demo) count(wantNetwork, wantDisk int) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		var network, disk, installs int
		// The agent may know of a boot before firmware has ended its last line.
		err := until(ctx, func() (bool, error) {
			network, disk, installs = 0, 0, 0
			for _, s := range d.servers {
				n, k, _, i := s.Boots.Counts()
				network, disk, installs = network+n, disk+k, installs+i
			}
			return disk >= wantDisk, nil
		})
		if err != nil || network != wantNetwork || disk != wantDisk || installs != 1 {
			return "", fmt.Errorf("%d network boots, %d disk boots, %d installations", network, disk, installs)
		}
		return "counted by the simulated firmware", nil
	}
}

// quiet waits until no server and no BMC has a condition: what is shown is what was
// promised, and nothing else.
func (d *Demo) quiet(ctx context.Context) (string, error) {
	var loud []string
	err := until(ctx, func() (bool, error) {
		loud = nil
		servers, err := api.GetAll[*resource.Server](ctx, d.client)
		if err != nil {
			return false, err
		}
		bmcs, err := api.GetAll[*resource.BMC](ctx, d.client)
		if err != nil {
			return false, err
		}
		for _, s := range servers {
			for _, c := range s.Status.Conditions {
				loud = append(loud, fmt.Sprintf("%s has %s: %s", s.Metadata.Name, c.Code, c.Message))
			}
		}
		for _, b := range bmcs {
			if b.Status.InventoryAt == nil {
				loud = append(loud, b.Metadata.Name+" was not read")
			}
			for _, c := range b.Status.Conditions {
				loud = append(loud, fmt.Sprintf("%s has %s: %s", b.Metadata.Name, c.Code, c.Message))
			}
		}
		return len(loud) == 0, nil
	})
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.Join(loud, "; "))
	}
	return "no condition on any server or BMC", nil
}

func (d *Demo) summary() {
	d.printf("\n")
	w := tabwriter.NewWriter(d.cfg.Out, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "SUMMARY\tFIRST SEEN\tRESULT")
	for _, r := range d.rows {
		_, _ = fmt.Fprintf(w, "%s\t%.1fs\tok\n", r.step, r.at.Seconds())
	}
	_ = w.Flush() // as printf
	d.printf("\n%d steps, all as promised, in %.1f s\n", len(d.rows), time.Since(d.started).Seconds())
}

func (d *Demo) invite() {
	d.printf(`
Everything stays up until Ctrl-C. Try:
  export RACKCTL_CONFIG=%s
  alias rackctl=%s/rackctl
  rackctl get servers -o wide
`, d.path("rackctl.yaml"), d.cfg.Bin)
	for _, line := range d.play.try {
		d.printf("  %s\n", line)
	}
	d.printf("  curl -s http://%s/metrics | grep rackboot_server\n", d.ports.hubMetrics)
}
