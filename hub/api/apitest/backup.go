package apitest

import (
	"context"
	"io"
	"strings"
	"sync"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/backupfile"
)

// CannedBackups makes small backups of nothing. It is safe for concurrent use.
type CannedBackups struct {
	mu     sync.Mutex
	status protoapi.BackupStatus
	err    error
	cut    int
	to     []backupfile.Recipient
}

// Set has the next backups be of that status, made for keys, refused with an error, or end after so many bytes
// if that is not 0.
func (c *CannedBackups) Set(s protoapi.BackupStatus, to []backupfile.Recipient, err error, cut int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status, c.to, c.err, c.cut = s, to, err, cut
}

// Begin implements api.Backups.
func (c *CannedBackups) Begin() (func(context.Context, io.Writer) error, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	to, cut := c.to, c.cut
	return func(_ context.Context, w io.Writer) error {
		var all strings.Builder
		b, err := backupfile.NewWriter(&all, backupfile.Header{Made: Now(), Release: "test"}, to)
		if err == nil {
			err = b.Add("pki/signing.pem", 9, strings.NewReader("some key\n"))
		}
		if err == nil {
			_, err = b.Close(backupfile.Manifest{
				Epoch: 3, Streams: []backupfile.Stream{{Name: "rackboot", First: 1, Last: 9, Messages: 7}}, Audit: backupfile.AuditHead{Seq: 5}, Without: []string{"the key of secrets"},
			})
		}
		if err != nil {
			return err
		}
		raw := all.String()
		if cut > 0 {
			raw, err = raw[:cut], protocol.Errorf(protocol.CodeUnavailable, "make backup", "the disk failed")
		}
		if _, wrong := io.WriteString(w, raw); wrong != nil {
			return wrong
		}
		return err
	}, c.err
}

// Status implements api.Backups.
func (c *CannedBackups) Status() protoapi.BackupStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}
