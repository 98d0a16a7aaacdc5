package mirror

import (
	"errors"
	"net/http"
	"path"
	"strings"

	"rackboot/protocol"
)

// ErrRefused is in the chain of errors of a file that the other side does not give us: it
// says nothing of whether the file is there.
var ErrRefused = errors.New("the repository does not give it to this agent")

// reply is what an answer, or its absence, is.
type reply struct {
	answer answer
	err    error // where it is trouble, denied or local
}

// classify says what the answer to a request for a file is; its name is empty where only
// that it answers matters.
func classify(resp *http.Response, err error, name string) reply {
	const op = "ask the mirror's origin"
	switch {
	case errors.Is(err, errFolder):
		return reply{answerFolder, nil}
	case err != nil:
		return reply{answerTrouble, err}
	}
	trouble := func(format string, args ...any) reply {
		args = append([]any{show(resp.Request.URL)}, args...)
		return reply{answerTrouble, protocol.Errorf(protocol.CodeUnavailable, op, "%s "+format, args...)}
	}
	switch status := resp.StatusCode; {
	case status == http.StatusNotModified:
		return reply{answerSame, nil}
	case status == http.StatusNotFound, status == http.StatusGone:
		return reply{answerAbsent, nil}
	case status == http.StatusForbidden:
		return reply{answerDenied, protocol.Errorf(protocol.CodeDenied, op, "%s answers 403: %w", show(resp.Request.URL), ErrRefused).
			WithHint("give it an account that may read it (repositories.bases[].account in the agent's file), or look whether the file exists")}
	case status == http.StatusUnauthorized, status == http.StatusProxyAuthRequired:
		return reply{answerTrouble, protocol.Errorf(protocol.CodeDenied, op, "%s answers %d: %w", show(resp.Request.URL), status, ErrRefused).
			WithHint("give it an account that it takes: repositories.bases[].account in the agent's file")}
	case name == "" && status < http.StatusInternalServerError && status != http.StatusTooManyRequests:
		return reply{answerWhole, nil}
	case status != http.StatusOK:
		return trouble("answers %d", status)
	case !asStored(resp.Header.Values("Content-Encoding"), name):
		return trouble("sends the file encoded as %.40q, which nobody asked for", resp.Header.Get("Content-Encoding"))
	}
	return reply{answerWhole, nil}
}

// asStored says whether a Content-Encoding leaves the bytes as the file has them. Some
// servers send the suffix of a file as its encoding: initrd.gz as gzip.
func asStored(codings []string, name string) bool {
	for _, c := range codings {
		var suffixes []string
		switch strings.ToLower(strings.TrimSpace(c)) {
		case "", "identity":
			continue
		case "gzip", "x-gzip":
			suffixes = []string{".gz", ".tgz"}
		case "bzip2", "x-bzip2":
			suffixes = []string{".bz2", ".tbz2"}
		case "xz", "x-xz":
			suffixes = []string{".xz", ".txz"}
		case "zstd":
			suffixes = []string{".zst"}
		}
		found := false
		for _, s := range suffixes {
			found = found || path.Ext(strings.ToLower(name)) == s
		}
		if !found {
			return false
		}
	}
	return true
}
