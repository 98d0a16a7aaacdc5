//go:build host

package main

import (
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Ansible itself reads the inventory, by the script of the guide.
func TestAnsible(t *testing.T) {
	if _, err := exec.LookPath("ansible-inventory"); err != nil {
		t.Fatalf("%v; run integration/packages as root", err)
	}
	testscript.Run(t, params("testdata/ansible"))
}
