package sim

import (
	"context"

	"rackboot/protocol/resource"
)

// The maintenances of configs/demo/maintenance, and the images that they boot.
const (
	firmwareUpdate = "firmware-update"
	firmwareTools  = "firmware:2.1"
	decommission   = "return-server-1"
	wipeTools      = "wipe:1"
)

// maintenance lends a server to firmware tools and gives it back, and ends with the discard
// of its disk.
func maintenance(d *Demo) []demoStep {
	tools := demoTools{d}
	steps := append(d.begin(), demoStep{"tools are in the registry", tools.push})
	steps = append(steps, d.installed()...)
	return append(steps, []demoStep{
		{"maintenance: firmware tools", d.site.applyFile("firmware.yaml")},
		{"it waits for the server's owner", d.site.maintained(firmwareUpdate, resource.MaintenanceAwaitingApproval)},
		{"the owner approves", d.site.rackctlStep(firmwareUpdate, "maintenance", "approve", firmwareUpdate, "--reason", "tonight")},
		{"the tools run on the server", tools.run(firmwareTools)},
		{"the maintenance is deleted", d.site.rackctlStep(firmwareUpdate, "delete", "maintenance", firmwareUpdate, "--wait")},
		{"back from its disk, with its record", d.site.event(resource.EventDiskBoot)},
		{"two network boots, two disk boots", d.rack.count(2, 2)},
		{"the claim is deleted", d.site.rackctlStep("proved off first", "delete", "claim", "demo-claim", "--wait")},
		{"decommission: discard the disk", d.site.applyFile("decommission.yaml")},
		{"the image runs, with the agent's word", tools.run(wipeTools)},
		{"nothing is on the disk any more", d.rack.discarded},
		{"the maintenance is deleted", d.site.rackctlStep(decommission, "delete", "maintenance", decommission, "--wait")},
		{"off and free", d.serversRead},
		{"nothing warns", d.site.quiet},
	}...)
}

// demoTools are steps about images that a maintenance boots.
type demoTools struct{ demo *Demo }

func (m demoTools) push(context.Context) (string, error) {
	for name, is := range map[string]system{firmwareTools: live, wipeTools: discards} {
		_, digest, err := m.demo.rack.push(name)
		if err != nil {
			return "", err
		}
		m.demo.rack.systems.add(digest, is)
	}
	return m.demo.rack.reg.Addr, nil
}

// run waits until server-1 runs an image from the network.
func (m demoTools) run(image string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		err := until(ctx, func() (bool, error) {
			return m.demo.rack.servers[0].Boots.Digest() == digestOfUKI(image), nil
		})
		if err != nil {
			return "", err
		}
		return m.demo.site.event(resource.EventFetched)(ctx)
	}
}
