package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/hub/webhooks"
)

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// TestWebhookConfig: what is wrong with a webhook is named with its place, and no part of its URL that may
// be secret.
func TestWebhookConfig(t *testing.T) {
	many := strings.Repeat("- {name: x, url: https://a.example, secretFile: s}\n", webhooks.MaxHooks+1)
	for text, want := range map[string]string{
		"- {name: a, url: https://a.example/in?token=canary, secretFile: s, codes: [HoldViolated], racks: [r1], timeout: 5s, giveUpAfter: 1h}": "",
		"- {name: a, url: http://127.0.0.1:80/, secretFile: s}":                                                                                "",
		"- {name: a, url: http://a.example/canary, secretFile: s}":                                                                             "webhooks[0].url: it is not https",
		"- {name: a, url: http://a.example/canary, plainHTTP: true, secretFile: s}":                                                            "",
		"- {name: a, url: https://canary:canary@a.example, secretFile: s}":                                                                     "webhooks[0].url: it has a name or password",
		"- {name: A, url: https://a.example, secretFile: s}":                                                                                   "webhooks[0].name: \"A\" is not a name",
		"- {name: a, url: https://a.example}":                                                                                                  "webhooks[0].secretFile is needed",
		"- {name: a, url: https://a.example, secretFile: s, codes: [HoldViolatd]}":                                                             "webhooks[0].codes: \"HoldViolatd\" is not a code",
		"- {name: a, url: https://a.example, secretFile: s, timeout: 1h}":                                                                      "webhooks[0].timeout: 1h0m0s is not between",
		"- {name: a, url: https://a.example, secretFile: s, giveUpAfter: 1s}":                                                                  "webhooks[0].giveUpAfter: 1s is less",
		"- {name: a, url: https://a.example, secretFile: s}\n- {name: a, url: https://a.example, secretFile: s}":                               "webhooks[1].name: there is another",
		many: "webhooks: there are 17, more than 16",
	} {
		file := filepath.Join(t.TempDir(), "hub.yaml")
		if err := os.WriteFile(file, fmt.Appendf(nil, "dataDir: d\napi: 127.0.0.1:1\nmqtt: 127.0.0.1:2\nnames: [hub]\nwebhooks:\n%s\n", text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadConfig(file)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, not %q", text, err, want)
		case err != nil && strings.Contains(err.Error(), "canary"):
			t.Errorf("it is told: %v", err)
		}
	}
}

// TestWebhookSecretFile: a file of secrets that others may read is refused, and no error has what is in it.
func TestWebhookSecretFile(t *testing.T) {
	dir := t.TempDir()
	for name, row := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"two":     {webhookSecret + "\n" + webhookSecret + "\n", 0o600, ""},
		"open":    {webhookSecret, 0o640, "may be read by others (mode 0640)"},
		"another": {"canary", 0o600, "line 1 is not whsec_"},
		"empty":   {"", 0o600, "no secret"},
		"long":    {strings.Repeat("canary", maxSecretFile), 0o600, "line 1 is not whsec_"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(row.text), row.mode); err != nil {
			t.Fatal(err)
		}
		got, err := readSecrets(file)
		switch {
		case row.want == "" && (err != nil || len(got) != 2):
			t.Errorf("%s: %d, %v", name, len(got), err)
		case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "canary")):
			t.Errorf("%s: %v, not %q", name, err, row.want)
		}
	}
	if _, err := readSecrets(filepath.Join(dir, "none")); err == nil {
		t.Error("no file is read")
	}
	if _, err := trusting(filepath.Join(dir, "two")); err == nil || strings.Contains(err.Error(), webhookSecret) {
		t.Errorf("a file of CAs that is none: %v", err)
	}
}
