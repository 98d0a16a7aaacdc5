package httpboot

import (
	"cmp"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
)

const (
	textPlain = "text/plain"
	// retryAfter, in seconds, is for a client with too many requests.
	retryAfter = "1"
	// fileAfter is for one whose file cannot be given now (RFC 9110 section 10.2.3): a
	// repository that failed is asked again after as many seconds.
	fileAfter = "15"
)

type handler struct {
	cfg     Config
	metrics *metrics
	spans   *spans
	clients *clients // by requests in flight
}

func newHandler(cfg Config, m *metrics) *handler {
	return &handler{cfg: cfg, metrics: m, spans: newSpans(), clients: newClients(cfg.MaxClientRequests)}
}

// ServeHTTP answers one request and counts it.
func (h *handler) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	start := time.Now()
	h.metrics.inFlight.Inc()
	w := newWriter(rw)
	defer func() {
		h.metrics.inFlight.Dec()
		if w.status == 0 { // a panic; net/http closes the connection
			w.status = http.StatusInternalServerError
		}
		h.metrics.answered(r.Method, w.status)
		h.metrics.bytes.Add(float64(w.bytes))
		h.metrics.latency.Observe(time.Since(start).Seconds())
		if h.cfg.Logger.Enabled(r.Context(), slog.LevelDebug) { // its arguments cost more than asking
			h.cfg.Logger.Debug("http boot request", "method", methodLabel(r.Method), "status", w.status, "bytes", w.bytes, "remote", r.RemoteAddr)
		}
	}()
	w.progressAt(start)
	w.client = addrOf(r.RemoteAddr)
	if !h.clients.enter(w.client) {
		h.metrics.refused.WithLabelValues(refusedRequest).Inc()
		w.Header().Set("Retry-After", retryAfter)
		fail(w, http.StatusServiceUnavailable)
		return
	}
	defer h.clients.leave(w.client)
	if h.cfg.Events != nil && strings.HasPrefix(r.URL.Path, netboot.EventPrefix) {
		w.readBy(time.Now().Add(reportTimeout))
		h.cfg.Events.ServeHTTP(w, r)
		return
	}
	to, ok := parseRoute(r.URL.Path, r.URL.RawQuery)
	if ok {
		defer h.traced(w, r, to, start)
	}
	take, limit := h.tpmStep(to)
	switch {
	case !ok:
		fail(w, http.StatusNotFound)
	case to.report && r.Method == http.MethodPost:
		h.report(w, r, to)
	case to.report:
		w.Header().Set("Allow", http.MethodPost)
		fail(w, http.StatusMethodNotAllowed)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		h.file(w, r, to)
	case r.Method == http.MethodPost && take != nil:
		h.tpm(w, r, take, limit)
	default:
		w.Header().Set("Allow", "GET, HEAD")
		fail(w, http.StatusMethodNotAllowed)
	}
}

// traced tells the caller what became of a request. start is of the clock that durations
// are measured by.
func (h *handler) traced(w *writer, r *http.Request, to route, start time.Time) {
	if h.cfg.Trace == nil {
		return
	}
	took := time.Since(start)
	h.cfg.Trace(netboot.Exchange{
		Source: protocol.TraceHTTP, At: h.cfg.Clock().Add(-took), Asked: methodLabel(r.Method), Token: to.token, Remote: w.client,
		File: to.name, Report: to.report, Status: w.status, Range: r.Header.Get("Range"), Bytes: w.bytes, Took: took,
	})
}

// open opens what a request asks for.
func (h *handler) open(client netip.Addr, to route) (*netboot.File, error) {
	if to.userData() {
		if h.cfg.UserData == nil {
			return nil, protocol.Errorf(protocol.CodeNotFound, "open user data", "there is none")
		}
		return h.cfg.UserData.OpenUserData(client, to.token)
	}
	if to.token != "" {
		return h.cfg.Files.Open(client, to.token, to.name)
	}
	if h.cfg.AddressFiles == nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open boot file", "there are no fixed names")
	}
	return h.cfg.AddressFiles.OpenFor(client, to.name)
}

