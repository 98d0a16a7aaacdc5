package simulate

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"rackboot/integration/sim"
)

// ukiSize is about that of the images which the demo boots, in bytes.
const ukiSize = 5 << 20

// uki writes something to boot, for who has no image at hand.
func uki() *cobra.Command {
	return &cobra.Command{
		Use: "uki FILE", Short: "Write a unified kernel image that simulated machines install, and no firmware runs", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			if err != nil {
				return err
			}
			if _, err := f.Write(image(args[0])); err != nil {
				_ = f.Close() // it is given up
				return err
			}
			return f.Close()
		},
	}
}

// image is a unified kernel image. Each name is another one, so that one can be told from the next.
func image(name string) []byte {
	line := fmt.Sprintf("%s: no kernel, for simulated machines\n", name)
	return sim.UKI(bytes.Repeat([]byte(line), ukiSize/len(line)))
}
