package otlp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"rackboot/agent/bootspan"
)

const (
	// protobuf is the content type of requests and answers.
	protobuf = "application/x-protobuf"
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 64 << 10
)

// verdict is what an answer means for a batch.
type verdict string

const (
	verdictTaken   verdict = "taken"
	verdictAgain   verdict = "again" // it is to be sent again
	verdictRefused verdict = "refused"
)

// answer is what came of a request.
type answer struct {
	verdict verdict
	status  int           // 0 without an answer
	after   time.Duration // what the collector asks to wait; 0 if nothing
	refused int           // spans of a batch that was taken
	err     error         // for people; it has no header of ours
}

// sender makes requests.
type sender struct {
	url      string
	header   http.Header
	resource Resource
	http     *http.Client
}

func newSender(c Config) *sender {
	s := &sender{url: c.Endpoint.JoinPath("v1", "traces").String(), header: c.Headers.Clone(), resource: c.Resource, http: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: c.TLS, ForceAttemptHTTP2: true,
			MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: maxAnswer,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // headers are for one host
	}}
	if s.header == nil {
		s.header = http.Header{}
	}
	s.header.Set("Content-Type", protobuf)
	s.header.Set("User-Agent", "rackboot-agent/"+c.Resource.Version)
	return s
}

// send makes one request, within patience.
func (s *sender) send(ctx context.Context, spans []bootspan.Span) answer {
	body, err := proto.Marshal(request(s.resource, spans))
	if err != nil {
		return answer{verdict: verdictRefused, err: fmt.Errorf("encode spans: %w", err)}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return answer{verdict: verdictRefused, err: err}
	}
	req.Header = s.header.Clone()
	resp, err := s.http.Do(req)
	if err != nil {
		return answer{verdict: verdictAgain, err: err}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil && resp.StatusCode/100 == 2 {
		return answer{verdict: verdictAgain, status: resp.StatusCode, err: fmt.Errorf("the answer breaks off: %w", err)}
	}
	a := judge(resp.StatusCode, resp.Header.Get("Content-Type"), raw)
	a.after = retryAfter(resp.Header.Get("Retry-After"), time.Now())
	return a
}

// errNotOTLP is of something that answers in the place of a collector: a proxy's page, another service.
var errNotOTLP = errors.New("the answer is not that of an OTLP collector; look at otlp.endpoint")

// judge says what an answer means; see "OTLP/HTTP Response" of the specification. The first row that fits decides.
//
//	status          | body             | verdict
//	2xx             | an OTLP answer   | taken
//	2xx             | *                | refused
//	429 502 503 504 | *                | again
//	*               | *                | refused
func judge(status int, contentType string, body []byte) answer {
	a := answer{status: status}
	switch {
	case status/100 == 2:
		return taken(a, contentType, body)
	case status == http.StatusTooManyRequests || status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout:
		a.verdict = verdictAgain
	default:
		a.verdict = verdictRefused
	}
	a.err = fmt.Errorf("the collector answered %d %s", status, http.StatusText(status))
	return a
}

// taken reads the body of an answer that says that the batch was taken, or a part of it. Some collectors send an empty
// one without a type.
func taken(a answer, contentType string, body []byte) answer {
	kind, _, _ := mime.ParseMediaType(contentType)
	var said collector.ExportTraceServiceResponse
	if len(body) > 0 && kind != protobuf && kind != "" || proto.Unmarshal(body, &said) != nil {
		a.verdict, a.err = verdictRefused, errNotOTLP
		return a
	}
	a.verdict = verdictTaken
	if p := said.GetPartialSuccess(); p.GetRejectedSpans() > 0 {
		a.refused = int(min(p.GetRejectedSpans(), maxWaiting))
		a.err = fmt.Errorf("the collector took a part: %.200q", p.GetErrorMessage())
	}
	return a
}

// retryAfter reads how long to wait, in seconds or until a date; 0 where that is not said.
func retryAfter(text string, now time.Time) time.Duration {
	if s, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(s) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
