package decide

import "rackboot/protocol/resource"

// answers folds how the action of the last step ended.
type answers struct {
	d *draft
	s *Snapshot
}

func (an answers) attempts() attempts { return attempts(an) }

func (an answers) drives() drives { return drivesOf(an.d, an.s) }

func (an answers) firmwares() firmwares { return firmwares(an) }

func (an answers) guards() guards { return guardsOf(an.d, an.s) }

func (an answers) stops() stops { return stops(an) }

func (an answers) urls() urls { return urlsOf(an.d, an.s) }

// fold takes an answer to the topic that sent what was answered.
func (an answers) fold(r Result) {
	if r.Code == "" {
		an.d.took(r.Action)
	}
	an.answered(r)
	switch r.Action {
	case ActArm, ActDisarm:
		an.attempts().armResult(r)
	case ActOn, ActRestart:
		an.attempts().powerResult(r)
	case ActGraceful, ActForceOff:
		an.stops().result(r)
	case ActReadPolicy, ActGuard, ActUnguard:
		an.guards().result(r)
	case ActInsert:
		an.attempts().insertResult(r)
	case ActEject:
		an.drives().ejected(r)
	case ActClearURL:
		an.urls().cleared(r)
	case ActReadFirmware, ActWriteFirmware:
		an.firmwares().result(r)
	case ActNone:
	}
}

// answered notes what the BMC said to a reset.
func (an answers) answered(r Result) {
	switch r.Action {
	case ActOn, ActRestart, ActGraceful, ActForceOff:
	case ActNone, ActArm, ActDisarm, ActReadPolicy, ActGuard, ActUnguard, ActInsert, ActEject, ActClearURL, ActReadFirmware, ActWriteFirmware:
		return
	}
	if r.Code == "" {
		an.d.happened(resource.EventAnswered, "%s: accepted", r.Action)
		return
	}
	an.d.happened(resource.EventAnswered, "%s: %s: %.300s", r.Action, r.Code, r.Message)
}
