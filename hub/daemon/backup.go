package daemon

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"rackboot/hub/backup"
	"rackboot/hub/checkpoint"
	"rackboot/protocol"
	"rackboot/protocol/backupfile"
	"rackboot/state/clock"
	"rackboot/state/jetstream"
)

// copies are how the streams of the store are copied, in their order.
func copies(kv *jetstream.KV, facts *jetstream.Log) []backup.Stream {
	stream := func(name string, copied func(context.Context, io.Writer) (jetstream.Copied, error)) backup.Stream {
		return backup.Stream{Name: name, Copy: func(ctx context.Context, w io.Writer) (backupfile.Stream, error) {
			c, err := copied(ctx, w)
			return backupfile.Stream(c), err
		}}
	}
	return []backup.Stream{stream(streamKV, kv.Copy), stream(streamLog, facts.Copy)}
}

// openBackups makes what backs the hub up.
func (h *hub) openBackups(c Config) (*backup.Room, error) {
	to, open, err := c.Backup.Keys()
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read the hub's file", "%w", err)
	}
	place, err := c.Backup.Place()
	if err != nil {
		return nil, err
	}
	schedule, err := c.Backup.Schedule()
	if err != nil {
		return nil, err
	}
	source := c.source(h.upkeep.copies)
	source.Epoch, source.Release, source.Crash = h.start.Epoch, h.options.Version, h.options.Crash
	source.Audit = func() backupfile.AuditHead {
		seq, hash := h.audit.Head()
		return backupfile.AuditHead{Seq: seq, Hash: hash}
	}
	return backup.New(backup.Config{
		Source: source, To: to, Keys: open, Plain: c.Backup.Plain, Place: place, Schedule: schedule, Keep: c.Backup.Kept(),
		StateFile: c.path(backupState), Clock: clock.Now, Logger: h.log, Registerer: h.reg,
	})
}

// source is what of the hub's folder is copied.
func (c Config) source(streams []backup.Stream) backup.Source {
	s := backup.Source{Streams: streams, Clock: clock.Now, Folders: []backup.Folder{
		{Name: folderAudit, Dir: c.path(folderAudit), Flat: true, Takes: backup.Segments, Appended: true},
		{Name: folderPKI, Dir: c.path(folderPKI), Flat: true},
		{Dir: c.DataDir, Flat: true, Takes: func(name string) bool { return name == caCopy || name == hubKeyFile }},
	}}
	if !c.Secrets.none() {
		s.Without = append(s.Without, "the key of secrets, without which those of the backup cannot be read")
	}
	if c.Backup.WithFiles {
		for name, dir := range map[string]string{folderISOs: c.isosDir(), folderRegistry: c.registryDir()} {
			s.Folders = append(s.Folders, backup.Folder{Name: name, Dir: dir})
		}
		slices.SortFunc(s.Folders[3:], func(a, b backup.Folder) int { return strings.Compare(a.Name, b.Name) })
		return s
	}
	for name, dir := range map[string]string{"uploaded files": c.isosDir(), "images of the hub's registry": c.registryDir()} {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			s.Without = append(s.Without, name)
		}
	}
	slices.Sort(s.Without)
	return s
}

// The names of folders, in the hub's folder and in backups.
const (
	folderAudit    = "audit"
	folderPKI      = "pki"
	folderISOs     = "isos"
	folderRegistry = "registry"
)

// backupState is the file that says what the last backup was.
const backupState = "backup.json"

// The streams of the store.
const (
	streamKV  = checkpoint.KVStream
	streamLog = checkpoint.LogStream
)
