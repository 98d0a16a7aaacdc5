package dhcp

import (
	"bytes"
	"net"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// FuzzReadAsCodec: a message is read as the codec reads it, who wants an END; and what was read is kept when
// the buffer is another packet's.
func FuzzReadAsCodec(f *testing.F) {
	long := client(dhcpv4.MessageTypeDiscover, mac1, with(43, bytes.Repeat([]byte{7}, 600)...), with(82, 1, 2, 'p', '7'))
	twice := client(dhcpv4.MessageTypeDiscover, mac1, withText(60, "HTTP")).ToBytes()
	twice = append(bytes.TrimRight(twice, "\x00\xff"), "\x3c\x06Client\x00\x00\x3c\x00\xff\x01"...)
	header := client(dhcpv4.MessageTypeDiscover, mac1).ToBytes()[:optionsAt]
	for _, raw := range [][]byte{
		long.ToBytes(), twice, header, header[:optionsAt-1], append(bytes.Clone(header), 53), append(bytes.Clone(header), 53, 1),
		append(bytes.Clone(header), 53, 1, 1), append(bytes.Clone(header), 53, 0), append(bytes.Repeat([]byte{200}, cookieAt), 99, 130, 83, 99, 255),
		{},
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		given := bytes.Clone(raw)
		got, err := readMessage(given)
		clear(given)
		want, wantErr := dhcpv4.FromBytes(raw)
		if wantErr != nil && len(raw) > optionsAt {
			want, wantErr = dhcpv4.FromBytes(append(bytes.Clone(raw), optionEnd))
		}
		if wantErr != nil || err != nil {
			if (wantErr == nil) != (err == nil) {
				t.Fatalf("%v, the codec says %v", err, wantErr)
			}
			return
		}
		if !bytes.Equal(got.ToBytes(), want.ToBytes()) || len(got.Options) != len(want.Options) {
			t.Fatalf("read as %s\nthe codec says %s", got, want)
		}
		for code, v := range want.Options {
			if had, is := got.Options[code]; !is || !bytes.Equal(had, v) {
				t.Fatalf("option %d is %x, %t; the codec says %x", code, had, is, v)
			}
		}
		if got.HopCount != want.HopCount || got.ServerHostName != want.ServerHostName || got.BootFileName != want.BootFileName {
			t.Fatalf("read as %s\nthe codec says %s", got, want)
		}
		if !bytes.Equal(writeMessage(got), want.ToBytes()) {
			t.Fatalf("written as %x\nthe codec writes %x", writeMessage(got), want.ToBytes())
		}
	})
}

// TestWriteAsCodec: messages that nobody sends us are written as the codec writes them.
func TestWriteAsCodec(t *testing.T) {
	all := client(dhcpv4.MessageTypeAck, mac1)
	for code := range 256 {
		all.Options[byte(code)] = bytes.Repeat([]byte{byte(code)}, code*3)
	}
	filled := client(dhcpv4.MessageTypeOffer, mac1, with(61))
	filled.ServerHostName, filled.BootFileName = string(bytes.Repeat([]byte{'s'}, 70)), string(bytes.Repeat([]byte{'f'}, 130))
	filled.YourIPAddr, filled.ServerIPAddr = net.ParseIP("10.99.0.60"), nil
	for name, p := range map[string]*dhcpv4.DHCPv4{"all options": all, "long names": filled, "none": {Options: dhcpv4.Options{}}} {
		if got, want := writeMessage(p), p.ToBytes(); !bytes.Equal(got, want) {
			t.Errorf("%s: %x\nwant %x", name, got, want)
		}
	}
}

// TestMessagesAllocateLittle: the bound is what makes an exchange cheap.
func TestMessagesAllocateLittle(t *testing.T) {
	raw := client(dhcpv4.MessageTypeDiscover, mac1, withText(60, "PXEClient:Arch:00007:UNDI:003016"), with(93, 0, 7), with(97, make([]byte, 17)...), with(55, 1, 2, 3)).ToBytes()
	n := testing.AllocsPerRun(100, func() {
		p, err := readMessage(raw)
		if err != nil {
			t.Fatal(err)
		}
		writeMessage(p)
	})
	if n > 8 {
		t.Errorf("%v allocations for a message that is read and written", n)
	}
}
