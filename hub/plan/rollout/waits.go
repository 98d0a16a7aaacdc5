package rollout

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// waitsFor says why a server whose turn it is is not begun, where that is its own; empty where the roll-out's reason
// says it of all: its gate, the stamp, approvals and room. What an order to it lacks is said by that.
func waitsFor(strategy resource.RolloutStrategy, what take, s Server) string {
	switch what {
	case takeBegin, takeGate, takeStamp, takeApproval, takeRoom:
		return s.Waits
	case takeNever, takeLater:
	}
	switch at := s.place(); {
	case s.Unfit != "":
		return s.Unfit
	case at == isGone:
		return ""
	case at == isAway && s.Down == DownHeld:
		return "it is held"
	case at == isAway && s.Down == DownFrozen:
		return "it is frozen"
	case at == isAway && s.Down == DownMaintenance:
		return "it is in maintenance"
	case at == isAway:
		return "nothing is heard of it, or of its agent"
	case s.Boots == "" && s.Waits != "":
		return "its first boot is to come: " + s.Waits
	case s.Boots == "":
		return "it takes the revision with its first boot"
	case strategy == resource.RolloutOnNextBoot && s.Network:
		return "it takes the revision when it is switched on the next time"
	case strategy == resource.RolloutOnNextBoot:
		return "it boots from its disk, and takes the revision when it is installed anew"
	case !s.fits(strategy) && s.Network:
		return "it has boot: Network, and Reprovision is for a system on the disk"
	case !s.fits(strategy):
		return "it has boot: Hdd, and Reboot is for boot: Network"
	case at == isBusy:
		return "a boot of it is under way"
	}
	return "it is off"
}

// waited are the members of the waves up to a roll-out's own that have not ended, with what each waits for.
func waited(s resource.RolloutStatus) string {
	const few = 3
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s.Members)) {
		m := s.Members[name]
		if m.Wave > s.Wave || m.State != resource.MemberWaiting && m.State != resource.MemberBegun && m.State != resource.MemberSoaking {
			continue
		}
		out = append(out, name+" ("+cmp.Or(m.Reason, strings.ToLower(string(m.State)))+")")
	}
	if len(out) > few {
		out = append(out[:few], fmt.Sprintf("%d more", len(out)-few))
	}
	return strings.Join(out, ", ")
}
