package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"interlock/internal/fault"
)

// A LocalServer is a server of models on this machine that speaks OpenAI's protocol.
type LocalServer struct {
	Program string   `json:"program" doc:"What usually listens there."`
	URL     string   `json:"url" doc:"Its base address, which ends in /v1."`
	Models  []string `json:"models" doc:"The models that it offers."`
}

// localPrograms names what usually listens on a port.
var localPrograms = map[int]string{11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}

// LocalPorts lists the ports on which FindLocal looks unless the configuration names others.
const LocalPorts = "11434,1234,8080,8000"

const (
	// findTime is how long a port may take to answer: a server on this machine is quick or is none.
	findTime = 700 * time.Millisecond
	// maxModelList bounds what is read of an answer of a server that nobody chose yet.
	maxModelList = 1 << 20
	// maxModels is how many models of one server are offered.
	maxModels = 200
	// maxModelName bounds the name of a model in bytes.
	maxModelName = 256
)

// ParsePorts reads a list of ports with commas; an empty text is no port.
func ParsePorts(text string) ([]int, error) {
	var ports []int
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		n, err := strconv.ParseUint(word, 10, 16)
		if err != nil || n == 0 {
			return nil, fault.New(fault.BadSetting, "%q is no port", word).Suggest("List ports like %s; an empty text looks for no server.", LocalPorts)
		}
		ports = append(ports, int(n))
	}
	return ports, nil
}

// FindLocal asks the ports of this machine, all at once, which models they offer. Nothing
// but GET /v1/models is sent; whoever does not answer at once with such a list is left out.
func FindLocal(ctx context.Context, ports []int) []LocalServer {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	client := localClient()
	defer client.CloseIdleConnections()
	found := make([]*LocalServer, len(ports))
	var wg sync.WaitGroup
	for i, port := range ports {
		wg.Go(func() {
			base := fmt.Sprintf("http://127.0.0.1:%d/v1", port)
			list, err := listModels(ctx, client, base)
			if names := modelNames(list); err == nil && len(names) > 0 {
				found[i] = &LocalServer{Program: cmp.Or(localPrograms[port], "A model server"), URL: base, Models: names}
			}
		})
	}
	wg.Wait()
	out := []LocalServer{}
	for _, s := range found {
		if s != nil {
			out = append(out, *s)
		}
	}
	return out
}

// ListLocal lists the models of one local server.
func ListLocal(ctx context.Context, base string) ([]string, error) {
	if err := CheckLocalURL(base); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	client := localClient()
	defer client.CloseIdleConnections()
	list, err := listModels(ctx, client, base)
	if err != nil {
		return nil, fault.Wrap(err, fault.ModelFailed, "no list of models comes from %s/models: %v", base, err).
			Suggest("Start the server, and check its address, which usually ends in /v1.")
	}
	return modelNames(list), nil
}

// CheckLocalURL refuses the address of a server that is not on this machine.
func CheckLocalURL(base string) error {
	if err := checkURL(base); err != nil || base == "" {
		return cmp.Or(err, error(fault.New(fault.BadSetting, "the address of the model server is empty").Suggest("Write it like http://127.0.0.1:11434/v1.")))
	}
	u, err := url.Parse(base)
	if err == nil && u.User == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()) {
		return nil
	}
	return fault.New(fault.BadSetting, "%s is not on this machine", base).
		Suggest("Name an address such as http://127.0.0.1:11434/v1; a server elsewhere is configured with --openai-url.")
}

// localClient goes to the named server only: over no proxy, and after no redirect.
func localClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A listedModel is an entry of a list of models, with the fields in which servers give
// the length of the context.
type listedModel struct {
	ID            string `json:"id"`
	MaxModelLen   int    `json:"max_model_len"`  // vLLM
	ContextLength int    `json:"context_length"` // several
	ContextWindow int    `json:"context_window"`
	Loaded        int    `json:"loaded_context_length"` // LM Studio
	Max           int    `json:"max_context_length"`
	Meta          struct {
		Context int `json:"n_ctx"` // llama.cpp
	} `json:"meta"`
}

func (m listedModel) context() int {
	return cmp.Or(m.MaxModelLen, m.Meta.Context, m.Loaded, m.ContextLength, m.ContextWindow, m.Max)
}

func modelNames(list []listedModel) []string {
	var names []string
	for _, m := range list {
		if len(names) < maxModels && isReadable(m.ID) && !slices.Contains(names, m.ID) {
			names = append(names, m.ID)
		}
	}
	return names
}

// isReadable reports whether a person sees all of a name: it has no control characters, none
// that are invisible or turn the writing round, and an end.
func isReadable(name string) bool {
	return name != "" && len(name) <= maxModelName && utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// listModels reads the models of a server.
func listModels(ctx context.Context, client *http.Client, base string) ([]listedModel, error) {
	var list struct {
		Data []listedModel `json:"data"`
	}
	err := getJSON(ctx, client, strings.TrimSuffix(base, "/")+"/models", nil, &list)
	return list.Data, err
}

// A statusError is the status of an answer that is none.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("HTTP %d", int(s)) }

// getJSON reads a small JSON document.
func getJSON(ctx context.Context, client *http.Client, address string, header http.Header, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	maps.Copy(req.Header, header)
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return statusError(res.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxModelList))
	if err != nil {
		return err
	}
	if !json.Valid(raw) {
		return errors.New("the answer is no JSON")
	}
	return decode(raw, into)
}
