package brokers

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	hubcluster "rackboot/hub/cluster"
	"rackboot/protocol"
	"rackboot/state/jetstream"
)

// NATS servers that ask for a certificate or for credentials let a hub in that has them, and one that has not is told what
// to look at.
func TestServersAskWhoItIs(t *testing.T) {
	t.Parallel()
	program, dir := natsProgram(t), t.TempDir()
	ca := writeBrokerCertificate(t, dir)
	cert, key := filepath.Join(dir, "broker.pem"), filepath.Join(dir, "broker.key")
	good, stranger, operator := credentials(t, dir)
	c := &cluster{t: t}
	start := func(name, text string) string {
		sv := &server{t: t, name: name, dir: dir, addr: freeAddress(t), program: program}
		conf := filepath.Join(dir, name+".conf")
		if err := os.WriteFile(conf, fmt.Appendf(nil, "server_name: %s\nlisten: %q\njetstream { store_dir: %q, sync_interval: always }\n%s", name, sv.addr, filepath.Join(dir, name), text), 0o600); err != nil {
			t.Fatal(err)
		}
		sv.args = []string{"-c", conf}
		sv.start()
		t.Cleanup(sv.kill)
		c.await(name+" listens", func() error {
			conn, err := net.Dial("tcp", sv.addr)
			if err == nil {
				err = conn.Close()
			}
			return err
		})
		return sv.addr
	}
	secure := start("secure", fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }\n", cert, key, ca))
	asking := start("asking", operator)
	for name, row := range map[string]struct {
		config hubcluster.Config
		code   protocol.Code // empty is let in
	}{
		"certificate":        {hubcluster.Config{URLs: []string{"tls://" + secure}, CAFile: ca, CertFile: cert, KeyFile: key}, ""},
		"no certificate":     {hubcluster.Config{URLs: []string{"tls://" + secure}, CAFile: ca}, protocol.CodeUnavailable},
		"another authority":  {hubcluster.Config{URLs: []string{"tls://" + secure}, CertFile: cert, KeyFile: key}, protocol.CodeUnavailable},
		"credentials":        {hubcluster.Config{URLs: []string{"nats://" + asking}, Credentials: good}, ""},
		"no credentials":     {hubcluster.Config{URLs: []string{"nats://" + asking}}, protocol.CodeDenied},
		"another's":          {hubcluster.Config{URLs: []string{"nats://" + asking}, Credentials: stranger}, protocol.CodeDenied},
		"a file that is not": {hubcluster.Config{URLs: []string{"nats://" + asking}, Credentials: filepath.Join(dir, "nowhere")}, protocol.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			to, err := hubcluster.Dial(t.Context(), row.config, slog.New(slog.DiscardHandler), hubcluster.NewLost())
			if row.code != "" {
				if protocol.CodeOf(err) != row.code || protocol.HintOf(err) == "" {
					t.Errorf("%v, hint %q", err, protocol.HintOf(err))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer to.Close()
			kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: to.Conn(), Name: "rackboot", Timeout: waitAtMost})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := kv.Create(t.Context(), "a", []byte("1")); err != nil {
				t.Error(err)
			}
		})
	}
}

// credentials are files of a user of an account with JetStream, as nsc writes them, and of one of an account that the
// server does not know; and the part of the server's file that has the former's operator and account.
func credentials(t *testing.T, dir string) (good, stranger, operator string) {
	t.Helper()
	pair := func(make func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		p, err := make()
		if err != nil {
			t.Fatal(err)
		}
		public, err := p.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return p, public
	}
	signed := func(c interface {
		Encode(nkeys.KeyPair) (string, error)
	}, by nkeys.KeyPair,
	) string {
		token, err := c.Encode(by)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	top, topName := pair(nkeys.CreateOperator)
	system, systemName := pair(nkeys.CreateAccount)
	_ = system // nobody logs in to it
	account, accountName := pair(nkeys.CreateAccount)
	other, _ := pair(nkeys.CreateAccount)
	is := jwt.NewAccountClaims(accountName)
	is.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: 1 << 30, MemoryStorage: 1 << 20, Streams: -1, Consumer: -1}
	user := func(name string, of nkeys.KeyPair) string {
		own, public := pair(nkeys.CreateUser)
		seed, err := own.Seed()
		if err != nil {
			t.Fatal(err)
		}
		file, err := jwt.FormatUserConfig(signed(jwt.NewUserClaims(public), of), seed)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name+".creds")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	about := jwt.NewOperatorClaims(topName)
	about.SystemAccount = systemName
	operator = fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: {\n%s: %s\n%s: %s\n}\n",
		signed(about, top), systemName, accountName, signed(is, top), systemName, signed(jwt.NewAccountClaims(systemName), top))
	return user("hub", account), user("stranger", other), operator
}
