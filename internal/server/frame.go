package server

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
)

// frameScript draws the document that the page sends, without what could run or load, and
// tells the page how high it is.
const frameScript = `addEventListener("message", (e) => {
  if (e.source !== parent || typeof e.data !== "string") return;
  const sent = new DOMParser().parseFromString(e.data, "text/html");
  for (const n of sent.querySelectorAll("script, meta, base, link, iframe, frame, object, embed, form")) n.remove();
  for (const n of sent.querySelectorAll("*")) for (const { name, value } of [...n.attributes]) {
    const loads = /(^|:)(href|src|srcset|srcdoc|poster|data|background|action|formaction|ping)$/i.test(name);
    if (/^on/i.test(name) || (loads && !/^(#|data:image\/(png|jpeg|gif|webp);)/i.test(value))) n.removeAttribute(name);
  }
  document.head.replaceChildren(...sent.querySelectorAll("style"));
  document.body.replaceChildren(...sent.body.childNodes);
  parent.postMessage({ height: document.documentElement.scrollHeight }, "*");
});
parent.postMessage({ ready: true }, "*");
`

const frameDocument = "<!doctype html><html lang=\"en\"><head><title>A document</title></head><body></body><script>" + frameScript + "</script></html>\n"

// framePolicy gives the document no origin, so that it sees nothing of the page, and no network.
var framePolicy = func() string {
	sum := sha256.Sum256([]byte(frameScript))
	return "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; style-src 'unsafe-inline'; img-src data:; " +
		"form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox allow-scripts"
}()

// serveFrame serves the frame in which the page shows HTML that was stored, such as a report. It
// holds nothing: the page, which has the token, fetches the HTML and sends it as a message.
func serveFrame(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", framePolicy)
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Cache-Control", "no-cache")
	_, _ = io.WriteString(w, frameDocument) // the caller may be gone
}
