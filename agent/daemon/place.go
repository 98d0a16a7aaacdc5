package daemon

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"slices"
	"syscall"
)

// placeOf says where a folder is: another one on each host, as far as that can be read, and for each copy
// on one. It is the same after a restart of the agent and of the host.
func placeOf(dir string) string {
	sum := sha256.New()
	for _, file := range []string{"/etc/machine-id", "/sys/class/dmi/id/product_uuid"} {
		raw, _ := os.ReadFile(file) // the second one is root's, where it is at all
		_, _ = fmt.Fprintf(sum, "%s\n", bytes.TrimSpace(raw))
	}
	if in, err := os.Stat(dir); err == nil {
		if s, ok := in.Sys().(*syscall.Stat_t); ok {
			_, _ = fmt.Fprintf(sum, "%d\n", s.Ino)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

func hostName() string {
	name, _ := os.Hostname() // for people
	return name
}

// maxAddresses bounds the addresses that are told.
const maxAddresses = 4

// hostAddresses are those of the host, for people.
func hostAddresses() (out []string) {
	all, _ := net.InterfaceAddrs() // for people
	for _, a := range all {
		n, ok := a.(*net.IPNet)
		if ok && n.IP.IsGlobalUnicast() && len(out) < maxAddresses {
			out = append(out, n.IP.String())
		}
	}
	slices.Sort(out)
	return out
}
