package sim

import (
	"strconv"
	"sync"
	"time"

	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// powerLog is the log of a system's power, where the vendor has one.
type powerLog struct {
	uri  string // of the entries; empty for no log
	tree *tree.Tree
	tags *tags

	mu      sync.Mutex
	entries []tree.Object
}

func newPowerLog(uri string, t *tree.Tree, g *tags) *powerLog {
	return &powerLog{uri: uri, tree: t, tags: g}
}

// note writes Supermicro's power entries.
func (l *powerLog) note(power protocol.PowerState) {
	if l.uri == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) == maxHistory {
		l.entries = l.entries[1:]
	}
	l.entries = append(l.entries, tree.Object{
		"@odata.type": "#LogEntry.v1_4_0.LogEntry", "EntryType": "Event", "Name": "Log entry",
		"MessageId": "Event.1.0.SystemPowerAction", "Message": "MEL-0051 System power: " + string(power),
		"Created": time.Now().UTC().Format(time.RFC3339),
	})
}

func (l *powerLog) get(r *request) *answer {
	body := l.tree.Get(r.uri)
	if body == nil {
		return missing()
	}
	members, _ := body["Members"].([]any)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, entry := range l.entries {
		e := tree.Clone(entry).(tree.Object)
		e["@odata.id"], e["Id"] = l.uri+"/P"+strconv.Itoa(i+1), "P"+strconv.Itoa(i+1)
		members = append(members, e)
	}
	body["Members"], body["Members@odata.count"] = members, len(members)
	return l.tags.tagged(r, body)
}
