package reports

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// inventoryBudget bounds the inventories in one report, in bytes of JSON: a report of
// 50 servers that nothing compresses must stay below what a message may have.
const inventoryBudget = 32 << 10

// inventories says which inventories go with the reports of a shard. Not all do each
// time: they are long, and change when somebody opens the server.
type inventories struct {
	sent map[string]string // digests, by server
	next string            // whose turn it is to be repeated
}

// carry takes the inventories out of the reports that do not go this time. Those that
// the hub has not been sent go first, and one more by turns, because a message may be
// lost and the hub may be another.
func (v *inventories) carry(servers []resource.ServerReport) {
	left := inventoryBudget
	goes := func(s resource.ServerReport) bool {
		i := s.Image
		if i == nil || i.Inventory == nil || i.Bytes > protocol.MaxReportedInventory || i.Bytes > left {
			return false
		}
		left -= i.Bytes
		return true
	}
	going, sent := map[string]bool{}, map[string]string{}
	for _, s := range servers {
		if s.Image == nil {
			continue
		}
		if v.sent[s.Server] == s.Image.Digest {
			sent[s.Server] = s.Image.Digest
		} else if goes(s) {
			going[s.Server], sent[s.Server] = true, s.Image.Digest
		}
	}
	turn := -1
	for i, s := range servers { // by name
		if s.Image == nil || s.Image.Inventory == nil || s.Image.Bytes > protocol.MaxReportedInventory || going[s.Server] {
			continue
		}
		if turn < 0 || s.Server >= v.next && servers[turn].Server < v.next {
			turn = i
		}
	}
	if turn >= 0 && goes(servers[turn]) {
		s := servers[turn]
		v.next, going[s.Server], sent[s.Server] = s.Server+"\x00", true, s.Image.Digest
	}
	v.sent = sent
	for i, s := range servers {
		if s.Image != nil && s.Image.Inventory != nil && !going[s.Server] {
			brief := *s.Image
			brief.Inventory = nil
			servers[i].Image = &brief
		}
	}
}
