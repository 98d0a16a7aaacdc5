package iso

import "io"

// maxSmall is more than any file that Write is given has.
const maxSmall = 4 << 20

// ReadSmall reads a whole file of an image such as Write makes; one of more than 4 MiB is
// invalid. Errors are those of FS.
func (f *FS) ReadSmall(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	about, err := file.Stat()
	if err == nil && about.Size() > maxSmall {
		err = wrong("the file %q has %d bytes, more than %d", name, about.Size(), maxSmall)
	}
	if err != nil {
		return nil, failed("read", name, err)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, failed("read", name, err)
	}
	return content, nil
}
