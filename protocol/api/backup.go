package api

import (
	"context"
	"io"
	"net/http"
	"time"

	"rackboot/protocol"
)

// The routes of backups.
const (
	PathBackup       = "/v1/backup"
	PathBackupStatus = "/v1/backup/status"
)

// BackupWait bounds how long a backup may take.
const BackupWait = 6 * time.Hour

// BackupType is the media type of a backup.
const BackupType = "application/vnd.rackboot.backup"

// BackupStatus says how a hub is backed up.
type BackupStatus struct {
	// Sealed says how backups are encrypted: age or plain; empty makes none.
	Sealed string `json:"sealed,omitempty"`
	// Place is where the hub keeps backups by itself; empty is nowhere, and then there is no more.
	Place string `json:"place,omitempty"`
	// Every is the time between two, Keep how many are kept.
	Every protocol.Duration `json:"every,omitempty"`
	Keep  int               `json:"keep,omitempty"`
	// Running says since when one is being made.
	Running *time.Time `json:"running,omitempty"`
	// Last is the last one that was verified; nil before the first.
	Last *BackupMade `json:"last,omitempty"`
	// Next is when the next one is due.
	Next *time.Time `json:"next,omitempty"`
	// Failure is that of the last attempt; nil if it succeeded.
	Failure *BackupFailure `json:"failure,omitempty"`
	// Overdue says that the last one is older than twice Every.
	Overdue bool `json:"overdue,omitempty"`
}

// BackupMade is a backup that was written and read back.
type BackupMade struct {
	Name    string    `json:"name"`
	Made    time.Time `json:"made"` // of what it is a copy
	Size    int64     `json:"size"` // in bytes
	SHA256  string    `json:"sha256"`
	Seconds float64   `json:"seconds"` // that it took, reading back included
}

// BackupFailure is why no backup was made.
type BackupFailure struct {
	At     time.Time     `json:"at"`
	Since  time.Time     `json:"since"` // of the first one after a success
	Code   protocol.Code `json:"code"`
	Detail string        `json:"detail"`
	Hint   string        `json:"hint,omitempty"`
	Count  int           `json:"count"` // one after the other
}

// Backups are copies of the hub.
type Backups struct{ hub *hub }

// Create writes a backup of the hub to w, as the hub's file says encrypted. It takes up to
// [BackupWait]. It does not say whether the backup is whole: its end does; see package backupfile.
func (b Backups) Create(ctx context.Context, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, BackupWait)
	defer cancel()
	return b.hub.stream(ctx, PathBackup, w)
}

// Status says how the hub is backed up.
func (b Backups) Status(ctx context.Context) (out BackupStatus, err error) {
	err = b.hub.call(ctx, http.MethodGet, PathBackupStatus, nil, &out)
	return out, err
}
