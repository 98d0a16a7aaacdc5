package fleet

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// disk is what an agent would have on disk. It is in memory while the agent runs, and is
// written when it ends; one that did not end so begins with another incarnation, as an
// agent with an empty disk does.
type disk struct {
	Incarnation string        `json:"incarnation"`
	Term        uint64        `json:"term"`
	Fence       message.Fence `json:"fence"`
	// Docs are the documents in force, by leaf.
	Docs    map[string]document `json:"docs"`
	Settle  time.Duration       `json:"settle"`
	Servers []*server           `json:"servers"` // in the order in which they came
	Events  backlog             `json:"events"`
}

type document struct {
	Head   protocol.Head `json:"head"`
	Digest string        `json:"digest"`
}

// openDisk reads the rack's disk from its folder.
func openDisk(dir, rack string) (*disk, error) {
	d := &disk{}
	if _, err := load(dir, rack, diskFile, d); err != nil {
		return nil, err
	}
	d.Incarnation = cmp.Or(d.Incarnation, random())
	if d.Docs == nil {
		d.Docs = map[string]document{}
	}
	return d, nil
}

// inUse takes the file away: what is in it is old from now on.
func (d *disk) inUse(dir, rack string) error {
	if err := os.Remove(filepath.Join(dir, rack, diskFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// heads are the documents in force as a message has them.
func (d *disk) heads() (heads map[string]protocol.Head, digests map[string]string) {
	heads, digests = map[string]protocol.Head{}, map[string]string{}
	for leaf, m := range d.Docs {
		heads[leaf], digests[leaf] = m.Head, m.Digest
	}
	return heads, digests
}

// server finds one by name; nil if there is none.
func (d *disk) server(name string) *server {
	for _, s := range d.Servers {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// made is server, and makes it where there is none.
func (d *disk) made(name string) *server {
	s := d.server(name)
	if s == nil {
		s = &server{Name: name, Power: protocol.PowerOff, Missing: true}
		d.Servers = append(d.Servers, s)
	}
	return s
}
