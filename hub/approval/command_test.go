package approval

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"rackboot/protocol/wire"
)

// signWith signs what is on the standard input with a file, as a command is to.
func signWith(path string) int {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 1
	}
	key, err := wire.ParsePrivateKey(raw)
	if err != nil {
		return 1
	}
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		return 1
	}
	message, err := base64.StdEncoding.DecodeString(strings.TrimSpace(line))
	if err != nil {
		return 1
	}
	fmt.Println(base64.StdEncoding.EncodeToString(ed25519.Sign(key, message)))
	return 0
}

// withDeadline is a caller that does not wait for long.
func withDeadline(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), 300*time.Millisecond)
}
