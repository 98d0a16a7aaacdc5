package inventory

import (
	"context"
	"slices"
	"strings"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/settings"
)

// FirmwarePlans compare the firmware of servers with their profiles. They are safe for concurrent use.
type FirmwarePlans struct{ room *Room }

// NewFirmwarePlans makes those of the BMCs of a Room.
func NewFirmwarePlans(r *Room) *FirmwarePlans { return &FirmwarePlans{r} }

// Plan has the agent read how a server's firmware is set, and compares it with the profile that selects the
// server. It waits as Probe does, with the same codes; not_found is also that no profile selects it, and
// conflict that several do.
func (p *FirmwarePlans) Plan(ctx context.Context, server string) (out resource.FirmwarePlan, err error) {
	const op = "plan firmware"
	objects := p.room.cfg.Store.Objects
	s, err := store.Get[*resource.Server](objects, server)
	if err != nil {
		return out, err
	}
	profile, others := settings.ProfileOf(s, store.List[*resource.FirmwareProfile](objects))
	switch {
	case len(others) > 0:
		return out, protocol.Errorf(protocol.CodeConflict, op, "the profiles %s all select server %q", strings.Join(others, ", "), server).
			WithHint("change a selector, or the labels of the server: rackctl get firmwareprofiles -o wide")
	case profile == nil:
		return out, protocol.Errorf(protocol.CodeNotFound, op, "no FirmwareProfile selects server %q", server).
			WithHint("apply one whose selector matches its labels; without one nothing of its firmware is wanted")
	}
	ask := message.Ask{Kind: message.AskFirmware, SystemURI: s.Spec.SystemURI, Attributes: settings.Names(profile.Spec)}
	body, err := askBMC(ctx, p.room, op, s.Spec.BMCRef.Name, ask)
	if err != nil {
		return out, err
	}
	shown, err := firmwareOf(body, s.Spec.SystemURI)
	if err != nil {
		return out, err
	}
	out = settings.Planned(s.Metadata.Name, profile, shown)
	outdated(p.room, s, profile, out)
	return out, nil
}

// firmwareOf reads the body of an answer: what is about a system, or about the only one where it has no path.
func firmwareOf(body []byte, system string) (protocol.Firmware, error) {
	list, err := listOf[protocol.Firmware](body)
	if err != nil {
		return protocol.Firmware{}, err
	}
	i := slices.IndexFunc(list, func(f protocol.Firmware) bool { return system == "" || f.SystemURI == system })
	if i < 0 || system == "" && len(list) > 1 {
		return protocol.Firmware{}, protocol.Errorf(protocol.CodeInternal, "read answer", "it is about %d systems, and not about that of the server", len(list)).
			WithHint("give the server its systemURI: rackctl describe bmc shows them")
	}
	return list[i], nil
}
