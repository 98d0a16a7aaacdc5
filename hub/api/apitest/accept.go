package apitest

import (
	"context"

	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// AcceptBMC implements Fleet.
func (f *CannedFleet) AcceptBMC(ctx context.Context, name string, r protoapi.AcceptBMC, by string) (*resource.BMC, error) {
	b, err := store.Get[*resource.BMC](f.Store.Objects, name)
	if err != nil {
		return nil, err
	}
	b.Spec.CredentialsRef, b.Spec.TLS = r.CredentialsRef, resource.BMCTLS{Fingerprint: r.Fingerprint, CA: r.CA, Legacy: r.LegacyTLS}
	b.Status.State, b.Status.AcceptedBy = resource.BMCAccepted, by
	if wrong := b.Validate(); len(wrong) > 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, "accept bmc", "%w", wrong).WithHint("correct the fields that are named")
	}
	return b, f.Store.Objects.Put(ctx, b)
}

// RotateBMC implements Fleet: every BMC rotates.
func (f *CannedFleet) RotateBMC(_ context.Context, name string, r protoapi.RotateBMC, by string) (*resource.BMC, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	b, err := store.Get[*resource.BMC](f.Store.Objects, name)
	if err != nil {
		return nil, err
	}
	b.Status.Rotation = &resource.Rotation{ID: "01CHANGE", BMC: name, State: resource.RotationUnderWay, By: by, At: Now()}
	return b, nil
}

// AcceptServer implements Fleet: only what SetServer shows can be accepted.
func (f *CannedFleet) AcceptServer(ctx context.Context, name string, r protoapi.AcceptServer, _ string) (*resource.Server, error) {
	s, err := store.Get[*resource.Server](f.Store.Objects, name)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	rep := f.servers[name].Report
	f.mu.Unlock()
	if rep == nil || rep.Identity != r.Identity {
		return nil, protocol.Errorf(protocol.CodeConflict, "accept server", "server %q shows another identity now", name).
			WithHint("look at it again, then accept what it shows")
	}
	s.Status.AcceptedIdentity = r.Identity
	return s, f.Store.Objects.Put(ctx, s)
}

// ReEnrolServer implements Fleet: only what SetServer shows can be forgotten.
func (f *CannedFleet) ReEnrolServer(ctx context.Context, name string, r protoapi.ReEnrolServer, _ string) (*resource.Server, error) {
	s, err := store.Get[*resource.Server](f.Store.Objects, name)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	rep := f.servers[name].Report
	f.mu.Unlock()
	if rep == nil || rep.TPM == nil || rep.TPM.Enrolment != r.Enrolment {
		return nil, protocol.Errorf(protocol.CodeConflict, "re-enrol server", "server %q has not this TPM enrolled", name).
			WithHint("look at it again, then forget what it shows")
	}
	s.Status.ForgetTPM = r.Enrolment
	return s, f.Store.Objects.Put(ctx, s)
}

// Mark implements Fleet.
func (f *CannedFleet) Mark(ctx context.Context, server string, r protoapi.FirmwareRequest, by string) (*resource.Server, error) {
	s, err := store.Get[*resource.Server](f.Store.Objects, server)
	if err != nil {
		return nil, err
	}
	s.Status.Firmware = nil
	if r.For > 0 {
		s.Status.Firmware = &resource.FirmwareWork{By: by, Reason: r.Reason, Since: Now(), NotAfter: Now().Add(r.For.D())}
	}
	return s, f.Store.Objects.Put(ctx, s)
}

// Probe implements Fleet.
func (f *CannedFleet) Probe(_ context.Context, bmc, _ string) ([]protocol.Probe, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failure != nil {
		return nil, f.failure
	}
	return f.probes[bmc], nil
}

// Discover implements Fleet: a server with a claim is somebody's.
func (f *CannedFleet) Discover(ctx context.Context, server, by string) (*resource.Server, error) {
	s, err := store.Get[*resource.Server](f.Store.Objects, server)
	if err != nil {
		return nil, err
	}
	if c := f.Store.Claims.Of(server); c != nil {
		return nil, protocol.Errorf(protocol.CodeConflict, "discover server", "server %q has claim %q", server, c.Metadata.Name)
	}
	now := Now()
	s.Status.Discovery = &resource.DiscoveryStatus{AskedAt: &now, AskedBy: by}
	return s, f.Store.Objects.Put(ctx, s)
}
