package boot

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/netboot/ignition"
	"rackboot/protocol"
)

// stubValue is what ignition inspect prints, for other programs.
type stubValue struct {
	Version   string               `json:"version"`
	Sources   []string             `json:"sources"`
	CAs       []authorityValue     `json:"cas"`
	RemoteCAs []string             `json:"remoteCAs"`
	Findings  []ignition.CAFinding `json:"findings"`
}

type authorityValue struct {
	Path        string    `json:"path"`
	Subject     string    `json:"subject"`
	Ends        time.Time `json:"ends"`
	Fingerprint string    `json:"fingerprint"`
}

func ignitionInspectCmd(src *files.Input, pr *printer.Printer) *cobra.Command {
	var serverCA string
	var within time.Duration
	cmd := &cobra.Command{
		Use: "inspect FILE|-", Short: "Show where a configuration gets the rest from, and whom it trusts with that", Args: cobra.ExactArgs(1),
		Long: `Show the specification of an Ignition configuration, the hosts that servers fetch the rest from, and
the certificate authorities that it brings for that. An authority that has expired or is about to, and
one that is not the server's, is an error with exit code 2: a server with it gets no further.`,
		Example: "  rackctl ignition inspect worker.ign --server-ca mcs-ca.pem --within 2160h",
		RunE: func(_ *cobra.Command, args []string) error {
			raw, err := readIgnition(src, args[0])
			if err != nil {
				return err
			}
			bundle := ""
			if serverCA != "" {
				if bundle, err = src.Small(serverCA); err != nil {
					return err
				}
				bundle += "\n" // an empty file is one without a certificate, not no file
			}
			stub, err := ignition.Inspect(raw)
			if err != nil {
				return err
			}
			return showStub(pr, stub, ignition.CheckCA(stub, time.Now(), within, bundle))
		},
	}
	cmd.Flags().StringVar(&serverCA, "server-ca", "", "file with the authorities, in PEM, of the server that has the configuration")
	cmd.Flags().DurationVar(&within, "within", 30*24*time.Hour, "report what expires within this time")
	return cmd
}

func showStub(pr *printer.Printer, s ignition.Stub, found []ignition.CAFinding) error {
	value := stubValue{Version: s.Version, Sources: append([]string{}, s.Sources...), CAs: []authorityValue{}, RemoteCAs: append([]string{}, s.RemoteCAs...), Findings: append([]ignition.CAFinding{}, found...)}
	var text strings.Builder
	for _, c := range s.CAs {
		sum := sha256.Sum256(c.Raw)
		v := authorityValue{c.Path, c.Subject, c.NotAfter.UTC(), "sha256:" + hex.EncodeToString(sum[:])}
		value.CAs = append(value.CAs, v)
		text.WriteString("  " + v.Path + "\n    " + v.Subject + ", ends " + v.Ends.Format(time.DateOnly) + ", " + v.Fingerprint + "\n")
	}
	for _, path := range s.RemoteCAs {
		text.WriteString("  " + path + "\n    is fetched by the server\n")
	}
	facts := []printer.Fact{{"Specification", s.Version}, {"Fetches from", strings.Join(s.Sources, ", ")}, {"Authorities", printer.Plural(len(s.CAs), "certificate")}}
	v := printer.View{Single: true, Items: []printer.Item{{Value: value, Name: "ignition/" + s.Version}}}
	if err := pr.Describe(v, facts, text.String()); err != nil {
		return err
	}
	for _, f := range found {
		subject := strings.TrimPrefix(f.Path+" ("+f.Subject+"): ", " (): ")
		pr.Progress("%s: %s%s", f.Kind, subject, f.Message)
	}
	if len(found) > 0 {
		return protocol.Errorf(protocol.CodeInvalid, "inspect ignition", "%s", printer.Plural(len(found), "finding")).
			WithHint("put the server's authorities in: rackctl ignition translate --replace-ca")
	}
	return nil
}

// saidLosses says everything that would be lost, where that is why there is no result.
func saidLosses(pr *printer.Printer, err error) {
	if r, ok := errors.AsType[*ignition.Refusal](err); ok {
		for _, l := range r.Lost {
			pr.Progress("would lose: %s: %s", l.Path, l.What)
		}
	}
}
