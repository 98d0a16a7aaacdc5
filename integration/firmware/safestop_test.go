package firmware

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// safeStop is a power cycle past us of a server whose boot order has the EFI shell
// first: firmware stops there, the agent says so, and an operator's resume boots the
// disk. It returns the boot's id.
func (s *site) safeStop(ctx context.Context, t *testing.T) string {
	t.Helper()
	s.meddled = true
	s.meddle(ctx, t, "ForceRestart")
	s.logf(t, "restarted past us")
	s.until(ctx, t, firmwareTimeout, "the EFI shell waits", func(context.Context) (bool, error) {
		return strings.Contains(s.console(), "UEFI Interactive Shell"), nil
	})
	var server resource.Server
	s.until(ctx, t, firmwareTimeout, "SafeStopped", func(ctx context.Context) (bool, error) {
		out, err := s.output(ctx, s.hub, s.path("rackctl"), "get", "server", "server-a", "-o", "json")
		if err != nil {
			return false, err
		}
		if err := json.Unmarshal([]byte(out), &server); err != nil {
			return false, err
		}
		u := server.Status.Report.Unexpected
		return u != nil && u.Stands == protocol.StandsStopped, nil
	})
	if text := s.rackctl(ctx, t, "describe", "server", "server-a"); !strings.Contains(text, "SafeStopped") || !strings.Contains(text, "Detects:") {
		t.Errorf("describe says\n%s", text)
	}
	if n := strings.Count(s.console(), "rackboot-test: system runs"); n != 0 {
		t.Error("its disk was booted")
	}
	s.rackctl(ctx, t, "resume", "server-a", "--reason", "looked at it", "--wait", "--timeout", "2m")
	return s.diskBoot(ctx, t, 3, "")
}

// meddle is another party that sends a reset to the BMC of server-a.
func (s *site) meddle(ctx context.Context, t *testing.T, reset string) {
	t.Helper()
	body := fmt.Sprintf(`{"ResetType":%q}`, reset)
	err := s.rackA.Do(func() error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp4", "10.8.0.2:8443")
		if err != nil {
			return err
		}
		defer c.Close()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://10.8.0.2:8443/redfish/v1/Systems/1/Actions/ComputerSystem.Reset", strings.NewReader(body))
		if err != nil {
			return err
		}
		req.SetBasicAuth("admin", "simulated")
		req.Header.Set("Content-Type", "application/json")
		secure := tls.Client(c, &tls.Config{InsecureSkipVerify: true}) // whoever it is
		if err := req.Write(secure); err != nil {
			return err
		}
		resp, err := http.ReadResponse(bufio.NewReader(secure), req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode >= http.StatusBadRequest {
			return fmt.Errorf("the BMC answers %s", resp.Status)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOVMFSecureStop gives real firmware with Secure Boot the stop image, over a network
// that is first in its boot order: shim and GRUB as Debian signed them wait with their
// text, and power the machine off in the end.
func TestOVMFSecureStop(t *testing.T) {
	need(t)
	ctx, cancel := context.WithTimeout(t.Context(), flowTimeout)
	defer cancel()
	s := &site{dir: t.TempDir(), started: time.Now()}
	r := chainRack{Architecture: "amd64", Paths: map[string]string{}, Base: "http://" + chainAddress + ":8080", Stops: true, PowerOffAfter: time.Second}
	have := chain.Loaders{}
	for role, path := range map[chain.Role]string{
		chain.RoleShim: loaderOf(t, "bookworm-amd64", "usr/lib/shim/shimx64.efi.signed"),
		chain.RoleGRUB: loaderOf(t, "trixie-amd64", "usr/lib/grub/x86_64-efi-signed/grubnetx64.efi.signed"),
	} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		l, err := chain.Inspect("amd64", role, content)
		if err != nil {
			t.Fatal(err)
		}
		l.Digest = "sha256:" + string(role)
		have[role], r.Paths[l.Digest] = l, path
	}
	var err error
	if r.Chain, err = chain.Stop("amd64", have, true); err != nil {
		t.Fatal(err)
	}
	ns := bootNetwork(ctx, t, "stop")
	startChain(ctx, t, s, ns, r)
	startSecure(t, ns, s.dir, "-fw_cfg", noPXE)
	s.until(ctx, t, installTimeout, "GRUB says why it waits", func(context.Context) (bool, error) {
		return strings.Contains(s.read("serial.log"), "n1 was started without an order"), s.alive()
	})
	inOrder(t, s.read("chain.out"), "client HTTPClient: boot shimx64.efi", "fetched shimx64.efi", "fetched grubx64.efi")
	var left []int
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("processes %v are left; the console:\n%s", left, s.read("serial.log"))
		}
	})
	s.until(ctx, t, installTimeout, "the machine is off", func(context.Context) (_ bool, err error) {
		left, err = ns.Processes()
		return len(left) == 1, err // the boot servers
	})
}
