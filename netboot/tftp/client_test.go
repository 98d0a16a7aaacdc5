package tftp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	clientTimer = 4 * time.Second // EDK2's PXEBC_MTFTP_TIMEOUT
	clientTries = 6               // and PXEBC_MTFTP_RETRIES
)

var (
	errMalformedOACK = errors.New("malformed OACK")
	errSilence       = errors.New("no answer")
)

// gotError is an ERROR of the server.
type gotError uint16

func (e gotError) Error() string { return fmt.Sprintf("ERROR %d", uint16(e)) }

// wire is a client's socket. *net.UDPConn is one.
type wire interface {
	ReadFromUDPAddrPort(b []byte) (n int, from netip.AddrPort, err error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
	SetReadDeadline(t time.Time) error
	Close() error
}

// option is one of a request.
type option struct{ name, value string }

func edk2Options() []option { return []option{{"blksize", "1468"}, {"windowsize", "4"}} }

// client behaves like EDK2: a timer of 4 s and six tries, an ACK for each block
// that it did not expect, and no patience with an OACK that does not fit.
type client struct {
	sock    wire
	server  netip.AddrPort
	options []option
	mode    string
	sizing  bool // it wants the size only, and aborts after the OACK
	discard bool // it counts the bytes and does not keep them

	tid     netip.AddrPort
	last    []byte // what is sent again
	oack    map[string]string
	blksize int
	window  int
	bytes   int
	ack     [headerSize]byte
	buf     []byte
}

func requestPacket(name, mode string, options ...option) []byte {
	b := []byte{0, opRead}
	b = append(append(b, name...), 0)
	b = append(append(b, mode...), 0)
	for _, o := range options {
		b = append(append(b, o.name...), 0)
		b = append(append(b, o.value...), 0)
	}
	return b
}

// fetch gets a file.
func (c *client) fetch(name string) ([]byte, error) {
	c.blksize, c.window, c.oack, c.tid, c.bytes = plainBlksize, 1, nil, netip.AddrPort{}, 0
	if c.mode == "" {
		c.mode = modeOctet
	}
	if c.buf == nil {
		c.buf = make([]byte, maxBlksize+headerSize)
	}
	var file []byte
	expected, inWindow := uint16(1), 0
	c.send(requestPacket(name, c.mode, c.options...), c.server)
	for tries := 0; ; {
		_ = c.sock.SetReadDeadline(time.Now().Add(clientTimer))
		n, from, err := c.sock.ReadFromUDPAddrPort(c.buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if tries++; tries >= clientTries {
				return nil, errSilence
			}
			c.again()
			continue
		}
		if err != nil {
			return nil, err
		}
		b := c.buf[:n]
		if from.Addr() != c.server.Addr() {
			continue
		}
		if !c.tid.IsValid() && opcode(b) != opError {
			c.tid = from
		}
		if c.tid.IsValid() && from != c.tid {
			_, _ = c.sock.WriteToUDPAddrPort(errorPacket(errTID, ""), from)
			continue
		}
		k, ok := number(b)
		switch opcode(b) {
		case opError:
			if ok {
				return nil, gotError(k)
			}
		case opOACK:
			if c.oack == nil {
				if !c.agree(b[2:]) {
					c.send(errorPacket(errOption, "Malformatted OACK packet"), c.tid)
					return nil, errMalformedOACK
				}
				if c.sizing {
					c.send(errorPacket(errOption, "User aborted the transfer"), c.tid)
					return nil, nil
				}
			}
			if expected == 1 {
				c.acknowledge(0)
				tries = 0
			}
		case opData:
			if k != expected {
				c.acknowledge(expected - 1)
				inWindow = 0
				continue
			}
			tries = 0
			expected++
			inWindow++
			c.bytes += n - headerSize
			if !c.discard {
				file = append(file, b[headerSize:]...)
			}
			if n < headerSize+c.blksize {
				c.acknowledge(k)
				return file, nil
			}
			if inWindow == c.window {
				c.acknowledge(k)
				inWindow = 0
			}
		}
	}
}

func (c *client) acknowledge(block uint16) {
	binary.BigEndian.PutUint16(c.ack[:], opAck)
	binary.BigEndian.PutUint16(c.ack[2:], block)
	c.send(c.ack[:], c.tid)
}

func (c *client) send(b []byte, to netip.AddrPort) {
	c.last = b
	_, _ = c.sock.WriteToUDPAddrPort(b, to)
}

func (c *client) again() {
	to := c.tid
	if !to.IsValid() {
		to = c.server
	}
	_, _ = c.sock.WriteToUDPAddrPort(c.last, to)
}

// agree is EDK2's Mtftp4RrqOackValid: nothing that was not asked for, no larger
// blksize or windowsize, and the very timeout.
func (c *client) agree(b []byte) bool {
	c.oack = make(map[string]string)
	for len(b) > 0 {
		name, rest, ok := cut(b)
		if !ok {
			return false
		}
		value, rest, ok := cut(rest)
		if !ok {
			return false
		}
		b = rest
		wanted, found := "", false
		for _, o := range c.options {
			if strings.EqualFold(o.name, name) {
				wanted, found = o.value, true
			}
		}
		if _, twice := c.oack[name]; !found || twice {
			return false
		}
		c.oack[name] = value
		v, err := strconv.Atoi(value)
		if err != nil {
			return false
		}
		w, err := strconv.Atoi(wanted)
		if err != nil {
			return false
		}
		switch name {
		case "blksize":
			c.blksize = v
			if v > w || v < minBlksize {
				return false
			}
		case "windowsize":
			c.window = v
			if v > w || v < 1 {
				return false
			}
		case "timeout":
			if v != w {
				return false
			}
		}
	}
	return len(c.oack) > 0
}
