package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// evKey and keyPower are Linux input-event-codes.h EV_KEY and KEY_POWER.
	evKey    = 1
	keyPower = 116
	// inputEvent is the size of struct input_event on 64 bits: time, type, code, value.
	inputEvent   = 24
	inputTimeout = 20 * time.Second
)

// system is the installed system: it says which boot this is, and returns when the
// power button is pressed.
func system() error {
	events, err := inputs()
	if err != nil {
		return err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return err
	}
	say("system runs from disk, boot %s", strings.TrimSpace(string(boot)))
	pressed := make(chan error, len(events))
	for _, f := range events {
		go func() { pressed <- awaitPower(f) }()
	}
	return <-pressed
}

// inputs opens the input devices, one of which is the power button.
func inputs() ([]*os.File, error) {
	for deadline := time.Now().Add(inputTimeout); ; time.Sleep(100 * time.Millisecond) {
		paths, err := filepath.Glob("/dev/input/event*")
		if err != nil {
			return nil, err
		}
		var out []*os.File
		for _, p := range paths {
			f, err := os.Open(p)
			if err != nil {
				return nil, err
			}
			out = append(out, f)
		}
		if len(out) > 0 {
			return out, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("no input device in %s", inputTimeout)
		}
	}
}

// awaitPower returns when the power button goes down.
func awaitPower(f *os.File) error {
	buf := make([]byte, inputEvent*16)
	for {
		n, err := f.Read(buf)
		if err != nil {
			return err
		}
		for e := buf[:n]; len(e) >= inputEvent; e = e[inputEvent:] {
			kind, code, value := binary.LittleEndian.Uint16(e[16:]), binary.LittleEndian.Uint16(e[18:]), binary.LittleEndian.Uint32(e[20:])
			if kind == evKey && code == keyPower && value == 1 {
				say("power button")
				return nil
			}
		}
	}
}
