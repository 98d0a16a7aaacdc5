package site

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestImagesThatCannotBoot: each way in which an image is no use is a condition of
// its claim with a hint, and nothing else happens to the server.
func TestImagesThatCannotBoot(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)
	s.untilServer("n1", "the first read", func(v *resource.Server) bool { return v.Status.Phase == resource.PhaseAvailable })
	bare, err := s.reg.PushLayer("demo/bare:1", "application/octet-stream", []byte("no kernel"))
	if err != nil {
		t.Fatal(err)
	}
	half, err := s.reg.PushLayer("demo/half:1", "application/vnd.ironcore.image.kernel", []byte("no initramfs"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.reg.Push("demo/text:1", []byte("MZ unified kernel image"))
	if err != nil {
		t.Fatal(err)
	}
	foreign := sim.UKI([]byte("kernel"))
	binary.LittleEndian.PutUint16(foreign[0x44:], 0xaa64) // the machine
	arm, err := s.reg.Push("demo/arm:1", foreign)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, image string
		firstBoot   resource.FirstBoot
		want        resource.ConditionCode
	}{
		{"registry down", freePorts(t, 1)[0] + "/demo/os:1", resource.FirstBootUefiHTTP, resource.CondRegistryUnavailable},
		{"no such tag", strings.TrimSuffix(s.image, "1") + "2", resource.FirstBootUefiHTTP, resource.CondImageNotFound},
		{"no UKI", bare, resource.FirstBootUefiHTTP, resource.CondImageInvalid},
		{"a UKI that is text", text, resource.FirstBootUefiHTTP, resource.CondImageInvalid},
		{"a UKI for arm64", arm, resource.FirstBootUefiHTTP, resource.CondImageInvalid},
		{"a kernel alone, for Pxe", half, resource.FirstBootPxe, resource.CondImageInvalid},
	} {
		claim := s.claim("n1")
		claim.Spec.Image, claim.Spec.BootPolicy.FirstBoot = row.image, row.firstBoot
		s.apply(claim)
		var last *resource.Claim
		s.until(row.name, func() bool {
			v, ok := get[*resource.Claim](s, "c-n1")
			last = v
			return ok && has(v.Status.Conditions, row.want)
		}, func() any { return last.Status })
		if cond, ok := resource.LookupCondition(row.want); !ok || cond.Hint == "" {
			t.Errorf("%s: %s has no hint", row.name, row.want)
		}
		message := ""
		for _, cond := range last.Status.Conditions {
			if cond.Code == row.want {
				message = cond.Message
			}
		}
		if !strings.Contains(message, "; ") { // what to do
			t.Errorf("%s: %s does not say what", row.name, row.want)
		}
		s.untilEvent(row.name, func(e api.EventRecord) bool {
			return e.Code == resource.EventImageRefused && e.Message == "claim c-n1: "+message
		})
		v, _ := get[*resource.Server](s, "n1")
		if list, err := s.client.Objects.List(t.Context(), resource.KindBootConfiguration); err != nil || len(list) != 0 {
			t.Errorf("%s: %d boot configurations, %v", row.name, len(list), err)
		}
		if r := v.Status.Report; r.Attempt != nil || s.servers[0].BMC.PowerState() != protocol.PowerOff || s.servers[0].BMC.Override().Armed() {
			t.Errorf("%s: the server was touched: %+v", row.name, r)
		}
		if _, err := s.client.Objects.Delete(t.Context(), resource.KindClaim, "c-n1"); err != nil {
			t.Fatal(err)
		}
		s.until("the end of the claim", func() bool { _, ok := get[*resource.Claim](s, "c-n1"); return !ok }, func() any { return time.Now() })
	}
	s.provision() // the same claim with an image that boots
}
