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
// the hub has not been sent go first, and turns more in their order, because a message may be
// lost. It reports whether all were sent once.
func (v *inventories) carry(servers []resource.ServerReport, turns int) (all bool) {
	left := inventoryBudget
	goes := func(s resource.ServerReport) bool {
		if !carried(s) || s.Image.Bytes > left {
			return false
		}
		left -= s.Image.Bytes
		return true
	}
	if v.sent == nil {
		v.sent = map[string]string{}
	}
	going := map[string]bool{}
	all = true
	for _, s := range servers {
		switch {
		case s.Image == nil:
			delete(v.sent, s.Server)
		case v.sent[s.Server] == s.Image.Digest:
		case goes(s):
			going[s.Server], v.sent[s.Server] = true, s.Image.Digest
		case carried(s):
			all = false
		}
	}
	for range turns {
		turn := -1
		for i, s := range servers { // by name
			if !carried(s) || going[s.Server] {
				continue
			}
			if turn < 0 || s.Server >= v.next && servers[turn].Server < v.next {
				turn = i
			}
		}
		if turn < 0 || !goes(servers[turn]) {
			break
		}
		s := servers[turn]
		v.next, going[s.Server], v.sent[s.Server] = s.Server+"\x00", true, s.Image.Digest
	}
	for i, s := range servers {
		if s.Image != nil && s.Image.Inventory != nil && !going[s.Server] {
			brief := *s.Image
			brief.Inventory = nil
			servers[i].Image = &brief
		}
	}
	return all
}

// carried reports whether a report has an inventory that fits into a report.
func carried(s resource.ServerReport) bool {
	return s.Image != nil && s.Image.Inventory != nil && s.Image.Bytes <= protocol.MaxReportedInventory
}
