package redfish

import "slices"

// maxLogs bounds the logs of a system, and of a manager, that are looked through for entries about power.
const maxLogs = 4

// tellsPower reports whether a log entry is about the host's power.
func tellsPower(messageID string) bool {
	return slices.Contains(powerMessages, lastPart(messageID))
}

// newest is the name of the newest entry about power in a collection of log entries.
// BMCs sort them either way, so that the time of creation decides, then the order.
func newest(entries *object) string {
	last, at := "", ""
	for _, raw := range rawsOf(entries.f["Members"]) {
		f := fields(raw)
		if !tellsPower(textOf(f["MessageId"])) {
			continue
		}
		if created := textOf(f["Created"]); created >= at {
			last, at = textOf(f["Id"])+" "+created, created
		}
	}
	return printable(last)
}

// readPowerLog is the name of the newest entry about power.
func readPowerLog(c *call, entries string) (string, error) {
	if err := checkURI(entries); err != nil {
		return "", err
	}
	o, err := get[object](c, entries)
	if err != nil {
		return "", err
	}
	return newest(o), nil
}

// powerLogAt is where the entries of the first log are that tells of power: a log of the system,
// or of its manager (Supermicro); empty if none does. A BMC without a log lacks nothing.
func powerLogAt(v *survey) string {
	if entries := powerLogOf(v, linkOf(v.system.f["LogServices"])); entries != "" {
		return entries
	}
	for _, m := range v.managers() {
		// The log of a manager of several systems tells of the others' power as well.
		if len(rawsOf(fields(m.f["Links"])["ManagerForServers"])) > 1 {
			continue
		}
		if entries := powerLogOf(v, m.link("LogServices")); entries != "" {
			return entries
		}
	}
	return ""
}

// powerLogOf is that of one collection of logs.
func powerLogOf(v *survey, uri string) string {
	if uri == "" {
		return ""
	}
	logs, err := members(v.c, uri)
	if err != nil {
		return ""
	}
	for _, log := range logs[:min(len(logs), maxLogs)] {
		o, err := get[object](v.c, log)
		if err != nil {
			continue
		}
		entries := linkOf(o.f["Entries"])
		if checkURI(entries) != nil {
			continue
		}
		if all, err := get[object](v.c, entries); err == nil && newest(all) != "" {
			return entries
		}
	}
	return ""
}
