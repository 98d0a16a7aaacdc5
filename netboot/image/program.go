package image

import (
	"bytes"
	"fmt"
)

// CheckProgram says why an architecture does not start a file of size bytes that begins
// with head, a kernel, a UKI or a loader, in words that follow "it"; nil is that nothing
// speaks against it. Kernels have more forms than are known here: what is none of them is
// left to who loads it.
func CheckProgram(head []byte, size int64, arch string) error {
	if err := CheckFile(head); err != nil {
		return err
	}
	arm := len(head) >= armMagic+4 && string(head[armMagic:armMagic+4]) == "ARM\x64"
	if bzImage(head) != "" || arm {
		return checkKernel(head, arch, size)
	}
	p, err := parsePE(head)
	if err != nil || p.machine == 0 {
		return nil //nolint:nilerr // it is another form
	}
	return p.check(arch, size)
}

// CheckFile says why a file that begins with head is none that a boot reads: nothing is in
// it, or the page with which a mirror says that it has no such file.
func CheckFile(head []byte) error {
	switch text := bytes.TrimLeft(bytes.ToLower(head[:min(len(head), 512)]), " \t\r\n"); {
	case len(head) == 0:
		return fmt.Errorf("is empty")
	case bytes.HasPrefix(text, []byte("<!doctype html")), bytes.HasPrefix(text, []byte("<html")):
		return fmt.Errorf("is a web page")
	}
	return nil
}
