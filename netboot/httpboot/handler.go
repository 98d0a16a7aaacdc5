package httpboot

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
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
)

type handler struct {
	cfg     Config
	metrics *metrics
	spans   *spans
}

func newHandler(cfg Config, m *metrics) *handler {
	return &handler{cfg: cfg, metrics: m, spans: newSpans()}
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
	if h.cfg.Events != nil && strings.HasPrefix(r.URL.Path, netboot.EventPrefix) {
		_ = w.control.SetReadDeadline(time.Now().Add(reportTimeout))
		h.cfg.Events.ServeHTTP(w, r)
		return
	}
	to, ok := parseRoute(r.URL.Path)
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

// file serves a file, or a part of it.
func (h *handler) file(w *writer, r *http.Request, to route) {
	f, err := h.cfg.Files.Open(to.token, to.name)
	if err != nil {
		h.failed(w, err)
		return
	}
	defer f.Close()
	header := w.Header()
	header.Set("Content-Type", f.ContentType)
	if f.ContentType == "" {
		header.Set("Content-Type", "application/octet-stream") // else ServeContent guesses, with a charset
	}
	if f.ETag != "" { // firmware of 2018 hangs on an empty header value
		header.Set("ETag", f.ETag)
	}
	// The bare file, without netboot.File around it: sendfile needs an *os.File.
	http.ServeContent(w, r, "", f.ModTime, f.ReadSeekCloser)
	if r.Method != http.MethodGet {
		return
	}
	from, ok := sentFrom(w)
	if !ok || w.flush() != nil {
		return
	}
	key := spanKey{token: to.token, file: to.name, etag: f.ETag}
	if h.spans.sent(key, from, from+w.bytes, f.Size) {
		h.cfg.Evidence.Record(netboot.Event{
			Kind: protocol.EvidenceFetched, Token: to.token, File: to.name, Remote: remote(r), At: h.cfg.Clock(),
		})
	}
}

// sentFrom is the offset of the body in the file. Parts that come as
// multipart/byteranges are not followed; no firmware asks for them.
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

func remote(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap()
}
