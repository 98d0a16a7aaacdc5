package terminal

import (
	"io"
	"os"
)

// Screen says whether somebody looks at what is written, so that a line may be written
// again in place.
func Screen(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Size is how many characters and lines a screen has; 80 and 24 where it does not say.
func Size(w io.Writer) (columns, rows int) {
	if f, ok := w.(*os.File); ok {
		columns, rows = size(f)
	}
	if columns == 0 || rows == 0 {
		return 80, 24
	}
	return columns, rows
}
