package link

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"rackboot/integration/memnet"
)

// Rows from MQTT 3.1.1 §2.2.3, table 2.4: the remaining length.
func TestFrameFollowsPackets(t *testing.T) {
	large := func(n int) []byte {
		p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
		p.TopicName, p.Payload = "t", make([]byte, n)
		var b bytes.Buffer
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, row := range []struct {
		name string
		data []byte
		ok   bool
	}{
		{"nothing", nil, true},
		{"PINGRESP has no body", bytes.Repeat([]byte{0xd0, 0x00}, 3), true},
		{"lengths of 1, 2 and 3 bytes", append(append(large(10), large(200)...), large(20000)...), true},
		{"the largest payload", large(MaxPayload), true},
		{"a header that states 256 MiB", []byte{0x30, 0xff, 0xff, 0xff, 0x7f}, false},
		{"a length of five bytes", []byte{0x30, 0x80, 0x80, 0x80, 0x80, 0x01}, false},
		{"just above the limit, after a good packet", append(large(10), large(maxPacket)[:5]...), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, step := range []int{1, 7, 4096, 1 << 20} {
				var f frame
				var err error
				for i := 0; i < len(row.data) && err == nil; i += step {
					err = f.follow(row.data[i:min(len(row.data), i+step)])
				}
				if (err == nil) != row.ok {
					t.Errorf("in steps of %d: %v", step, err)
				}
			}
		})
	}
}

func TestGuardEndsTheRead(t *testing.T) {
	near, far := memnet.Pipe("a", "b")
	defer near.Close()
	defer far.Close()
	if _, err := far.Write([]byte{0x30, 0xff, 0xff, 0xff, 0x7f}); err != nil {
		t.Fatal(err)
	}
	if n, err := (&guard{Conn: near}).Read(make([]byte, 64)); n != 0 || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("read %d, %v", n, err)
	}
}

// Whatever the split, the frames are the same, and what paho reads is accepted.
func FuzzFrame(f *testing.F) {
	f.Add([]byte{0x20, 0x02, 0, 0, 0xd0, 0}, 1)
	f.Add([]byte{0x30, 0xff, 0xff, 0xff, 0x7f}, 3)
	f.Add([]byte{0x30, 0x05, 0, 1, 't', 'x', 'y', 0xd0, 0}, 2)
	f.Fuzz(func(t *testing.T, data []byte, step int) {
		if step < 1 {
			return
		}
		var whole frame
		want := whole.follow(data)
		var parts frame
		var got error
		for i := 0; i < len(data) && got == nil; i += min(step, len(data)-i) {
			got = parts.follow(data[i : i+min(step, len(data)-i)])
		}
		if (want == nil) != (got == nil) || (want == nil && whole != parts) {
			t.Fatalf("whole %v %+v, parts %v %+v", want, whole, got, parts)
		}
		if want == nil && whole.body > maxPacket {
			t.Fatalf("%+v", whole)
		}
	})
}
