package site

import (
	"os"
	"regexp"
	"testing"

	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// TestHubKilledInABootEnv kills the hub wherever it is between two writes of an upload and
// of a boot environment. The upload goes on, and the server boots the environment once.
func TestHubKilledInABootEnv(t *testing.T) {
	flow := statetest.NewChild(t, hubMain)
	t.Parallel()
	all := []string{"hub.iso.begun", "hub.iso.verified", "hub.iso.booked"}
	for _, file := range []string{"room.go", "status.go"} {
		raw, err := os.ReadFile("../../hub/env/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`[cC]rash\.At\("(hub\.[^"]+)"`).FindAllStringSubmatch(string(raw), -1) {
			all = append(all, m[1])
		}
	}
	if len(all) < 5 {
		t.Fatalf("%v", all)
	}
	for _, point := range all {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, 1)
			s.hub.Secrets.KeyFile = s.keyFile("one.key", "01")
			k := &killed{site: s, flow: flow}
			k.begins(point, 1, s.manifests(), s.firstAgent())
			k.try("the environment", func() error {
				_, err := k.client.Objects.Apply(t.Context(), envObjects("deb.example"), false)
				return err
			})
			k.try("the upload", func() error {
				if item, err := k.client.ISOs.Get(t.Context(), "Demo.tar"); err == nil && !item.Missing {
					return nil
				}
				return k.upload("Demo.tar", "EFI/Linux.efi", envUKI)
			})
			claim := s.claim("n1")
			claim.Spec.Image, claim.Spec.BootEnv = "", &resource.Ref{Name: "demo-1-install"}
			k.try("the claim", func() error {
				_, err := k.client.Objects.Apply(t.Context(), []resource.Object{claim}, false)
				return err
			})
			k.see("the disk boot after the installation", func() bool {
				v, ok := get[*resource.Server](s, "n1")
				return ok && v.Status.Report != nil && diskBoot(v) && v.Status.BootEnv == "demo-1-install"
			})
			if n, _, _, installs := s.servers[0].Boots.Counts(); n != 1 || installs != 1 || s.servers[0].Disk.Digest() != digestOf(envUKI) {
				t.Errorf("%d network boots and %d installations, want one; on the disk is %s", n, installs, s.servers[0].Disk.Digest())
			}
			if !k.died {
				t.Errorf("the hub never came to %s; it passed %v", point, k.hub.Passed())
			}
		})
	}
}
