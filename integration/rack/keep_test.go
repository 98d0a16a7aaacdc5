package rack

import (
	"bytes"
	"testing"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// TestReturnWithoutRegistry: an image that a group returns to is booted with the registry
// gone, though two others were booted since and there is room for two: its files were kept
// by the hub's word. Without that word they went, and the boot waits.
func TestReturnWithoutRegistry(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]bool{"kept": true, "not kept": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 4, bmcsim.Plain())
			const size = 96 << 10
			b.quota = 5 * size / 2
			a, _ := b.start(nil)
			var images []resource.Image
			for i, of := range []string{"A", "B", "C"} {
				b.push(append([]byte("MZ"), bytes.Repeat([]byte(of), size-2)...))
				images = append(images, b.image)
				if kept && i > 0 {
					b.keep = &message.KeepIntent{Always: []string{images[0].Artefacts[0].Digest}}
				}
				b.claim(i)
				b.send(a)
				b.until("the disk boot of "+of, i, diskBoot)
				in := &b.intents[i] // nothing needs the image any more
				in.Boot, in.Power, in.Releasing = nil, resource.WantOff, true
				b.send(a)
				b.until("the end of "+of, i, func(r resource.ServerReport) bool { return r.Released })
			}
			b.reg.down.Store(true)
			b.image = images[0]
			b.claim(3)
			b.send(a)
			if !kept {
				b.until("the boot waits", 3, has(resource.CondArtefactsFailed))
				return
			}
			b.until("the disk boot of the image before", 3, diskBoot)
			if got := b.servers[3].Disk.Digest(); got != images[0].Artefacts[0].Digest {
				t.Errorf("installed %s", got)
			}
		})
	}
}
