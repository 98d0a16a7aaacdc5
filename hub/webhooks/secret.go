package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Secret signs what is sent to a receiver that has it too. Printing shows nothing of it.
type Secret struct{ key []byte }

// String says that there is one.
func (Secret) String() string { return "whsec_…" }

// GoString is String.
func (s Secret) GoString() string { return s.String() }

// secretPrefix begins a secret as Standard Webhooks writes it.
const secretPrefix = "whsec_"

// MaxSecrets is how many secrets sign at once: an old and a new one while they are changed, and more.
const MaxSecrets = 4

// ParseSecrets reads a file of secrets, one a line: whsec_ and 24 to 64 bytes in base64. Lines that are
// empty, or begin with #, are passed over. The error quotes nothing.
func ParseSecrets(text string) (out []Secret, err error) {
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		encoded, is := strings.CutPrefix(line, secretPrefix)
		key, err := base64.StdEncoding.DecodeString(encoded)
		switch {
		case !is || err != nil:
			return nil, fmt.Errorf("line %d is not %s and base64", i+1, secretPrefix)
		case len(key) < 24 || len(key) > 64:
			return nil, fmt.Errorf("line %d has %d bytes, not 24 to 64", i+1, len(key))
		}
		out = append(out, Secret{key})
	}
	switch {
	case len(out) == 0:
		return nil, errors.New("there is no secret in it")
	case len(out) > MaxSecrets:
		return nil, fmt.Errorf("it has %d secrets, more than %d", len(out), MaxSecrets)
	}
	return out, nil
}

// sign is the value of webhook-signature (Standard Webhooks 1.0, "Signature scheme"): for each secret v1 and
// the HMAC-SHA256 over id, time of the attempt in Unix seconds, and body, with dots between.
func sign(secrets []Secret, id string, at time.Time, body []byte) string {
	var all []string
	for _, s := range secrets {
		h := hmac.New(sha256.New, s.key)
		h.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		h.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(h.Sum(nil)))
	}
	return strings.Join(all, " ")
}
