package object

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/cmd/internal/cli/files"
	"rackboot/protocol"
)

// What cannot be read is named with its path and the reason, as apply names it.
func TestUnreadSecret(t *testing.T) {
	folder := t.TempDir()
	missing := filepath.Join(folder, "missing")
	for name, row := range map[string]struct {
		err  func() error
		code protocol.Code
		want string
	}{
		"a missing file": {func() error {
			_, err := (&secretInput{files: []string{"password=" + missing}}).read(&files.Input{})
			return err
		}, protocol.CodeNotFound, missing + ": no such file or directory"},
		"a folder": {func() error {
			_, err := (&secretInput{files: []string{"password=" + folder}}).read(&files.Input{})
			return err
		}, protocol.CodeUnavailable, folder + ": is a directory"},
		"no permission": {func() error { // root has them all, so the error is made
			return unread(missing, &fs.PathError{Op: "open", Path: missing, Err: os.ErrPermission})
		}, protocol.CodeUnavailable, missing + ": permission denied"},
		"standard input": {func() error {
			_, err := readValue(broken{}, "standard input")
			return err
		}, protocol.CodeUnavailable, "the pipe broke"},
	} {
		err := row.err()
		if protocol.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.want) || !strings.Contains(protocol.HintOf(err), "and its permissions") {
			t.Errorf("%s: %v, %s", name, err, protocol.HintOf(err))
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the pipe broke") }
