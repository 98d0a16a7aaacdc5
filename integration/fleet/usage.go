package fleet

import (
	"rackboot/integration/benchreport"
	"rackboot/protocol"
)

// usageOf is what a process has used; 0 is none.
func usageOf(pid int) (u benchreport.Usage, err error) {
	if pid == 0 {
		return u, nil
	}
	if err = u.Add(pid); err == nil && u == (benchreport.Usage{}) {
		err = protocol.Errorf(protocol.CodeNotFound, "measure the hub", "there is no process %d, or not any more", pid).WithHint("give --hub-pid of the hub's process on this host")
	}
	return u, err
}
