package rig

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"maps"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Spoil is what a front does to what the agent asks of a BMC.
type Spoil string

// The spoils.
const (
	SpoilNone  Spoil = ""
	SpoilError Spoil = "500"   // reads are answered 500
	SpoilShort Spoil = "short" // bodies of reads end early, below their Content-Length
	SpoilHang  Spoil = "hang"  // bodies of reads begin, and do not go on
	SpoilLate  Spoil = "late"  // an On is taken, not answered, and given to the BMC after Delay
	SpoilCut   Spoil = "cut"   // nothing is answered at all
)

// Front stands before a BMC with a certificate of its own, which stays when the BMC's
// process starts again with another.
type Front struct {
	listener net.Listener
	server   *http.Server
	to       string
	client   *http.Client
	ctx      context.Context
	cancel   context.CancelFunc

	mu     sync.Mutex
	spoil  Spoil
	delay  time.Duration
	end    chan struct{} // closed when the spoil ends
	late   int
	orders sync.WaitGroup
}

// pair is a certificate for all fronts, and its fingerprint.
func pair() (tls.Certificate, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "BMC"},
		NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: time.Now().AddDate(10, 0, 0), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	raw, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	sum := sha256.Sum256(raw)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, "sha256:" + hex.EncodeToString(sum[:]), nil
}

func newFront(at, to string, cert tls.Certificate) (*Front, error) {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, err
	}
	f := &Front{listener: l, to: "https://" + to, end: make(chan struct{})}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.client = &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 4, IdleConnTimeout: 5 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	f.server = &http.Server{Handler: f, TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}}, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = f.server.ServeTLS(l, "", "") }() // ends by close
	return f, nil
}

// Set spoils what passes from now on. delay is of SpoilLate.
func (f *Front) Set(s Spoil, delay time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spoil != s {
		close(f.end)
		f.end = make(chan struct{})
	}
	f.spoil, f.delay = s, delay
}

// Late is how many orders were given late.
func (f *Front) Late() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.late
}

func (f *Front) close() {
	f.cancel()
	_ = f.server.Close()
	f.orders.Wait()
	f.client.CloseIdleConnections()
}

// maxOrder bounds the body of an order.
const maxOrder = 1 << 20

// ServeHTTP passes a request on, or spoils it.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	spoil, delay, end := f.spoil, f.delay, f.end
	f.mu.Unlock()
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	body, err := io.ReadAll(io.LimitReader(r.Body, maxOrder))
	if err != nil {
		return
	}
	switch {
	case spoil == SpoilCut:
		f.silent(r, end)
		panic(http.ErrAbortHandler)
	case spoil == SpoilError && read:
		http.Error(w, "the BMC is busy with itself", http.StatusInternalServerError)
		return
	case spoil == SpoilLate && isOn(r, body):
		f.later(r, body, delay)
		f.silent(r, end)
		panic(http.ErrAbortHandler)
	}
	resp, err := f.pass(r.Context(), r, body)
	if err != nil {
		panic(http.ErrAbortHandler) // as a BMC that is gone
	}
	defer func() { _ = resp.Body.Close() }() // it was read as far as it goes
	maps.Copy(w.Header(), resp.Header)
	if read && (spoil == SpoilShort || spoil == SpoilHang) && resp.StatusCode == http.StatusOK {
		f.half(w, r, resp, spoil, end)
		return
	}
	w.WriteHeader(resp.StatusCode)
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		_, _ = io.Copy(flushed{w, http.NewResponseController(w)}, resp.Body) // the stream ends when either end goes
		return
	}
	_, _ = io.Copy(w, resp.Body) // the agent sees a body that is too short
}

// half sends the first half of a body.
func (f *Front) half(w http.ResponseWriter, r *http.Request, resp *http.Response, spoil Spoil, end <-chan struct{}) {
	whole, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(whole[:len(whole)/2]) // the rest is not sent either
	_ = http.NewResponseController(w).Flush()
	if spoil == SpoilHang {
		f.silent(r, end)
	}
	panic(http.ErrAbortHandler)
}

// silent waits until the asker goes, the spoil ends or the rig does.
func (f *Front) silent(r *http.Request, end <-chan struct{}) {
	select {
	case <-r.Context().Done():
	case <-end:
	case <-f.ctx.Done():
	}
}

// isOn reports whether a request is an order that powers a server on.
func isOn(r *http.Request, body []byte) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "ComputerSystem.Reset") && bytes.Contains(body, []byte(`"On"`))
}

// later gives an order to the BMC after a delay, whatever became of who gave it.
func (f *Front) later(r *http.Request, body []byte, delay time.Duration) {
	order := r.Clone(f.ctx)
	f.mu.Lock()
	f.late++
	f.mu.Unlock()
	f.orders.Go(func() {
		select {
		case <-f.ctx.Done():
			return
		case <-time.After(delay):
		}
		ctx, cancel := context.WithTimeout(f.ctx, dialTimeout)
		defer cancel()
		if resp, err := f.pass(ctx, order, body); err == nil {
			_ = resp.Body.Close() // nobody waits for the answer
		}
	})
}

func (f *Front) pass(ctx context.Context, r *http.Request, body []byte) (*http.Response, error) {
	out, err := http.NewRequestWithContext(ctx, r.Method, f.to+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header = r.Header.Clone()
	out.Header.Del("Accept-Encoding")
	resp, err := f.client.Do(out)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	return resp, err
}

// flushed sends each piece at once.
type flushed struct {
	w  io.Writer
	rc *http.ResponseController
}

func (f flushed) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	if err == nil {
		err = f.rc.Flush()
	}
	return n, err
}
