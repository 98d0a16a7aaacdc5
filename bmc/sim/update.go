package sim

import (
	"net/http"

	"rackboot/bmc/sim/delay"
	"rackboot/bmc/sim/tree"
)

// updates are those of a BMC's firmware: of the first system.
type updates struct {
	manner *manner
	jobs   *jobs
	later  *delay.Later
	moves  *movedSystem
	host   string // its URI
	power  *power
}

// post takes a firmware update (UpdateService.SimpleUpdate).
func (u *updates) post(r *request) *answer {
	body, refused := r.object()
	if refused == nil && tree.TextAt(body, "ImageURI") == "" {
		refused = &refusal{status: http.StatusBadRequest, id: "Base.1.13.ActionParameterMissing", text: "parameter ImageURI"}
	}
	if refused != nil {
		return refuse(refused)
	}
	j := u.jobs.add(u.host, "firmware update")
	rules := u.manner.now().Update
	u.later.After(rules.Takes, func() {
		u.jobs.become(j, "Completed", nil)
		u.moves.to(u.host, rules.Moves)
		if rules.Reboots {
			u.power.updated()
		}
	})
	a := reply(http.StatusAccepted, nil)
	a.header.Set("Location", j.uri)
	return a
}
