package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/bmc"
	"rackboot/bmc/capture"
	"rackboot/bmc/oldtls"
	"rackboot/bmc/redfish"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// directProbe reads a BMC without hub and agent.
type directProbe struct {
	on, legacyTLS                       bool
	address, user, passwordFile, system string
	record                              string // the file of a capture
	pin                                 pin
}

func (d *directProbe) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&d.on, "direct", false, "read the BMC from this host, without hub and agent")
	cmd.Flags().StringVar(&d.address, "address", "", "with --direct: https://host[:port] of the BMC")
	cmd.Flags().StringVar(&d.user, "user", "", "with --direct: the account")
	cmd.Flags().StringVar(&d.passwordFile, "password-file", "", "with --direct: file with its password, - for standard input")
	cmd.Flags().BoolVar(&d.legacyTLS, "legacy-tls", false, "with --direct: also by TLS that is too old, as spec.tls.legacy of a BMC")
	cmd.Flags().StringVar(&d.record, "record", "", "with --direct: write what the BMC answered to this new file, scrubbed")
	d.pin.flags(cmd)
}

func (d *directProbe) probe(ctx context.Context, src *files.Input, pr *printer.Printer) (out api.ProbeList, err error) {
	ctx, cancel := context.WithTimeout(ctx, api.ProbeWait)
	defer cancel()
	target, err := d.target(ctx, src, pr)
	if err != nil {
		return out, err
	}
	config, seen := redfish.Config{}, capture.New(target.Credentials.Username, hostOf(d.address))
	if d.record != "" {
		config.Seen = seen.See
	}
	p, err := probeAt(ctx, target, config)
	if d.record != "" {
		err = errors.Join(err, d.keep(seen, pr)) // what a probe failed by may be in what was answered
	}
	if err != nil {
		return out, err
	}
	return api.JudgeProbes([]protocol.Probe{p}), nil
}

// keep writes a capture.
func (d *directProbe) keep(seen *capture.Recorder, pr *printer.Printer) error {
	var raw bytes.Buffer
	if err := seen.Write(&raw); err != nil {
		return err
	}
	if err := files.WriteNew(d.record, raw.Bytes()); err != nil {
		return err
	}
	pr.Progress("%s has what the BMC answered, without passwords, and with other addresses, serial numbers and names; look through it before you send it", d.record)
	return nil
}

// hostOf is the host in an address.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// target is the BMC that the flags name, with its account and its pin.
func (d *directProbe) target(ctx context.Context, src *files.Input, pr *printer.Printer) (target bmc.Target, err error) {
	if d.address == "" || d.user == "" || d.passwordFile == "" {
		return target, protocol.Errorf(protocol.CodeInvalid, "", "--direct needs --address, --user and --password-file")
	}
	password, err := src.Small(d.passwordFile)
	if err != nil {
		return target, err
	}
	target = bmc.Target{
		Server: "probe", Address: d.address, SystemURI: d.system, LegacyTLS: d.legacyTLS,
		Credentials: bmc.Credentials{Username: d.user, Password: strings.TrimRight(password, "\r\n")},
	}
	if !strings.HasPrefix(d.address, "http://") { // which is for loopback, and has no certificate
		pinned, err := resolve(src, pr, d.pin, d.address, func() (string, error) { return shownBy(ctx, d.address) })
		if err != nil {
			return target, err
		}
		target.Fingerprint, target.CA = pinned.Fingerprint, []byte(pinned.CA)
	}
	return target, nil
}

// probeAt reads a BMC from this host.
func probeAt(ctx context.Context, target bmc.Target, config redfish.Config) (protocol.Probe, error) {
	driver, err := openAt(target, config)
	if err != nil {
		return protocol.Probe{}, err
	}
	defer driver.Close() //nolint:errcheck // the session ends by itself where it cannot be ended
	return probeBy(ctx, driver)
}

func openAt(target bmc.Target, config redfish.Config) (bmc.Driver, error) {
	dialer, err := redfish.New(config)
	if err != nil {
		return nil, err
	}
	return dialer.Open(target)
}

func probeBy(ctx context.Context, driver bmc.Driver) (protocol.Probe, error) {
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
	d := tls.Dialer{Config: oldtls.Dials(&tls.Config{InsecureSkipVerify: true})}
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, op, "%s: %w", address, err).WithHint("check the address, and that this host reaches it")
	}
	defer conn.Close() //nolint:errcheck // nothing was sent
	certs := conn.(*tls.Conn).ConnectionState().PeerCertificates
	sum := sha256.Sum256(certs[0].Raw)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
