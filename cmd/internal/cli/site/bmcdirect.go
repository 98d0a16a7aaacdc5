package site

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// directProbe reads a BMC without hub and agent.
type directProbe struct {
	on                                  bool
	address, user, passwordFile, system string
	pin                                 pin
}

func (d *directProbe) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&d.on, "direct", false, "read the BMC from this host, without hub and agent")
	cmd.Flags().StringVar(&d.address, "address", "", "with --direct: https://host[:port] of the BMC")
	cmd.Flags().StringVar(&d.user, "user", "", "with --direct: the account")
	cmd.Flags().StringVar(&d.passwordFile, "password-file", "", "with --direct: file with its password, - for standard input")
	d.pin.flags(cmd)
}

func (d *directProbe) probe(ctx context.Context, src *files.Input, pr *printer.Printer) (out api.ProbeList, err error) {
	if d.address == "" || d.user == "" || d.passwordFile == "" {
		return out, protocol.Errorf(protocol.CodeInvalid, "", "--direct needs --address, --user and --password-file")
	}
	ctx, cancel := context.WithTimeout(ctx, api.ProbeWait)
	defer cancel()
	password, err := src.Small(d.passwordFile)
	if err != nil {
		return out, err
	}
	target := bmc.Target{
		Server: "probe", Address: d.address, SystemURI: d.system,
		Credentials: bmc.Credentials{Username: d.user, Password: strings.TrimRight(password, "\r\n")},
	}
	if !strings.HasPrefix(d.address, "http://") { // which is for loopback, and has no certificate
		pinned, err := resolve(src, pr, d.pin, d.address, func() (string, error) { return shownBy(ctx, d.address) })
		if err != nil {
			return out, err
		}
		target.Fingerprint, target.CA = pinned.Fingerprint, []byte(pinned.CA)
	}
	p, err := probeAt(ctx, target)
	if err != nil {
		return out, err
	}
	return api.ProbeList{Items: []protocol.Probe{p}}, nil
}

// probeAt reads a BMC from this host.
func probeAt(ctx context.Context, target bmc.Target) (protocol.Probe, error) {
	dialer, err := redfish.New(redfish.Config{})
	if err != nil {
		return protocol.Probe{}, err
	}
	driver, err := dialer.Open(target)
	if err != nil {
		return protocol.Probe{}, err
	}
	defer driver.Close() //nolint:errcheck // the session ends by itself where it cannot be ended
	prober, ok := driver.(bmc.Prober)
	if !ok {
		return protocol.Probe{}, protocol.Errorf(protocol.CodeInternal, "probe", "the driver probes nothing")
	}
	return prober.Probe(ctx, "")
}

// handshakeTimeout bounds the look at a certificate.
const handshakeTimeout = 15 * time.Second

// shownBy is the fingerprint of the certificate that a BMC shows. Nothing is sent to
// it, and nothing is trusted by that.
func shownBy(ctx context.Context, address string) (string, error) {
	const op = "look at certificate"
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return "", protocol.Errorf(protocol.CodeInvalid, op, "%q is not https://host[:port]", address)
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "443")
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}}
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, op, "%s: %w", address, err).WithHint("check the address, and that this host reaches it")
	}
	defer conn.Close() //nolint:errcheck // nothing was sent
	certs := conn.(*tls.Conn).ConnectionState().PeerCertificates
	sum := sha256.Sum256(certs[0].Raw)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
