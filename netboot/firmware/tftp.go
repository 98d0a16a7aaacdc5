package firmware

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
)

// TFTP's opcodes (RFC 1350 section 5, RFC 2347).
const (
	tftpRead  = 1
	tftpData  = 3
	tftpAck   = 4
	tftpError = 5
	tftpOACK  = 6

	tftpNotFound = 1
	tftpAborted  = 8 // EDK2's "User aborted the transfer"

	tftpPort = 69
	// What EDK2 asks for over Ethernet.
	tftpBlksize = 1468
	tftpWindow  = 4
	// tftpWait and tftpTries are PXEBC_MTFTP_TIMEOUT and PXEBC_MTFTP_RETRIES.
	tftpWait  = 4 * time.Second
	tftpTries = 6
	maxPacket = 65536
)

// bootServer is where the file is: siaddr, else option 54. EDK2 reads neither sname
// nor option 66.
func bootServer(p *dhcpv4.DHCPv4) netip.Addr {
	if a := addr4(p.ServerIPAddr); a.IsValid() && !a.IsUnspecified() {
		return a
	}
	return addr4(p.Options.Get(dhcpv4.OptionServerIdentifier))
}

// transfer is PxeBcMtftp.c: the size is asked for and that transfer ended by ERROR 8,
// then the file is read in windows.
func (c *Client) transfer(ctx context.Context, server netip.AddrPort, name string) (Result, error) {
	size, err := c.tftp(ctx, server, name, true)
	if err != nil {
		return Result{}, err
	}
	r, err := c.tftp(ctx, server, name, false)
	if err != nil {
		return Result{}, err
	}
	if r.Size != size.Size {
		return Result{}, protocol.Errorf(protocol.CodeInvalid, "firmware", "%w: tsize %d, %d bytes received", ErrProtocol, size.Size, r.Size)
	}
	return r, nil
}

// tftp is one transfer; probe asks for the size only.
func (c *Client) tftp(ctx context.Context, server netip.AddrPort, name string, probe bool) (Result, error) {
	t, err := c.dialTFTP(ctx, server)
	if err != nil {
		return Result{}, err
	}
	defer t.conn.Close()
	defer context.AfterFunc(ctx, func() { _ = t.conn.SetDeadline(time.Unix(1, 0)) })()
	options := []string{"blksize", strconv.Itoa(tftpBlksize), "windowsize", strconv.Itoa(tftpWindow)}
	if probe {
		options = append([]string{"tsize", "0"}, options...)
	}
	request := []byte{0, tftpRead}
	for _, s := range append([]string{name, "octet"}, options...) {
		request = append(append(request, s...), 0)
	}
	p, err := t.exchange(ctx, request)
	if err != nil {
		return Result{}, err
	}
	granted, err := oack(p)
	if err != nil {
		return Result{}, err
	}
	if probe {
		t.send([]byte{0, tftpError, 0, tftpAborted, 0})
		return Result{Size: granted["tsize"]}, nil
	}
	return t.read(ctx, name, int(granted["blksize"]), int(granted["windowsize"]))
}

