package sim

import (
	"context"
	"fmt"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// begin is how every scenario begins: hub and agent know each other and the servers.
func (d *Demo) begin() []demoStep {
	return []demoStep{
		{"hub is up", func(ctx context.Context) (string, error) {
			if err := d.writeFiles(); err != nil {
				return "", err
			}
			return d.site.startHub(ctx)
		}},
		{"rackctl has a context", d.site.login},
		{"rack and servers applied", d.site.apply("manifests")},
		{"agent joins", d.site.joinAgent},
		{"joined", d.site.event(resource.EventJoined)},
		{"servers are read", d.serversRead},
	}
}

// installed is a first boot in few steps.
func (d *Demo) installed() []demoStep {
	return []demoStep{
		{"claim accepted", d.site.apply("claim")},
		{"provisioned by one network boot", d.site.event(resource.EventProvisioned)},
		{"boots from its disk", d.site.event(resource.EventDiskBoot)},
	}
}

// mainJob is the demo without a scenario.
func mainJob(d *Demo) []demoStep {
	by := demoHolds{d}
	return append(d.begin(), []demoStep{
		{"claim accepted", d.site.apply("claim")},
		{"claim bound", d.site.event(resource.EventBound)},
		{"image resolved to a digest, grant given", d.site.event(resource.EventResolved)},
		{"boot files are local and verified", d.site.event(resource.EventArtefactsLocal)},
		{"grant used, on disk", d.site.event(resource.EventGrantUsed)},
		{"override armed and read back", d.site.event(resource.EventArmed)},
		{"power on", d.site.event(resource.EventPowerOn)},
		{"DHCP seen", d.site.event(resource.EventDHCPSeen)},
		{"UKI fetched", d.site.event(resource.EventFetched)},
		{"installed reported", d.site.event(resource.EventInstalled)},
		{"provisioned", d.site.event(resource.EventProvisioned)},
		{"boots from its disk", d.site.event(resource.EventDiskBoot)},
		{"operator reboots", d.site.reboot},
		{"boots from its disk again", d.site.event(resource.EventDiskBoot)},
		{"hold fences the server", by.hold},
		{"receipt", by.receipt},
		{"hub is stopped", func(context.Context) (string, error) { return "", d.site.hub.Stop() }},
		{"held without the hub", d.rack.stillHeld},
		{"hub is back", d.site.startHub},
		{"hold is released", by.release},
		{"boots from its disk again", d.site.event(resource.EventDiskBoot)},
		{"one network boot, three disk boots", d.rack.count(1, 3)},
		{"nothing warns", d.site.quiet},
	}...)
}

func (d *Demo) serversRead(ctx context.Context) (string, error) {
	err := until(ctx, func() (bool, error) {
		list, err := api.GetAll[*resource.Server](ctx, d.site.client)
		if err != nil {
			return false, err
		}
		for _, s := range list {
			if s.Status.Phase != resource.PhaseAvailable || s.Status.Report.Observation.Power != protocol.PowerOff {
				return false, nil
			}
		}
		return len(list) == len(d.rack.servers), nil
	})
	return fmt.Sprintf("%d, all Available and Off", len(d.rack.servers)), err
}

func (d *Demo) invite() {
	d.report.printf(`
Everything stays up until Ctrl-C. Try:
  export RACKCTL_CONFIG=%s
  alias rackctl=%s/rackctl
  rackctl get servers -o wide
`, d.site.path("rackctl.yaml"), d.cfg.Bin)
	for _, line := range d.play.try {
		d.report.printf("  %s\n", line)
	}
	d.report.printf("  curl -s http://%s/metrics | grep rackboot_server\n", d.site.ports.hubMetrics)
}
