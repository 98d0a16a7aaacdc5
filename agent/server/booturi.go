package server

import (
	"context"
	"strings"

	"rackboot/agent/store"
	"rackboot/bmc"
	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// arm writes or clears the override of an attempt, with its URL where it has one. Firmware
// that can ask by DHCP is left to that if the BMC takes no URL. The BMC reads the boot's token,
// and may quote it whatever it is asked; nothing that is returned has it.
func (h *hand) arm(ctx context.Context, a decide.Action, r *decide.Result) error {
	const op = "arm"
	v, err := h.cfg.Store.Servers.View(h.server)
	if err != nil {
		r.Outcome = protocol.BootUnknown
		return err
	}
	var boot bmc.BootResult
	if a.URI {
		boot, err = h.armURI(ctx, a, v)
		r.Plain = a.Plain && protocol.CodeOf(err) == protocol.CodeUnsupported
	}
	if !a.URI || r.Plain {
		boot, err = h.bmc.driver.SetBoot(ctx, a.Override)
	}
	if r.Plain && boot.Text == "" {
		boot.Text = "the BMC takes no URL; firmware asks by DHCP"
	}
	if u := v.Record.Residue.URL(); u != nil {
		boot.Text, err = strings.ReplaceAll(boot.Text, u.Token, "…"), veiled(op, err, u.Token)
	}
	r.Stored, r.Read, r.Outcome, r.Where, r.Text = boot.Stored, boot.Read, boot.Outcome, boot.Where, boot.Text
	return err
}

// armURI writes the override of an attempt and the URL of its first file.
func (h *hand) armURI(ctx context.Context, a decide.Action, v store.View) (bmc.BootResult, error) {
	const op = "arm a URL"
	d, ok := h.bmc.driver.(bmc.URIBooter)
	if !ok {
		return bmc.BootResult{Outcome: protocol.BootUnsupported}, protocol.Errorf(protocol.CodeUnsupported, op, "the driver of this BMC writes no HttpBootUri")
	}
	at, u := v.Record.Attempt, v.Record.Residue.URL()
	if at == nil || at.ID != a.Attempt || u == nil || u.Attempt != a.Attempt || v.Intent == nil {
		return bmc.BootResult{Outcome: protocol.BootUnknown}, protocol.Errorf(protocol.CodeConflict, op, "the attempt is another one by now")
	}
	base, ok := h.cfg.Boot.HostBase(v.Intent.Segment)
	if !ok {
		return bmc.BootResult{Outcome: protocol.BootUnsupported}, protocol.Errorf(protocol.CodeUnsupported, op, "segment %s has no base URL", v.Intent.Segment).
			WithHint("give the Segment a spec.baseURL that the server's firmware reaches")
	}
	return d.SetBootURI(ctx, a.Override, netboot.BootURL(base, u.Token, at.Order.File))
}

// clearURL takes the URL of an attempt out of the BMC, and with it those that an earlier disk
// of the agent has forgotten.
func (h *hand) clearURL(ctx context.Context, a decide.Action, r *decide.Result) error {
	const op = "clear a URL"
	d, ok := h.bmc.driver.(bmc.URIBooter)
	if !ok {
		return nil // it has written none
	}
	v, err := h.cfg.Store.Servers.View(h.server)
	if err != nil {
		return err
	}
	u := v.Record.Residue.URL()
	if u == nil || u.Attempt != a.Attempt {
		return protocol.Errorf(protocol.CodeConflict, op, "the URL is another one by now")
	}
	base, based := "", false
	if v.Intent != nil {
		base, based = h.cfg.Boot.HostBase(v.Intent.Segment)
	}
	r.Pending, err = d.ClearBootURI(ctx, func(uri string) bool {
		return strings.Contains(uri, netboot.PathPrefix+u.Token+"/") || based && strings.HasPrefix(uri, base+netboot.PathPrefix)
	})
	return veiled(op, err, u.Token)
}
