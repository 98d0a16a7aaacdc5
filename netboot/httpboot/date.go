package httpboot

import (
	"net/http"
	"time"
)

// date is the Date of answers, which is made once a second.
type date struct {
	second int64
	text   []string
}

func (d *date) now() []string {
	now := time.Now()
	if s := now.Unix(); s != d.second || d.text == nil {
		d.second, d.text = s, []string{now.UTC().Format(http.TimeFormat)}
	}
	return d.text
}
