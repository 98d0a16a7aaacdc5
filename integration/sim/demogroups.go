package sim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// groupName is the group of configs/demo/groups.
const groupName = "workers"

// groups is what a cluster's managed boot images are about: what a server boots for the
// first time is not the image of the day on which the cluster was made.
func groups(d *Demo) []demoStep {
	return append(d.begin(), []demoStep{
		{"image os:1.0 is in the catalogue", d.catalogued("1.0")},
		{"a group follows the catalogue", d.apply("scenario")},
		{"its first revision", d.group("revision 1", func(s resource.ServerGroupStatus) bool { return s.Revision == 1 })},
		{"every server is claimed for the group", d.apply("claim")},
		{"one proves the image, then the others boot", d.run("1.0")},
		{"the revision is verified", d.group("verified 1", func(s resource.ServerGroupStatus) bool { return s.Verified == 1 })},
		{"image os:2.0 comes into the catalogue", d.catalogued("2.0")},
		{"a new revision, by itself", d.group("revision 2", func(s resource.ServerGroupStatus) bool { return s.Revision == 2 })},
		{"rolled out: a canary, then the others", d.rolledOut},
		{"every server runs os:2.0", d.run("2.0")},
		{"one history of image and user data", func(ctx context.Context) (string, error) {
			return d.shown(ctx, "what was when, and why", "group", "history", groupName)
		}},
		{"nothing warns", d.quiet},
	}...)
}

func (d *Demo) catalogued(version string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		// Its tag is the version that entries of a catalogue are ordered by.
		reference, digest, err := d.push("os:" + version)
		if err != nil {
			return "", err
		}
		d.systems.add(digest, live)
		_, err = d.rackctl(ctx, "image", "import-oci", reference, "--catalogue", "os")
		return reference, err
	}
}

// group waits for a status of the group.
func (d *Demo) group(what string, is func(resource.ServerGroupStatus) bool) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		var last resource.ServerGroupStatus
		err := until(ctx, func() (bool, error) {
			g, err := api.Get[*resource.ServerGroup](ctx, d.client, groupName)
			if err != nil {
				return false, err
			}
			last = g.Status
			return is(last), nil
		})
		if err != nil {
			err = fmt.Errorf("%w; the group has %+v", err, last)
		}
		return what + " of " + groupName, err
	}
}

// run waits until every server runs a version of os, from the network.
func (d *Demo) run(version string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		want := digestOfUKI("os:" + version)
		var not []string
		err := until(ctx, func() (bool, error) {
			not = nil
			for _, s := range d.servers {
				if s.Boots.Digest() != want || s.BMC.PowerState() != protocol.PowerOn {
					not = append(not, s.Name)
				}
			}
			return len(not) == 0, nil
		})
		if err != nil {
			err = fmt.Errorf("%w: not %s", err, strings.Join(not, ", "))
		}
		return fmt.Sprintf("%d servers run %s", len(d.servers), want[:19]), err
	}
}

// rolledOut waits for the end of the roll-out, which begins by itself.
func (d *Demo) rolledOut(ctx context.Context) (string, error) {
	out, err := d.rackctl(ctx, "rollout", "status", groupName, "--watch", "--revision", "2", "--timeout", (stepTimeout - time.Second).String())
	if err == nil {
		d.printf("%s\n", indent(lastPart(out)))
	}
	return "exit code 0 of rackctl rollout status --watch", err
}

// lastPart is what a command that watches printed last: the text below the last empty line,
// or all.
func lastPart(out string) string {
	out = strings.TrimSpace(out)
	return out[strings.LastIndex(out, "\n\n")+1:]
}
