package store

import (
	"rackboot/protocol"
	"rackboot/state"
)

// ImageReport is what the image of a server reported last; nil if none ever did.
func (s *Store) ImageReport(server string) (*protocol.ImageReport, error) {
	var r protocol.ImageReport
	found := false
	err := s.db.View(func(t state.Txn) (err error) {
		r, found, err = get[protocol.ImageReport](t, "image/"+server)
		return err
	})
	if err != nil {
		return nil, failing("read what the image of "+server+" reported", err)
	}
	if !found {
		return nil, nil
	}
	return &r, nil
}

// PutImageReport keeps a report in place of the last one.
func (s *Store) PutImageReport(server string, r protocol.ImageReport) error {
	err := s.update(func(t state.Txn) error { return put(t, "image/"+server, r) })
	if err != nil {
		return failing("keep what the image of "+server+" reported", err)
	}
	return nil
}
