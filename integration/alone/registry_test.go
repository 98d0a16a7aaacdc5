//go:build host

package alone

import (
	"bytes"

	"rackboot/integration/sim"
)

// bootFile is what machines boot: more than one window of TFTP and one buffer.
func bootFile() []byte { return sim.UKI(bytes.Repeat([]byte("unified kernel image "), 100_000)) }

// runRegistry is the child that has the image.
func runRegistry() error {
	r, err := sim.StartRegistry(registryAddress)
	if err != nil {
		return err
	}
	defer r.Close()
	ref, err := r.Push("demo/os:1", bootFile())
	if err != nil {
		return err
	}
	if err := speak(ref); err != nil {
		return err
	}
	return listen(func(string) error { return nil })
}
