package sim

import (
	"context"
	"fmt"

	"rackboot/protocol/api"
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
	steps := append(d.begin(), demoStep{"tools are in the registry", d.tools})
	steps = append(steps, d.installed()...)
	return append(steps, []demoStep{
		{"maintenance: firmware tools", d.applyFile("firmware.yaml")},
		{"it waits for the server's owner", d.maintained(firmwareUpdate, resource.MaintenanceAwaitingApproval)},
		{"the owner approves", d.rackctlStep(firmwareUpdate, "maintenance", "approve", firmwareUpdate, "--reason", "tonight")},
		{"the tools run on the server", d.tool(firmwareTools)},
		{"the maintenance is deleted", d.rackctlStep(firmwareUpdate, "delete", "maintenance", firmwareUpdate, "--wait")},
		{"back from its disk, with its record", d.event(resource.EventDiskBoot)},
		{"two network boots, two disk boots", d.count(2, 2)},
		{"the claim is deleted", d.rackctlStep("proved off first", "delete", "claim", "demo-claim", "--wait")},
		{"decommission: discard the disk", d.applyFile("decommission.yaml")},
		{"the image runs, with the agent's word", d.tool(wipeTools)},
		{"nothing is on the disk any more", d.discarded},
		{"the maintenance is deleted", d.rackctlStep(decommission, "delete", "maintenance", decommission, "--wait")},
		{"off and free", d.serversRead},
		{"nothing warns", d.quiet},
	}...)
}

func (d *Demo) tools(context.Context) (string, error) {
	for name, is := range map[string]system{firmwareTools: live, wipeTools: discards} {
		_, digest, err := d.push(name)
		if err != nil {
			return "", err
		}
		d.systems.add(digest, is)
	}
	return d.reg.Addr, nil
}

// applyFile applies one manifest of the scenario.
func (d *Demo) applyFile(name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		return d.apply("scenario/" + name)(ctx)
	}
}

func (d *Demo) rackctlStep(detail string, args ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		_, err := d.rackctl(ctx, args...)
		return detail, err
	}
}

func (d *Demo) maintained(name string, want resource.MaintenanceState) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		err := until(ctx, func() (bool, error) {
			m, err := api.Get[*resource.Maintenance](ctx, d.client, name)
			return err == nil && m.Status.State == want, err
		})
		return string(want), err
	}
}

// tool waits until server-1 runs an image from the network.
func (d *Demo) tool(image string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		err := until(ctx, func() (bool, error) {
			return d.servers[0].Boots.Digest() == digestOfUKI(image), nil
		})
		if err != nil {
			return "", err
		}
		return d.event(resource.EventFetched)(ctx)
	}
}

func (d *Demo) discarded(ctx context.Context) (string, error) {
	err := until(ctx, func() (bool, error) { return d.servers[0].Disk.Digest() == "", nil })
	if err != nil {
		return "", fmt.Errorf("the disk has %s: %w", d.servers[0].Disk.Digest(), err)
	}
	return "server-1, vda discarded", nil
}