// file serves a file, or a part of it.
func (h *handler) file(w *writer, r *http.Request, to route) {
	f, err := h.open(w.client, to)
	if err != nil {
		if code := protocol.CodeOf(err); code == protocol.CodeUnavailable || code == protocol.CodeTimeout {
			w.Header().Set("Retry-After", fileAfter)
		}
		h.failed(w, err)
		return
	}
	defer f.Close()
	header := w.Header()
	if to.userData() {
		w.set(header, "Cache-Control", "no-store") // a secret, which no proxy keeps
	}
	// A type that is not set ServeContent guesses, with a charset.
	w.set(header, "Content-Type", cmp.Or(f.ContentType, netboot.ContentType(to.name)))
	if f.ETag != "" { // firmware of 2018 hangs on an empty header value
		w.set(header, "Etag", f.ETag)
	}
	// The bare file, without netboot.File around it: sendfile needs an *os.File.
	if conditional(r.Header) {
		http.ServeContent(w, oneRange(r), "", f.ModTime, f.ReadSeekCloser)
	} else {
		w.whole(r, f)
	}
	if r.Method != http.MethodGet {
		return
	}
	from, ok := sentFrom(w)
	if !ok || w.flush() != nil {
		return
	}
	key := spanKey{token: to.token, file: to.name, etag: f.ETag}
	if to.token == "" {
		key.client = w.client
	}
	whole := h.spans.sent(key, from, from+w.bytes, f.Size)
	if f.Sent != nil {
		f.Sent(w.bytes, whole)
		return
	}
	if whole {
		if to.userData() {
			h.cfg.UserData.Delivered(to.token)
			return
		}
		h.cfg.Evidence.Record(netboot.Event{
			Kind: protocol.EvidenceFetched, Token: cmp.Or(to.token, f.Token), File: to.name, Remote: w.client, At: h.cfg.Clock(),
		})
	}
}

// conditional says whether a request has more to say than what file it is for (RFC 9110
// sections 13.1 and 14.2).
func conditional(h http.Header) bool {
	for _, name := range [...]string{"Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"} {
		if len(h[name]) > 0 {
			return true
		}
	}
	return false
}

// whole answers with all of a file, as http.ServeContent does.
func (w *writer) whole(r *http.Request, f *netboot.File) {
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		fail(w, http.StatusInternalServerError)
		return
	}
	header := w.Header()
	if !f.ModTime.IsZero() && !f.ModTime.Equal(time.Unix(0, 0)) { // as no time is written elsewhere
		w.set(header, "Last-Modified", f.ModTime.UTC().Format(http.TimeFormat))
	}
	w.set(header, "Accept-Ranges", "bytes")
	w.set(header, "Content-Length", strconv.FormatInt(size, 10))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.ReadFrom(&io.LimitedReader{R: f.ReadSeekCloser, N: size}) // what is missing, the connection's end tells
	}
}

// oneRange is the request without a Range that is not answered by one part. Several
// ranges would come as multipart/byteranges, whose length firmware does not take for
// the file's, and which a client must be ready to get the whole instead of (RFC 9110
// section 14.2); on anything but GET a Range means nothing.
func oneRange(r *http.Request) *http.Request {
	if v := r.Header.Get("Range"); v == "" || (r.Method == http.MethodGet && !strings.Contains(v, ",")) {
		return r
	}
	whole := *r
	whole.Header = r.Header.Clone()
	whole.Header.Del("Range")
	return &whole
}

// sentFrom is the offset of the body in the file.
func sentFrom(w *writer) (int64, bool) {
	switch w.status {
	case http.StatusOK:
		return 0, true
	case http.StatusPartialContent:
		return contentRangeStart(w.Header().Get("Content-Range"))
	}
	return 0, false
}

// failed answers by the error's code. What is denied does not exist, so that a
// stranger learns nothing from the difference. The error is logged, the reply
// says only the status.
func (h *handler) failed(w *writer, err error) {
	switch code := protocol.CodeOf(err); code {
	case protocol.CodeNotFound, protocol.CodeDenied, protocol.CodeInvalid:
		fail(w, http.StatusNotFound)
	case protocol.CodeUnavailable, protocol.CodeTimeout: // as of a repository that is away; installers try again
		h.cfg.Logger.Warn("http boot request failed", "code", code, "err", err)
		fail(w, http.StatusServiceUnavailable)
	default:
		h.cfg.Logger.Warn("http boot request failed", "code", code, "err", err)
		fail(w, code.HTTPStatus())
	}
}

// fail answers with a status and its text.
func fail(w *writer, status int) {
	body := http.StatusText(status) + "\n"
	w.Header().Set("Content-Type", textPlain)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // the client may be gone; net/http sees it too
}
