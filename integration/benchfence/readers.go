package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"rackboot/bmc/sim/hardware"
	"rackboot/netboot/firmware"
	"rackboot/protocol"
)

// readers are the firmware of the servers that boot from the network. Each gets its
// address and its file as UEFI does; then it goes on reading the file, at a rate,
// while on is open. It installs nothing: the attempt stays open and its token good.
type readers struct {
	on   gate
	dhcp *net.UDPAddr
	rate int

	mu   sync.Mutex
	done counts
}

// counts are what the readers did since the start.
type counts struct {
	Booted int   // servers that fetched their file once
	Files  int   // read to the end, at a rate
	Bytes  int64 // read at a rate
	Failed int
}

func (r *readers) counts() counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

func (r *readers) count(add func(*counts)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	add(&r.done)
}

func (r *readers) firmware(mac net.HardwareAddr) hardware.Firmware {
	return &bootFirmware{r, &firmware.Client{MAC: mac, Server: r.dhcp, Speed: 4}}
}

// bootFirmware is one server's.
type bootFirmware struct {
	readers *readers
	client  *firmware.Client
}

// Boot implements hardware.Firmware.
func (f *bootFirmware) Boot(ctx context.Context, guest *hardware.Guest, target protocol.BootTarget) error {
	if target != protocol.TargetUefiHTTP {
		<-ctx.Done()
		return nil
	}
	loaded, err := f.client.HTTPBoot(ctx)
	if err != nil {
		f.readers.count(func(c *counts) { c.Failed++ })
		return err
	}
	f.readers.count(func(c *counts) { c.Booted++ })
	guest.Running()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for ctx.Err() == nil {
		if !f.readers.on.is() {
			sleep(ctx, 50*time.Millisecond)
			continue
		}
		n, err := f.read(ctx, &http.Client{Transport: transport}, loaded.URL)
		f.readers.count(func(c *counts) {
			switch {
			case err == nil && n == loaded.Size:
				c.Files++
			case ctx.Err() == nil && f.readers.on.is():
				c.Failed++
			}
		})
		if err != nil {
			sleep(ctx, time.Second)
		}
	}
	return nil
}

// readChunk is read at once, ten to a hundred times a second.
const readChunk = 128 << 10

// read reads the file once, at the rate, until the gate closes.
func (f *bootFirmware) read(ctx context.Context, client *http.Client, url string) (n int64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, protocol.Errorf(protocol.CodeUnavailable, "read the boot file", "status %d", resp.StatusCode)
	}
	begun := time.Now()
	for f.readers.on.is() {
		m, err := io.CopyN(io.Discard, resp.Body, readChunk)
		n += m
		f.readers.count(func(c *counts) { c.Bytes += m }) // a file may take longer than the load
		if err == io.EOF {                                //nolint:errorlint // CopyN returns it bare
			return n, nil
		}
		if err != nil {
			return n, err
		}
		sleep(ctx, time.Until(begun.Add(time.Duration(n)*time.Second/time.Duration(f.readers.rate))))
	}
	return n, nil
}
