package store

import (
	"rackboot/netboot"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Unreadable are the keys whose values are not what their kind is made of. Kinds that it does not
// know are not looked at. The error is that of a read that fails.
func Unreadable(db state.Store) (keys []string, err error) {
	err = db.View(func(t state.Txn) error {
		return t.Scan("", func(key string, raw []byte) error {
			if !readable(key, raw) {
				keys = append(keys, key)
			}
			return nil
		})
	})
	if err != nil {
		return nil, failing("read the agent's store", err)
	}
	return keys, nil
}

func readable(key string, raw []byte) bool {
	var err error
	switch kindOf(key) {
	case "record":
		_, err = decode[decide.Record](key, raw)
	case "hold":
		_, err = decode[decide.Hold](key, raw)
	case "intent":
		_, err = decode[Intent](key, raw)
	case "request", "asked":
		_, err = decode[resource.Request](key, raw)
	case "released":
		_, err = decode[tombstone](key, raw)
	case "event":
		_, err = decode[resource.Event](key, raw)
	case "doc":
		_, err = decode[mark](key, raw)
	case "rack":
		_, err = decode[message.RackIntent](key, raw)
	case "tpm":
		_, err = decode[TPM](key, raw)
	case "lease":
		_, err = decode[netboot.Lease](key, raw)
	case "lease6":
		_, err = decode[netboot.Lease6](key, raw)
	}
	return err == nil
}
