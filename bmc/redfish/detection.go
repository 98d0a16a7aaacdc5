package redfish

import (
	"strconv"
	"time"

	"rackboot/protocol"
)

// How often a BMC is polled, by what else tells of a power transition.
const (
	pollOften = 10 * time.Second
	pollRare  = 30 * time.Second
)

// detection reads by what an unexpected power transition is noticed.
func detection(v *survey) protocol.Detection {
	d := protocol.Detection{Class: protocol.DetectPoll, PollInterval: pollOften, LastResetTime: plausible(v.system.lastResetTime)}
	d.Reason = "a power cycle between two polls is not noticed by the BMC's reports; only the server's own DHCP requests show it"
	if root := v.get("EventService", rootURI); root != nil {
		if o := v.get("EventService", linkOf(root.f["EventService"])); o != nil {
			if uri := o.text("ServerSentEventUri"); checkURI(uri) == nil {
				d.Stream = uri
			}
			d.Subscriptions = linkOf(o.f["Subscriptions"])
			if string(o.f["ServiceEnabled"]) == "false" {
				d.Stream, d.Subscriptions = "", ""
			}
		}
	}
	if !d.LastResetTime {
		d.PowerLog = powerLogAt(v)
	}
	switch {
	case d.LastResetTime:
		d.Class, d.PollInterval = protocol.DetectReset, pollRare
		d.Reason = "LastResetTime changes with each reset, also between two polls"
	case d.PowerLog != "":
		d.Class = protocol.DetectLog
		d.Reason = "the BMC logs each change of power; LastResetTime is no time"
	case d.Stream != "":
		d.Class = protocol.DetectEvents
		d.Reason = "the BMC streams events, which hasten the next poll; a lost one is not noticed"
	}
	return d
}

// plausible reports whether a LastResetTime is one: Dell shows 0000-00-00 on some,
// OpenBMC 1970 before its clock is set.
func plausible(value string) bool {
	if t, err := time.Parse(time.RFC3339, value); err == nil {
		return t.Year() >= 2000
	}
	if len(value) < 10 {
		return false
	}
	year, err := strconv.Atoi(value[:4])
	return err == nil && year >= 2000 && value[4] == '-'
}
