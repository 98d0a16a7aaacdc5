package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"rackboot/integration/benchreport"
)

// TFTP on the wire: RFC 1350, 2347, 2348, 7440.
const (
	tftpPort = 69
	opRead   = 1
	opData   = 3
	opAck    = 4
	opError  = 5
	opOptAck = 6

	blockSize = 1468 // an Ethernet frame
	// silence is when the client asks again.
	silence = time.Second
	// rtt is the delay of a second part: what a switch and a busy NIC cost.
	rtt = 300 * time.Microsecond
)

// tftpServers may all serve so many clients at once; dnsmasq has 50 otherwise.
func tftpServers(size int64, clients int) []entry {
	with := func(make func(dir string) (*exec.Cmd, error)) command {
		return func(dir string) (*exec.Cmd, error) {
			if err := writeFile(dir, fileName, size); err != nil {
				return nil, err
			}
			return make(dir)
		}
	}
	ready := listens("-u sport = :69")
	return []entry{
		{benchreport.Ours, "ss", with(func(dir string) (*exec.Cmd, error) { return self(job{What: serveTFTP, Dir: dir}) }), ready},
		{"dnsmasq", "dnsmasq", with(func(dir string) (*exec.Cmd, error) {
			return exec.Command("dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--interface="+serverDevice, //nolint:noctx // it is ended by its contestant
				"--enable-tftp", "--tftp-max="+strconv.Itoa(2*clients), "--tftp-root="+dir, "--pid-file=", "--user=root", "--log-facility=-"), nil
		}), ready},
		{"tftpd-hpa", "in.tftpd", with(func(dir string) (*exec.Cmd, error) {
			return exec.Command("in.tftpd", "--foreground", "--address", serverAddress+":69", "--user", "root", "--secure", dir), nil //nolint:noctx // it is ended by its contestant
		}), ready},
	}
}

// measureTFTP fetches a file by one stream, with a window of one block and of 16. A
// server that does not know the option answers without it.
func measureTFTP(ctx context.Context, p plan, r *benchreport.Report) (err error) {
	const what = "TFTP, one stream"
	in, err := entered(ctx, r, what, tftpServers(p.tftp, p.storm))
	defer func() { err = errors.Join(err, leaveAll(in)) }()
	if err != nil {
		return err
	}
	for _, delay := range []time.Duration{0, rtt} {
		label, late := ", no delay", time.Duration(0)
		if delay != 0 {
			label = ", round trip " + delay.String()
			if slow(ctx, in, delay) != nil { // a kernel without it
				label, late = label+" (in the client)", delay
			}
		}
		for _, window := range []int{1, 16} {
			rates := make(map[*contestant][]float64)
			for round := range p.rounds {
				for _, c := range benchreport.Rotated(in, round) {
					took, err := c.fetch(ctx, job{What: fetchTFTP, Size: p.tftp, Window: window, Delay: late})
					if err != nil {
						return err
					}
					rates[c] = append(rates[c], float64(p.tftp)/took.Seconds()/1e6)
				}
			}
			group := make([]benchreport.Figure, 0, len(in))
			for _, c := range in {
				group = append(group, benchreport.Figure{What: fmt.Sprintf("%s, window %d%s", what, window, label), Subject: c.name, Value: benchreport.Median(rates[c]), Unit: "MB/s"})
			}
			r.Add(group...)
		}
	}
	return nil
}

// slow delays what the clients send, by the kernel's netem.
func slow(ctx context.Context, in []*contestant, delay time.Duration) error {
	if _, err := exec.LookPath("tc"); err != nil {
		return err
	}
	for _, c := range in {
		if err := c.client.Run(ctx, "tc qdisc add dev "+clientDevice+" root netem delay "+strconv.FormatInt(delay.Microseconds(), 10)+"us limit 10000"); err != nil {
			return err
		}
	}
	return nil
}

// fetchTFTP fetches the file.
func (j job) fetchTFTP() (told, error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(clientAddress)})
	if err != nil {
		return told{}, err
	}
	defer conn.Close()
	_ = conn.SetReadBuffer(1 << 20) // a larger window than the default has room for
	begun := time.Now()
	n, err := j.receive(conn)
	if err == nil && n != j.Size {
		err = fmt.Errorf("%d bytes of %d", n, j.Size)
	}
	return told{Took: time.Since(begun)}, err
}

// receive is the client's half of a transfer: it acknowledges each window, and what
// it has when a block is missing or nothing comes.
func (j job) receive(conn *net.UDPConn) (got int64, err error) {
	to := &net.UDPAddr{IP: net.ParseIP(serverAddress), Port: tftpPort}
	options := []string{fileName, "octet", "blksize", strconv.Itoa(blockSize)}
	if j.Window > 1 {
		options = append(options, "windowsize", strconv.Itoa(j.Window))
	}
	say := append([]byte{0, opRead}, strings.Join(options, "\x00")+"\x00"...)
	if _, err := conn.WriteToUDP(say, to); err != nil {
		return 0, err
	}
	window, last, since, quiet, gap := 1, uint16(0), 0, 0, false
	ack := func() error {
		say, since = binary.BigEndian.AppendUint16([]byte{0, opAck}, last), 0
		for begun := time.Now(); time.Since(begun) < j.Delay; { // timers are too coarse, and nothing comes: the server waits
			continue
		}
		_, err := conn.WriteToUDP(say, to)
		return err
	}
	buf := make([]byte, blockSize+100)
	for {
		if err := conn.SetReadDeadline(time.Now().Add(silence)); err != nil {
			return got, err
		}
		n, from, err := conn.ReadFromUDP(buf)
		switch {
		case err != nil && quiet < 5:
			quiet++
			if _, err := conn.WriteToUDP(say, to); err != nil {
				return got, err
			}
			continue
		case err != nil:
			return got, err
		case n < 4:
			return got, errors.New("a packet that is too short")
		}
		quiet, to = 0, from
		switch binary.BigEndian.Uint16(buf) {
		case opOptAck:
			window = windowOf(string(buf[2:n]))
			if err := ack(); err != nil {
				return got, err
			}
		case opData:
			if binary.BigEndian.Uint16(buf[2:]) != last+1 {
				if !gap { // once for each gap: RFC 7440 section 4
					gap = true
					if err := ack(); err != nil {
						return got, err
					}
				}
				continue
			}
			gap = false
			last++
			got += int64(n - 4)
			if since++; since >= window || n < blockSize+4 {
				if err := ack(); err != nil {
					return got, err
				}
			}
			if n < blockSize+4 {
				return got, nil
			}
		case opError:
			return got, fmt.Errorf("the server says %q", buf[4:n])
		}
	}
}

// windowOf is the window that the server agreed to.
func windowOf(options string) int {
	words := strings.Split(options, "\x00")
	for i := 0; i+1 < len(words); i += 2 {
		if strings.EqualFold(words[i], "windowsize") {
			if n, err := strconv.Atoi(words[i+1]); err == nil && n > 0 {
				return n
			}
		}
	}
	return 1
}
