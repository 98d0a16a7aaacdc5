package decide

import "time"

// Step decides what to do with one server now. It is a pure function: the same
// arguments give the same plan, and nothing is changed in place. The caller puts
// Plan.Record on disk, then acts, then reports.
func Step(now time.Time, s Snapshot) Plan {
	var d draft
	d.begin(now, &s)
	d.steady()
	proofs{&d, &s}.forget()
	attempts{&d, &s}.assumed()
	if s.Result != nil {
		answers{&d, &s}.fold(*s.Result) // the read was begun after it
	}
	attempts{&d, &s}.sent()
	if s.Overlay != nil {
		overlays{&d, &s}.fold(*s.Overlay)
	}
	if s.Observation != nil {
		sightings{&d, &s}.observe(*s.Observation)
	}
	attempts{&d, &s}.waited()
	proofs{&d, &s}.lapse(s.Uptime, d.watch.Off.Quickest)
	identitiesOf(&d, &s).identify()
	if v := s.Safety; v != nil && (d.rec.Safety == nil || *d.rec.Safety != *v) {
		d.rec.Safety, d.dirty = v, true
	}
	for _, e := range s.Events {
		heard{&d, &s}.evidence(e)
	}
	if s.Ended {
		inrush{&d, &s}.settle()
		conditions{&d, &s}.settle()
	} else if s.Aside && !s.Passive {
		standby{&d, &s}.guard()
		inrush{&d, &s}.settle()
		conditions{&d, &s}.settle()
		d.pace(&s)
	} else if !s.Passive {
		lifetimes{&d, &s}.count()
		requests{&d, &s}.take()
		requests{&d, &s}.follow()
		pursuit{&d, &s}.trigger()
		fallbacksOf(&d, &s).forget()
		pursuit{&d, &s}.pursue()
		inrush{&d, &s}.settle()
		conditions{&d, &s}.settle()
		d.pace(&s)
	}

	return d.finish()
}
