package resource

// SecretsWay is how the secrets of a boot come to the server, such as its user data.
type SecretsWay string

// The ways.
const (
	// SecretsBMC: through its BMC, on a virtual medium or by a URL with a token, over ways that
	// nobody else reads. The boot segment sees nothing of them but sealed bytes.
	SecretsBMC SecretsWay = "bmc"
	// SecretsSegment: over the boot segment, to whoever has the boot's token and an address that
	// the agent has leased to the server.
	SecretsSegment SecretsWay = "segment"
)

// SecretsWays lists the ways.
func SecretsWays() []SecretsWay { return []SecretsWay{SecretsBMC, SecretsSegment} }

// checkSecrets reports a way that there is not; none is the default.
func checkSecrets(f *fields, path string, w SecretsWay) {
	if w != "" {
		oneOf(f, path, w, SecretsWays()...)
	}
}
