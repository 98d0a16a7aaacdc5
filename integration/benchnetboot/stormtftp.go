package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Clients of the storm wait as long as EDK2, and ask as often.
const (
	stormTimer = 4 * time.Second
	stormTries = 6
)

// loader is one of the storm's TFTP clients: lockstep, as firmware is whose server knows
// no window.
type loader struct {
	fd     int
	last   uint16
	got    int64
	joined bool // the socket is connected to the server's port of the transfer
	begun  bool
	tries  int
	due    time.Time
	done   bool
	say    [4]byte
}

// storm runs so many TFTP clients at once by one goroutine and epoll(7), so that they cost
// the machine less than the server does.
type storm struct {
	job     job
	epoll   int
	request []byte
	server  unix.SockaddrInet4
	all     []loader
	left    int
	resent  int
	buf     [blockSize + 100]byte
}

// fetchTFTPStorm fetches the file for all clients at once.
func (j job) fetchTFTPStorm() (told, error) {
	options := []string{fileName, "octet", "blksize", strconv.Itoa(blockSize)}
	s := &storm{
		job: j, request: append([]byte{0, opRead}, strings.Join(options, "\x00")+"\x00"...),
		server: unix.SockaddrInet4{Port: tftpPort, Addr: [4]byte(net.ParseIP(serverAddress).To4())}, all: make([]loader, j.Clients), left: j.Clients,
	}
	var err error
	if s.epoll, err = unix.EpollCreate1(0); err != nil {
		return told{}, err
	}
	defer unix.Close(s.epoll)
	for i := range s.all {
		if err := s.open(i); err != nil {
			return told{}, err
		}
	}
	begun := time.Now()
	for i := range s.all {
		s.ask(&s.all[i], begun)
	}
	for s.left > 0 {
		if err := s.turn(); err != nil {
			return told{}, err
		}
	}
	return told{Took: time.Since(begun), Resent: s.resent}, nil
}

func (s *storm) open(i int) (err error) {
	l := &s.all[i]
	if l.fd, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK, 0); err != nil {
		return err
	}
	if err := unix.Bind(l.fd, &unix.SockaddrInet4{Addr: [4]byte(net.ParseIP(clientAddress).To4())}); err != nil {
		return err
	}
	return unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, l.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)})
}

// ask sends the request, or repeats what was said last.
func (s *storm) ask(l *loader, now time.Time) {
	l.due = now.Add(stormTimer)
	if !l.begun {
		_ = unix.Sendto(l.fd, s.request, 0, &s.server) // a loss is repeated
		return
	}
	s.acknowledge(l)
}

func (s *storm) acknowledge(l *loader) {
	binary.BigEndian.PutUint16(l.say[:], opAck)
	binary.BigEndian.PutUint16(l.say[2:], l.last)
	_, _ = unix.Write(l.fd, l.say[:]) // a loss is repeated
}

// turn takes what has come, and repeats what was not answered.
func (s *storm) turn() error {
	var events [256]unix.EpollEvent
	n, err := unix.EpollWait(s.epoll, events[:], 100)
	if err != nil && !errors.Is(err, syscall.EINTR) {
		return err
	}
	now := time.Now()
	for _, e := range events[:max(0, n)] {
		if err := s.hear(&s.all[e.Fd], now); err != nil {
			return err
		}
	}
	if n == len(events) {
		return nil
	}
	for i := range s.all {
		l := &s.all[i]
		if l.done || now.Before(l.due) {
			continue
		}
		if l.tries++; l.tries >= stormTries {
			return fmt.Errorf("client %d gave up after %d bytes", i, l.got)
		}
		s.resent++
		s.ask(l, now)
	}
	return nil
}

func (s *storm) hear(l *loader, now time.Time) error {
	var n int
	var err error
	if l.joined {
		n, err = unix.Read(l.fd, s.buf[:])
	} else {
		var from unix.Sockaddr
		if n, from, err = unix.Recvfrom(l.fd, s.buf[:], 0); err == nil {
			l.joined, err = true, unix.Connect(l.fd, from)
		}
	}
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil
	}
	if err != nil {
		return err
	}
	b := s.buf[:n]
	if n < 4 {
		return errors.New("a packet that is too short")
	}
	switch binary.BigEndian.Uint16(b) {
	case opOptAck:
		if l.begun {
			return nil
		}
	case opData:
		if binary.BigEndian.Uint16(b[2:]) != l.last+1 {
			return nil // it came twice
		}
		l.last++
		l.got += int64(n - 4)
	default:
		return fmt.Errorf("the server says %q", b)
	}
	l.begun, l.tries, l.due = true, 0, now.Add(stormTimer)
	s.acknowledge(l)
	if n < blockSize+4 && binary.BigEndian.Uint16(b) == opData {
		l.done = true
		s.left--
		_ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_DEL, l.fd, nil)
		if l.got != s.job.Size {
			return fmt.Errorf("%d bytes of %d", l.got, s.job.Size)
		}
	}
	return nil
}
