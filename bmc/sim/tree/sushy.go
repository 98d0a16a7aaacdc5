package tree

// Sushy is the shape of sushy-tools' emulator: an override that is always shown as Continuous, and
// the word None for no URI.
func Sushy() *Tree { return &Tree{make: sushy} }

func sushy() resources {
	r := generic()
	own := boot("Hdd", ModeUEFI, "Pxe", "Cd", "Hdd", "UefiHttp")
	own[BootEnabled], own[BootURI] = "Continuous", "None"
	r[SystemURI]["Boot"] = own
	return r
}
