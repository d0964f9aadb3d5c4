package source

import (
	"errors"
	"net"
	"net/url"
	"regexp"
	"strings"
	"syscall"

	"interlock/internal/fault"
)

// publicText is what people, models and logs of threads may read of a cause. If the
// source has a name, the text has no address, user or path. The whole cause stays in the
// fault, for the server's log.
func (c Config) publicText(cause error) string {
	if c.Name == "" {
		return cause.Error()
	}
	if _, ok := errors.AsType[*net.DNSError](cause); ok {
		return "its host is not known"
	}
	failed, ok := errors.AsType[net.Error](cause)
	switch {
	case errors.Is(cause, syscall.ECONNREFUSED):
		return "it refuses connections"
	case ok && failed.Timeout():
		return "it does not answer in time"
	}
	if _, ok := errors.AsType[*net.OpError](cause); ok {
		return "the network failed on the way to it"
	}
	return c.hidePlaces(cause.Error())
}

var (
	addressLike = regexp.MustCompile(`\[?\b\d{1,3}(\.\d{1,3}){3}\b\]?(:\d+)?|\[[0-9a-fA-F:]+\](:\d+)?`)
	pathLike    = regexp.MustCompile(`(^|[\s"'(:=])/[\w.\-]+(/[\w.\-]+)+`)
)

// hidePlaces removes the address of the source, its parts and everything that looks like
// an address or a path from a text.
func (c Config) hidePlaces(text string) string {
	if c.Name == "" {
		return text
	}
	const hidden = "(hidden)"
	text = strings.ReplaceAll(text, c.URL, c.Name)
	if u, err := url.Parse(c.URL); err == nil {
		for _, part := range []string{u.Host, u.Hostname(), u.User.Username()} {
			if part != "" {
				text = replaceWord(text, part, hidden)
			}
		}
	}
	text = addressLike.ReplaceAllString(text, hidden)
	return pathLike.ReplaceAllString(text, "$1"+hidden)
}

// replaceWord replaces a whole word.
func replaceWord(text, word, with string) string {
	re, err := regexp.Compile(`(^|[^\w.\-])` + regexp.QuoteMeta(word) + `($|[^\w\-])`)
	if err != nil {
		return text
	}
	return re.ReplaceAllString(text, "${1}"+with+"${2}")
}

// withoutPlaces removes addresses and paths from the message of a fault.
func (c Config) withoutPlaces(err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || c.Name == "" {
		return err
	}
	f.Message, f.Suggestion = c.hidePlaces(f.Message), c.hidePlaces(f.Suggestion)
	return f
}
