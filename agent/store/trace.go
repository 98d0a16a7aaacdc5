package store

import (
	"fmt"

	"rackboot/protocol/resource"
	"rackboot/state"
)

func tracePrefix(server string) string { return "trace/" + server + "/" }

// serialDigits keeps serials in order of their keys.
const serialDigits = 10

// Traces are what was seen of power-ons.
type Traces struct{ disk *disk }

// Of are those of a server that are on the disk, the oldest first.
func (ts *Traces) Of(server string) (out []resource.Trace, err error) {
	err = ts.disk.db.View(func(t state.Txn) error {
		out, err = scan[resource.Trace](t, tracePrefix(server))
		return err
	})
	if err != nil {
		return nil, failing("read the traces of "+server, err)
	}
	return out, nil
}

// Put writes traces of a server, in order, and forgets all of it but the newest
// keep.
func (ts *Traces) Put(server string, traces []resource.Trace, keep int) error {
	if len(traces) == 0 {
		return nil
	}
	newest := traces[len(traces)-1].Serial
	err := ts.disk.update(func(t state.Txn) error {
		for _, v := range traces {
			if err := put(t, traceKey(server, v.Serial), v); err != nil {
				return err
			}
		}
		var old []string
		if err := t.Scan(tracePrefix(server), func(key string, _ []byte) error {
			if key <= traceKey(server, newest-keep) {
				old = append(old, key)
			}
			return nil
		}); err != nil {
			return err
		}
		for _, key := range old {
			if err := t.Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return failing("keep the traces of "+server, err)
	}
	return nil
}

func traceKey(server string, serial int) string {
	return fmt.Sprintf("%s%0*d", tracePrefix(server), serialDigits, max(0, serial))
}
