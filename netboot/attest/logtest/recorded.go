package logtest

import (
	"bufio"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

//go:embed recorded
var recorded embed.FS

// Logs that were recorded of a machine of QEMU with swtpm.
const (
	Unified  = "uki"       // a unified kernel image from a disk, Secure Boot off
	ShimGRUB = "shim-grub" // shim, GRUB, kernel and initrd from a disk, Secure Boot on
)

// Recorded returns a log, and the PCRs of SHA-256 as Linux showed them after that boot. PCR 10
// is Linux' own.
func Recorded(t testing.TB, name string) (log []byte, pcrs map[int][]byte) {
	t.Helper()
	f, err := recorded.Open("recorded/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	pcrs = map[int][]byte{}
	var text strings.Builder
	inLog := false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "#"):
		case line == "log":
			inLog = true
		case inLog:
			text.WriteString(line)
		default:
			var pcr int
			var value string
			if _, err := fmt.Sscanf(line, "%d %s", &pcr, &value); err != nil {
				t.Fatal(err)
			}
			if pcrs[pcr], err = hex.DecodeString(value); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if log, err = base64.StdEncoding.DecodeString(text.String()); err != nil {
		t.Fatal(err)
	}
	return log, pcrs
}
