package status

import (
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

func (c *Room) decorateClaim(cl *resource.Claim) {
	cl.Status.ObservedGeneration = cl.Metadata.Generation
	cl.Status.Conditions = c.cfg.Claims.Conditions(cl)
	cl.Status.EvidenceClass, cl.Status.Secrets = evidenceFor(c.cfg.Objects, c.cfg.Reports, cl.Metadata.UID)
	cl.Status.Boot, cl.Status.Awaits = claimBoot(c.cfg.Objects, cl.Metadata.UID), nil
	s, err := store.Get[*resource.Server](c.cfg.Objects, cl.Status.Server)
	if err != nil {
		cl.Status.Conditions = append(cl.Status.Conditions, c.lost()...)
		return
	}
	c.decorateServer(s)
	cl.Status.Phase = s.Status.Phase
	if r := s.Status.Report; r != nil && r.OwnerUID == cl.Metadata.UID {
		cl.Status.Awaits = r.Awaits
	}
	for _, cond := range s.Status.Conditions {
		if cond.Code != resource.CondNoAgent {
			cl.Status.Conditions = append(cl.Status.Conditions, cond)
		}
	}
}

func (c *Room) decorateMaintenance(m *resource.Maintenance) {
	m.Status.ObservedGeneration = m.Metadata.Generation
	m.Hide()
	if m.Status.State != resource.MaintenanceActive {
		return
	}
	if s, err := store.Get[*resource.Server](c.cfg.Objects, m.Spec.ServerRef.Name); err == nil {
		c.decorateServer(s)
		m.Status.Conditions = s.Status.Conditions
	}
	m.Status.Conditions = append(c.cfg.Maintenance.Conditions(m.Metadata.Name), m.Status.Conditions...)
}
