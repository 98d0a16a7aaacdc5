package fleet

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// random is 128 random bits in hex.
func random() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// rackName is the name of rack i, from 0.
func rackName(i int) string { return fmt.Sprintf("fleet-%04d", i+1) }

func serverName(rack string, j int) string { return fmt.Sprintf("%s-%02d", rack, j+1) }
