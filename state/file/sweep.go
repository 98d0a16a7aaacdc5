package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const tempPrefix = ".new-"

// Unfinished reports whether name is one under which a replacement is written aside.
func Unfinished(name string) bool {
	rest, ok := strings.CutPrefix(name, tempPrefix)
	dash := strings.LastIndexByte(rest, '-')
	if !ok || dash < 1 {
		return false
	}
	_, err := strconv.ParseUint(rest[dash+1:], 10, 64)
	return err == nil
}

// Of is the name of the file that an unfinished one is to become; empty of any other name.
func Of(name string) string {
	if !Unfinished(name) {
		return ""
	}
	rest := strings.TrimPrefix(name, tempPrefix)
	return rest[:strings.LastIndexByte(rest, '-')]
}

// Begin makes a file beside path, mode 0600, which becomes it by a rename when it is whole: for what is
// too long to be written at once. Who begins it removes it, too; after a crash [Sweep] does.
func Begin(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), tempPrefix+filepath.Base(path)+"-*")
}

// Sweep removes what crashes have left of replacements in a folder, and nothing else. Nobody may
// replace a file of the folder meanwhile. A folder that is not there is clean. Errors: unavailable.
func Sweep(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return failed(folder, err)
	}
	for _, e := range entries {
		if !Unfinished(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		if err := os.Remove(filepath.Join(folder, e.Name())); err != nil {
			return failed(folder, err)
		}
	}
	return nil
}
