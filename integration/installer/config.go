package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// A config image of virtual media has this file; the kernel's own ISO 9660 reads it.
	configFile   = "report-url"
	configData   = "ignition.json" // the server's user data, where it goes through the BMC
	configFolder = "/config"
	// driveTimeout is how long the SCSI bus is given to find its drives, where there is one.
	driveTimeout = 5 * time.Second
)

// configURL is what a config image in one of the CD drives says; empty without one.
func configURL() string {
	if buses, err := filepath.Glob("/sys/class/scsi_host/*"); err != nil || len(buses) == 0 {
		return ""
	}
	if err := os.MkdirAll(configFolder, 0o755); err != nil {
		return ""
	}
	for end := time.Now().Add(driveTimeout); time.Now().Before(end); time.Sleep(100 * time.Millisecond) { // between looks for devices
		drives, _ := filepath.Glob("/dev/sr*") // the pattern is good
		for _, d := range drives {
			if unix.Mount(d, configFolder, "iso9660", unix.MS_RDONLY, "") != nil {
				continue
			}
			raw, err := os.ReadFile(filepath.Join(configFolder, configFile))
			if data, err := os.ReadFile(filepath.Join(configFolder, configData)); err == nil {
				sayData("config image", data)
			}
			_ = unix.Unmount(configFolder, 0) // nothing else uses it
			if err == nil {
				say("config image in %s", d)
				return strings.TrimSpace(string(raw))
			}
		}
	}
	return ""
}
