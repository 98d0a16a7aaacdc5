package sim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// groupName is the group of configs/demo/groups.
const groupName = "workers"

// groups is what a cluster's managed boot images are about: what a server boots for the
// first time is not the image of the day on which the cluster was made.
func groups(d *Demo) []demoStep {
	of := demoGroups{d}
	return append(d.begin(), []demoStep{
		{"image os:1.0 is in the catalogue", of.catalogued("1.0")},
		{"a group follows the catalogue", d.site.apply("scenario")},
		{"its first revision", of.group("revision 1", func(s resource.ServerGroupStatus) bool { return s.Revision == 1 })},
		{"every server is claimed for the group", d.site.apply("claim")},
		{"one proves the image, then the others boot", d.rack.run("1.0")},
		{"the revision is verified", of.group("verified 1", func(s resource.ServerGroupStatus) bool { return s.Verified == 1 })},
		{"image os:2.0 comes into the catalogue", of.catalogued("2.0")},
		{"a new revision, by itself", of.group("revision 2", func(s resource.ServerGroupStatus) bool { return s.Revision == 2 })},
		{"rolled out: a canary, then the others", of.rolledOut},
		{"every server runs os:2.0", d.rack.run("2.0")},
		{"one history of image and user data", func(ctx context.Context) (string, error) {
			return d.shown(ctx, "what was when, and why", "group", "history", groupName)
		}},
		{"nothing warns", d.site.quiet},
	}...)
}

// demoGroups are steps about a group and its catalogue.
type demoGroups struct{ demo *Demo }

func (g demoGroups) catalogued(version string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		// Its tag is the version that entries of a catalogue are ordered by.
		reference, digest, err := g.demo.rack.push("os:" + version)
		if err != nil {
			return "", err
		}
		g.demo.rack.systems.add(digest, live)
		_, err = g.demo.site.rackctl(ctx, "image", "import-oci", reference, "--catalogue", "os")
		return reference, err
	}
}

// group waits for a status of the group.
func (g demoGroups) group(what string, is func(resource.ServerGroupStatus) bool) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		var last resource.ServerGroupStatus
		err := until(ctx, func() (bool, error) {
			g, err := api.Get[*resource.ServerGroup](ctx, g.demo.site.client, groupName)
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

// rolledOut waits for the end of the roll-out, which begins by itself.
func (g demoGroups) rolledOut(ctx context.Context) (string, error) {
	out, err := g.demo.site.rackctl(ctx, "rollout", "status", groupName, "--watch", "--revision", "2", "--timeout", (stepTimeout - time.Second).String())
	if err == nil {
		g.demo.report.printf("%s\n", indent(lastPart(out)))
	}
	return "exit code 0 of rackctl rollout status --watch", err
}

// lastPart is what a command that watches printed last: the text below the last empty line,
// or all.
func lastPart(out string) string {
	out = strings.TrimSpace(out)
	return out[strings.LastIndex(out, "\n\n")+1:]
}
