package store

import (
	"rackboot/protocol"
	"rackboot/state"
)

// Images are what the images of servers reported.
type Images struct{ disk *disk }

// Report is what the image of a server reported last; nil if none ever did.
func (i *Images) Report(server string) (*protocol.ImageReport, error) {
	var r protocol.ImageReport
	found := false
	err := i.disk.db.View(func(t state.Txn) (err error) {
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

// PutReport keeps a report in place of the last one.
func (i *Images) PutReport(server string, r protocol.ImageReport) error {
	err := i.disk.update(func(t state.Txn) error { return put(t, "image/"+server, r) })
	if err != nil {
		return failing("keep what the image of "+server+" reported", err)
	}
	return nil
}
