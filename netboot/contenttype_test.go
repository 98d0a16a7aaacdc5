package netboot

import "testing"

func TestContentType(t *testing.T) {
	for name, want := range map[string]string{
		"shimx64.efi": "application/efi", "d/BOOTX64.EFI": "application/efi", "disc.iso": "application/vnd.efi-iso",
		"disk.img": "application/vnd.efi-img", "disk.img.gz": TypeOther, "vmlinuz": TypeOther, "a.efi/grub.cfg": TypeOther, "": TypeOther,
	} {
		if got := ContentType(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
