package store

import (
	"rackboot/protocol/message"
	"rackboot/state"
)

// keyBeganHead has the head before the first start since which no hub has answered.
const keyBeganHead = "meta/began-head"

// Word is the head as the hub is told of it.
func (h Head) Word() message.StoreHead {
	if h.Store == "" {
		return message.StoreHead{}
	}
	var all Digest
	for _, sum := range h.Kinds {
		for i := range all {
			all[i] ^= sum.Digest[i]
		}
	}
	return message.StoreHead{Store: h.Store, Sequence: h.Sequence, Digest: all[:]}
}

// BeganHead is the head before the first start since which no hub has answered, which the hub
// compares with the one that it knows: a disk that was rolled back writes, and comes as far again.
// [Events.Met] forgets it.
func (es *Events) BeganHead() (word message.StoreHead, err error) {
	err = es.disk.update(func(t state.Txn) error {
		h, known, err := get[Head](t, keyBeganHead)
		if err == nil && !known {
			if h, _, err = get[Head](t, keyHead); err == nil {
				err = put(t, keyBeganHead, h)
			}
		}
		word = h.Word()
		return err
	})
	return word, err
}
