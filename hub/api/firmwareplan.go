package api

import (
	"context"
	"net/http"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// firmwarePlans compares the firmware of servers with their profiles.
type firmwarePlans struct{ room FirmwarePlans }

func (f firmwarePlans) routes(t *route.Table) {
	op := t.Operation(http.MethodPost, protoapi.PathKind(resource.KindServer)+"/{name}/firmware/plan", "planFirmware",
		"Compare how a server's firmware is set with its FirmwareProfile, by reads alone; waits for the rack's agent", nil,
		route.Rule{Right: access.Firmware, Target: route.TargetNamed, Kind: resource.KindServer, Noted: "plan"})
	route.Register(t, op, func(ctx context.Context, in *named) (*answer[resource.FirmwarePlan], error) {
		p, err := f.room.Plan(ctx, in.Name)
		if err != nil {
			return nil, route.Problem(err)
		}
		return &answer[resource.FirmwarePlan]{p}, nil
	})
}

// firmwareRuns shows what was written.
type firmwareRuns struct{ objects *store.Objects }

func (f firmwareRuns) routes(t *route.Table) {
	op := t.Operation(http.MethodGet, protoapi.PathKind(resource.KindServer)+"/{name}/firmware/status", "firmwareStatus",
		"The last writing of a server's firmware settings, with the values before and now", nil,
		route.Rule{Right: access.Firmware, Target: route.TargetNamed, Kind: resource.KindServer})
	route.Register(t, op, func(_ context.Context, in *named) (*answer[resource.FirmwareRun], error) {
		s, err := store.Get[*resource.Server](f.objects, in.Name)
		if err != nil {
			return nil, route.Problem(err)
		}
		if s.Status.Settings == nil {
			return nil, route.Problem(protocol.Errorf(protocol.CodeNotFound, "show firmware settings", "none were written for server %q", in.Name).
				WithHint("rackctl firmware apply writes them"))
		}
		return &answer[resource.FirmwareRun]{*s.Status.Settings}, nil
	})
}

// firmwareWanted shows what a maintenance is to write, to who has to judge it.
type firmwareWanted struct{ objects *store.Objects }

func (f firmwareWanted) routes(t *route.Table) {
	op := t.Operation(http.MethodGet, protoapi.PathKind(resource.KindMaintenance)+"/{name}/firmware", "firmwareWanted",
		"The firmware settings that a maintenance writes, with their values and digest", nil,
		route.Rule{Right: access.Firmware, Target: route.TargetNamed, Kind: resource.KindMaintenance})
	route.Register(t, op, func(_ context.Context, in *named) (*answer[protoapi.WantedSettings], error) {
		m, err := store.Get[*resource.Maintenance](f.objects, in.Name)
		if err != nil {
			return nil, route.Problem(err)
		}
		return &answer[protoapi.WantedSettings]{protoapi.WantedSettings{
			Server: m.Spec.ServerRef.Name, Digest: resource.SettingsDigest(m.Spec.Firmware), Settings: append([]resource.FirmwareWanted{}, m.Spec.Firmware...),
		}}, nil
	})
}

// FirmwarePlans compare the firmware of servers with their profiles.
type FirmwarePlans interface {
	// Plan has the rack's agent read how a server's firmware is set, and compares it with the
	// profile that selects the server. It takes minutes.
	Plan(ctx context.Context, server string) (resource.FirmwarePlan, error)
}