// oack reads what the server grants: EDK2 refuses more than it asked for.
func oack(p []byte) (map[string]int64, error) {
	bad := func(why string) error {
		return protocol.Errorf(protocol.CodeInvalid, "firmware", "%w: %s", ErrProtocol, why)
	}
	if binary.BigEndian.Uint16(p) != tftpOACK {
		return nil, bad("no OACK")
	}
	out := map[string]int64{"blksize": 512, "windowsize": 1}
	fields := strings.Split(strings.TrimSuffix(string(p[2:]), "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		n, err := strconv.ParseInt(fields[i+1], 10, 64)
		key := strings.ToLower(fields[i])
		if most, ok := map[string]int64{"blksize": tftpBlksize, "windowsize": tftpWindow, "tsize": 1 << 40}[key]; err != nil || !ok || n < 0 || n > most {
			return nil, bad("option " + strconv.Quote(fields[i]))
		}
		out[key] = n
	}
	if out["blksize"] == 0 || out["windowsize"] == 0 {
		return nil, bad("blocks or windows of nothing")
	}
	return out, nil
}

// tftpConn is one transfer's socket. peer is the server's TID once it has answered.
type tftpConn struct {
	conn *net.UDPConn
	to   netip.AddrPort
	peer bool
	wait time.Duration
	buf  []byte
}

func (c *Client) dialTFTP(ctx context.Context, server netip.AddrPort) (*tftpConn, error) {
	pc, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp4", ":0")
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "firmware", "no socket: %w", err)
	}
	return &tftpConn{conn: pc.(*net.UDPConn), to: server, wait: c.scaled(tftpWait), buf: make([]byte, maxPacket)}, nil
}

func (t *tftpConn) send(b []byte) { _, _ = t.conn.WriteToUDPAddrPort(b, t.to) }

// exchange sends until a packet of the transfer comes. ErrRefused is ERROR 1.
func (t *tftpConn) exchange(ctx context.Context, b []byte) ([]byte, error) {
	for range tftpTries {
		t.send(b)
		p, err := t.next(ctx, time.Now().Add(t.wait))
		if err != nil || p != nil {
			return p, err
		}
	}
	return nil, protocol.Errorf(protocol.CodeTimeout, "firmware", "the TFTP server does not answer")
}

// next is the next packet of the transfer, or nil at the deadline.
func (t *tftpConn) next(ctx context.Context, until time.Time) ([]byte, error) {
	_ = t.conn.SetReadDeadline(until)
	for {
		n, from, err := t.conn.ReadFromUDPAddrPort(t.buf)
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		switch {
		case ctx.Err() != nil:
			return nil, protocol.Errorf(protocol.CodeTimeout, "firmware", "TFTP: %w", ctx.Err())
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, nil
		case err != nil:
			return nil, protocol.Errorf(protocol.CodeUnavailable, "firmware", "TFTP: %w", err)
		case from.Addr() != t.to.Addr() || t.peer && from != t.to || n < 4:
			continue
		}
		t.to, t.peer = from, true
		p := t.buf[:n]
		if binary.BigEndian.Uint16(p) != tftpError {
			return p, nil
		}
		if code := binary.BigEndian.Uint16(p[2:]); code != tftpNotFound {
			return nil, protocol.Errorf(protocol.CodeInvalid, "firmware", "TFTP: %w: ERROR %d", ErrProtocol, code)
		}
		return nil, protocol.Errorf(protocol.CodeNotFound, "firmware", "TFTP: %w", ErrRefused)
	}
}

// read takes the file, one ACK for each window.
func (t *tftpConn) read(ctx context.Context, name string, blksize, window int) (Result, error) {
	sum, r := sha256.New(), Result{URL: "tftp:" + name}
	ack := []byte{0, tftpAck, 0, 0}
	for block, due := uint16(1), 0; ; {
		var p []byte
		var err error
		if due == 0 {
			p, err = t.exchange(ctx, ack)
			due = window
		} else {
			p, err = t.next(ctx, time.Now().Add(t.wait))
		}
		if err != nil {
			return Result{}, err
		}
		if p == nil || binary.BigEndian.Uint16(p) != tftpData || binary.BigEndian.Uint16(p[2:]) != block {
			due = 0 // what is missing is asked for by the number of the last that came
			continue
		}
		data := p[4:]
		sum.Write(data)
		r.Head = append(r.Head, data[:min(len(data), headBytes-len(r.Head))]...)
		r.Size += int64(len(data))
		binary.BigEndian.PutUint16(ack[2:], block)
		block++
		due--
		if len(data) < blksize {
			t.send(ack)
			r.SHA256 = hex.EncodeToString(sum.Sum(nil))
			return r, nil
		}
	}
}
