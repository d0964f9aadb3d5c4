package server

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"interlock/internal/fault"
)

// A gate refuses requests that a foreign page made a browser send: by a host name
// that was pointed at this machine (DNS rebinding), or from another site.
type gate struct {
	hosts   map[string]bool // beside the loopback ones
	origins map[string]bool
}

func newGate(listen string, hosts, origins []string) (gate, error) {
	g := gate{hosts: map[string]bool{}, origins: map[string]bool{}}
	if a, err := netip.ParseAddr(listen); err == nil && !a.IsUnspecified() {
		g.hosts[a.Unmap().String()] = true
	}
	var faults []error
	for _, h := range hosts {
		name, ok := hostName(h)
		if !ok {
			faults = append(faults, fmt.Errorf("host %q is neither a name nor an address", h))
		}
		g.hosts[name] = true
	}
	for _, o := range origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
			faults = append(faults, fmt.Errorf("origin %q does not look like https://example.org", o))
			continue
		}
		g.origins[strings.ToLower(u.Scheme+"://"+u.Host)] = true
	}
	return g, errors.Join(faults...)
}

func (g gate) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := g.check(r); err != nil {
			writeProblem(w, r, err)
			return
		}
		if g.allowOrigin(w, r) && r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// allowOrigin lets the browser hand answers to a page of an allowed origin.
func (g gate) allowOrigin(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if !g.origins[strings.ToLower(origin)] {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", cmp.Or(r.Header.Get("Access-Control-Request-Headers"), "Authorization, Content-Type, Last-Event-ID, X-Request-Id")) // libraries add their own
	h.Set("Access-Control-Expose-Headers", "X-Request-Id, X-Thread-Id, X-Run-Id, X-Artifact-Id, Retry-After")
	h.Set("Access-Control-Max-Age", "600")
	return true
}

func (g gate) check(r *http.Request) error {
	if !g.isKnownHost(r.Host) {
		return fault.New(fault.ForeignOrigin, "this server does not answer to the host name %q", r.Host).
			Suggest("Call it by 127.0.0.1 or localhost, or add the name to the allowed hosts.")
	}
	origin := r.Header.Get("Origin")
	if origin != "" {
		if g.origins[strings.ToLower(origin)] || sameHost(origin, r.Host) {
			return nil
		}
		return fault.New(fault.ForeignOrigin, "pages of %q may not call this server", origin)
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin", "none":
		return nil
	default:
		// A link from elsewhere may open the page, which shows nothing by itself.
		if r.Method == http.MethodGet && r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate" {
			return nil
		}
		return fault.New(fault.ForeignOrigin, "a %s page may not call this server", site)
	}
}

func (g gate) isKnownHost(hostport string) bool {
	name, ok := hostName(hostport)
	return ok && (isLoopback(name) || g.hosts[name])
}

// sameHost says whether an origin is the very host and port that was called.
func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, host)
}

// hostName is the host of "host", "host:port" or "[v6]:port" in one spelling.
func hostName(hostport string) (string, bool) {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	} else if in, ok := strings.CutPrefix(hostport, "["); ok {
		if host, ok = strings.CutSuffix(in, "]"); !ok {
			return "", false
		}
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String(), true
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host, host != "" && !strings.ContainsAny(host, ":/\\@%[] ")
}

func isLoopback(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

// hardened adds the headers that keep a browser from doing more with an answer
// than was meant.
func hardened(next http.Handler) http.Handler {
	const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
		"connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}
