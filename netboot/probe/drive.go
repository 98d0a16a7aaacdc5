package probe

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"rackboot/netboot/iso"
	"rackboot/protocol"
)

// driveURL is the base URL of a boot by virtual media, from the config image in one of the
// drives of a folder of devices; empty without one. A BMC shows the image as a CD drive or
// as a USB stick.
func driveURL(devices string) string {
	for _, pattern := range []string{"sr*", "sd[a-z]"} {
		drives, _ := filepath.Glob(filepath.Join(devices, pattern)) // the pattern is good
		for _, d := range drives {
			if url := configURL(d); url != "" {
				return url
			}
		}
	}
	return ""
}

// configURL is what the config image in a drive says; empty for anything else.
func configURL(drive string) string {
	f, err := os.Open(drive)
	if err != nil {
		return "" // no medium
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd) // of a device, Stat says 0
	if err != nil {
		return ""
	}
	v, err := iso.OpenFS(f, size)
	if err != nil || v.Label() != protocol.ConfigLabel {
		return ""
	}
	url, err := v.ReadSmall(protocol.ConfigURL)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(url))
}
