package cli

import (
	"strconv"
	"time"

	"rackboot/protocol/resource"
)

func groupCells(g *resource.ServerGroup, now time.Time) []string {
	managed, skipped := "", ""
	if e := g.Status.Enrolment; e != nil {
		managed, skipped = strconv.FormatBool(e.Managed), string(e.Skipped)
	}
	servers, phase := "", ""
	if c := g.Status.Counts; c != nil {
		servers = strconv.Itoa(c.Current) + "/" + strconv.Itoa(c.Servers)
	}
	if r := g.Status.Rollout; r != nil {
		phase = string(r.Phase)
	}
	return []string{
		g.Metadata.Name, g.Spec.Catalogue, managed, strconv.Itoa(g.Status.Revision), servers, phase,
		conditionCodes(g.Status.Conditions, now), age(g.Metadata.CreatedAt, now), skipped, strconv.Itoa(g.Status.Verified),
	}
}

func revisionCells(r *resource.GroupRevision, now time.Time) []string {
	s := r.Spec
	return []string{
		r.Metadata.Name, s.Group, strconv.Itoa(s.Number), string(s.Cause), s.BootImage, s.Version, strconv.FormatBool(r.Status.Verified),
		age(&s.At, now), s.By, s.Reason,
	}
}
