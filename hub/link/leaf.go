package link

import (
	"fmt"

	"rackboot/hub/store"
	"rackboot/protocol/message"
)

// ackPrefix is where the ledger keeps the last event of an agent's database.
const ackPrefix = "event/"

func acked(l *store.Ledger, incarnation string) uint64 {
	return l.Acked[ackPrefix+incarnation].Version
}

// RackLeaf is the leaf of a shard of the rack document.
func RackLeaf(shard int) string { return fmt.Sprintf("%s/%d", message.LeafRack, shard) }

// Latest is the highest version that the ledger knows of.
func Latest(l store.Ledger) uint64 {
	v := l.Version
	for _, s := range l.Sent {
		v = max(v, s.Head.Version)
	}
	return v
}
