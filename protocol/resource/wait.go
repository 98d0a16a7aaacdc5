package resource

import (
	"time"

	"rackboot/protocol"
)

// WaitCode names what a server waits for.
type WaitCode string

// What is waited for, in the order in which a boot meets it.
const (
	WaitShutdown  WaitCode = "shutdown"   // the operating system, after GracefulShutdown
	WaitOff       WaitCode = "off"        // the BMC, after ForceOff
	WaitSettled   WaitCode = "settled"    // Off, to last for the settle window
	WaitAgain     WaitCode = "next-try"   // the pause after an attempt that failed
	WaitInrush    WaitCode = "inrush"     // the rack's inrush limit: servers before it are switched on first
	WaitMedium    WaitCode = "medium"     // the BMC, to take the image into its drive
	WaitOverride  WaitCode = "override"   // the BMC, to store the boot override
	WaitPowerOn   WaitCode = "power-on"   // the BMC, to show the server On
	WaitFirmware  WaitCode = "firmware"   // firmware, to take the boot override
	WaitDHCP      WaitCode = "dhcp"       // firmware, to ask for an address
	WaitBootFile  WaitCode = "boot-file"  // firmware, to fetch the files of its boot
	WaitMediaRead WaitCode = "media-read" // the BMC, to read the image in its drive
	WaitReport    WaitCode = "report"     // the image, to say that it is done
)

// waitWords are what people read.
var waitWords = []struct {
	code  WaitCode
	words string
}{
	{WaitShutdown, "the operating system to shut down"},
	{WaitOff, "the BMC to show Off after ForceOff"},
	{WaitSettled, "Off to last"},
	{WaitAgain, "the next attempt"},
	{WaitInrush, "its turn to be switched on, by the rack's inrush limit"},
	{WaitMedium, "the BMC to take the image into its drive"},
	{WaitOverride, "the BMC to store the boot override"},
	{WaitPowerOn, "the BMC to show the server On"},
	{WaitFirmware, "firmware to take the boot override"},
	{WaitDHCP, "DHCP: firmware has not asked for an address yet"},
	{WaitBootFile, "firmware to fetch its boot files"},
	{WaitMediaRead, "the BMC to read the image in its drive"},
	{WaitReport, "the report of the image"},
}

// WaitCodes lists the codes.
func WaitCodes() (out []WaitCode) {
	for _, w := range waitWords {
		out = append(out, w.code)
	}
	return out
}

// Words is what is waited for, for people; the code itself where it is of a newer agent.
func (c WaitCode) Words() string {
	for _, w := range waitWords {
		if w.code == c {
			return w.words
		}
	}
	return string(c)
}

// Wait is what a server waits for, by the agent's clock.
type Wait struct {
	For   WaitCode  `json:"for"`
	Since time.Time `json:"since"`
	// Until is when it is given up, or goes on without; nil where it is waited for ever. Of inrush it is when the server is
	// about to have its turn.
	Until *time.Time `json:"until,omitempty"`
	// Report is the report that is waited for: installed, booted or discovered.
	Report protocol.EvidenceKind `json:"report,omitempty"`
}
