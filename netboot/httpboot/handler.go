package httpboot

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
)

const (
	// maxReport bounds the body of a report, which is not read for anything.
	maxReport = 4 << 10
	// reportTimeout bounds reading the body, and again storing the report.
	reportTimeout = 10 * time.Second

	textPlain = "text/plain"
	// retryAfter, in seconds, is for a client with too many requests.
	retryAfter = "1"
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
		h.metrics.requests.WithLabelValues(methodLabel(r.Method), strconv.Itoa(w.status)).Inc()
		h.metrics.bytes.Add(float64(w.bytes))
		h.metrics.latency.Observe(time.Since(start).Seconds())
		h.cfg.Logger.Debug("http boot request", "method", methodLabel(r.Method), "status", w.status, "bytes", w.bytes, "remote", r.RemoteAddr)
	}()
	w.progress()
	client := addrOf(r.RemoteAddr)
	if !h.clients.enter(client) {
		h.metrics.refused.WithLabelValues(refusedRequest).Inc()
		w.Header().Set("Retry-After", retryAfter)
		fail(w, http.StatusServiceUnavailable)
		return
	}
	defer h.clients.leave(client)
	if h.cfg.Events != nil && strings.HasPrefix(r.URL.Path, netboot.EventPrefix) {
		_ = w.control.SetReadDeadline(time.Now().Add(reportTimeout))
		h.cfg.Events.ServeHTTP(w, r)
		return
	}
	to, ok := parseRoute(r.URL.Path, r.URL.RawQuery)
	switch {
	case !ok:
		fail(w, http.StatusNotFound)
	case to.report != "" && r.Method == http.MethodPost:
		h.report(w, r, to)
	case to.report != "":
		w.Header().Set("Allow", http.MethodPost)
		fail(w, http.StatusMethodNotAllowed)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		h.file(w, r, to)
	default:
		w.Header().Set("Allow", "GET, HEAD")
		fail(w, http.StatusMethodNotAllowed)
	}
}

// open opens what a request asks for.
func (h *handler) open(r *http.Request, to route) (*netboot.File, error) {
	if to.token != "" {
		return h.cfg.Files.Open(to.token, to.name)
	}
	if h.cfg.AddressFiles == nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open boot file", "there are no fixed names")
	}
	return h.cfg.AddressFiles.OpenFor(addrOf(r.RemoteAddr), to.name)
}

// file serves a file, or a part of it.
func (h *handler) file(w *writer, r *http.Request, to route) {
	f, err := h.open(r, to)
	if err != nil {
		h.failed(w, err)
		return
	}
	defer f.Close()
	header := w.Header()
	header.Set("Content-Type", f.ContentType)
	if f.ContentType == "" {
		header.Set("Content-Type", netboot.ContentType(to.name)) // else ServeContent guesses, with a charset
	}
	if f.ETag != "" { // firmware of 2018 hangs on an empty header value
		header.Set("ETag", f.ETag)
	}
	// The bare file, without netboot.File around it: sendfile needs an *os.File.
	http.ServeContent(w, oneRange(r), "", f.ModTime, f.ReadSeekCloser)
	if r.Method != http.MethodGet {
		return
	}
	from, ok := sentFrom(w)
	if !ok || w.flush() != nil {
		return
	}
	key := spanKey{token: to.token, file: to.name, etag: f.ETag}
	if to.token == "" {
		key.client = addrOf(r.RemoteAddr)
	}
	if h.spans.sent(key, from, from+w.bytes, f.Size) {
		h.cfg.Evidence.Record(netboot.Event{
			Kind: protocol.EvidenceFetched, Token: cmp.Or(to.token, f.Token), File: to.name, Remote: addrOf(r.RemoteAddr), At: h.cfg.Clock(),
		})
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

// report takes a report. It is durable before the client hears so.
func (h *handler) report(w *writer, r *http.Request, to route) {
	_ = w.control.SetReadDeadline(time.Now().Add(reportTimeout))
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(w.ResponseWriter, r.Body, maxReport)); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			fail(w, http.StatusRequestEntityTooLarge)
			return
		}
		fail(w, http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), reportTimeout)
	defer cancel()
	if err := h.cfg.Files.Report(ctx, to.token, to.report); err != nil {
		h.failed(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// failed answers by the error's code. What is denied does not exist, so that a
// stranger learns nothing from the difference. The error is logged, the reply
// says only the status.
func (h *handler) failed(w *writer, err error) {
	switch code := protocol.CodeOf(err); code {
	case protocol.CodeNotFound, protocol.CodeDenied, protocol.CodeInvalid:
		fail(w, http.StatusNotFound)
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
