package s3

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"rackboot/protocol"
)

// Config says where a bucket is, and with which account it is used.
type Config struct {
	// Endpoint is https://host[:port]; http:// is allowed on loopback. Empty is that of AWS.
	Endpoint string
	// Bucket must be there. Prefix is what the names of objects begin with, without a slash at its end.
	Bucket string
	Prefix string
	// Region is that of the bucket; empty asks the store.
	Region string
	// CredentialsFile has the account as AWS's tools write it: [default], aws_access_key_id,
	// aws_secret_access_key, and aws_session_token if there is one. It is read anew for each call.
	// Empty takes the environment's AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN.
	CredentialsFile string
	// CAFile is PEM of the authorities that sign the store's certificate; empty is the system's.
	CAFile string
}

// ParseURL reads s3://bucket/prefix.
func ParseURL(s string) (bucket, prefix string, ok bool) {
	rest, ok := strings.CutPrefix(s, "s3://")
	bucket, prefix, _ = strings.Cut(rest, "/")
	return bucket, strings.Trim(prefix, "/"), ok && bucket != ""
}

const (
	opOpen      = "use the bucket"
	awsEndpoint = "https://s3.amazonaws.com"
	// idle bounds how long a connection may carry nothing while an answer or a part is under way.
	idle = time.Minute
	// retries bounds how often a call is sent, each time after a longer pause, while the store says that
	// it is busy, or does not answer.
	retries = 5
	// partSize is the size of a part in bytes; one is in memory. A store takes 10,000 of them.
	partSize = 16 << 20
)

// New makes the place. It asks nobody yet. Errors: invalid.
func New(cfg Config) (*Bucket, error) {
	invalid := func(format string, args ...any) *protocol.Error {
		return protocol.Errorf(protocol.CodeInvalid, opOpen, format, args...)
	}
	if cfg.Endpoint == "" {
		cfg.Endpoint = awsEndpoint
	}
	u, err := url.Parse(cfg.Endpoint)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, invalid("the endpoint %q is not https://host[:port]", cfg.Endpoint)
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, invalid("the endpoint %s is not https", u.Redacted()).WithHint("a backup must not travel in the clear")
	}
	cfg.Prefix = strings.Trim(cfg.Prefix, "/")
	if cfg.Bucket == "" || strings.ContainsAny(cfg.Bucket, "/\\ ") || strings.Contains("/"+cfg.Prefix+"/", "/../") {
		return nil, invalid("bucket %q with the prefix %q", cfg.Bucket, cfg.Prefix)
	}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: idle, IdleConnTimeout: idle / 2,
		MaxIdleConnsPerHost: 2, DisableCompression: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		DialContext: dial,
	}
	if cfg.CAFile != "" {
		pem, err := os.ReadFile(cfg.CAFile)
		if err != nil {
			return nil, invalid("%w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, invalid("%s has no PEM certificate", cfg.CAFile)
		}
		t.TLSClientConfig.RootCAs = pool
	}
	b := &Bucket{cfg: cfg, endpoint: u, part: partSize, transport: t}
	_, err = b.client()
	return b, err
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// client makes a client with the credentials of now.
func (b *Bucket) client() (*minio.Client, error) {
	keys := credentials.NewEnvAWS()
	if b.cfg.CredentialsFile != "" {
		keys = credentials.NewFileAWSCredentials(b.cfg.CredentialsFile, "default")
		if _, err := keys.GetWithContext(nil); err != nil { // whose text has nothing of the keys
			return nil, protocol.Errorf(protocol.CodeInvalid, opOpen, "%s has no account: it must have a section [default] with aws_access_key_id and aws_secret_access_key", b.cfg.CredentialsFile).
				WithHint("write it as AWS's tools do, mode 0600")
		}
	}
	if v, err := keys.GetWithContext(nil); err != nil || v.AccessKeyID == "" || v.SecretAccessKey == "" {
		return nil, protocol.Errorf(protocol.CodeInvalid, opOpen, "there is no account for %s", b.endpoint.Host).
			WithHint("name a file with it, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	c, err := minio.New(b.endpoint.Host, &minio.Options{
		Creds: keys, Secure: b.endpoint.Scheme == "https", Transport: b.transport, Region: b.cfg.Region, MaxRetries: retries,
	})
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, opOpen, "%w", err)
	}
	return c, nil
}
