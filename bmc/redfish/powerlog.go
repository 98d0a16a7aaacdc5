package redfish

import (
	"context"
	"strings"

	"rackboot/bmc"
)

const (
	opPowerLog = "bmc.power_log"
	// maxLogs bounds the logs of a system that are looked through for entries about power.
	maxLogs = 4
)

var _ bmc.PowerLogger = (*driver)(nil)

// tellsPower says whether a log entry is about the host's power: Supermicro's
// SystemPowerAction (captured tree of an SYS-821GE-TNHR), and ServerPoweredOn of iLO.
func tellsPower(messageID string) bool {
	key := messageID[strings.LastIndexByte(messageID, '.')+1:]
	return key == "SystemPowerAction" || key == "ServerPoweredOn"
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

// PowerLog implements bmc.PowerLogger.
func (d *driver) PowerLog(ctx context.Context, entries string) (string, error) {
	if err := checkURI(entries); err != nil {
		return "", err
	}
	o, err := get[object](d.call(ctx, opPowerLog), entries)
	if err != nil {
		return "", err
	}
	return newest(o), nil
}

// powerLog is where the entries of the system's first log are that tells of power;
// empty if none does. A BMC without a log lacks nothing.
func (v *survey) powerLog() string {
	uri := linkOf(v.system.f["LogServices"])
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
