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

// told is what people, models and logs of threads may read of a cause. Where the source
// has a name of its own, they learn what is wrong and not where: no address, no user,
// no path. The whole cause stays in the fault, for the server's log.
func (c Config) told(cause error) string {
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

// hidePlaces takes the address of the source, its parts and everything like an address
// or a path out of a text.
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

// replaceWord replaces a word where it stands by itself.
func replaceWord(text, word, with string) string {
	re, err := regexp.Compile(`(^|[^\w.\-])` + regexp.QuoteMeta(word) + `($|[^\w\-])`)
	if err != nil {
		return text
	}
	return re.ReplaceAllString(text, "${1}"+with+"${2}")
}

// discreet is a fault without places in its words.
func (c Config) discreet(err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || c.Name == "" {
		return err
	}
	f.Message, f.Suggestion = c.hidePlaces(f.Message), c.hidePlaces(f.Suggestion)
	return f
}
