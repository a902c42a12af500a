package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Server is a model server found on this machine.
type Server struct {
	Profile string // the built-in profile for it
	Label   string
	BaseURL string
	Models  []string // as the server lists them; may be empty
}

// Search looks for model servers on the loopback interface. The zero value
// tries the usual ports of the local profiles.
type Search struct {
	Ports  map[string]int // by profile name, instead of the usual ones
	Within time.Duration  // for all together; 0 is 150 ms
	Client *http.Client   // nil for one without a proxy
}

// FindLocal is [Search.Run] with the usual ports.
func FindLocal(ctx context.Context) []Server { return Search{}.Run(ctx) }

// Run asks all ports at once which models they serve, and returns the servers
// that answered in time, in table order.
func (s Search) Run(ctx context.Context) []Server {
	if s.Within <= 0 {
		s.Within = 150 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, s.Within)
	defer cancel()
	var local []Profile
	for _, p := range Profiles() {
		p = s.at(p)
		if !p.Local || slices.ContainsFunc(local, func(have Profile) bool { return have.Provider == p.Provider }) {
			continue
		}
		local = append(local, p)
		for _, p.BaseURL = range p.also {
			local = append(local, p)
		}
	}
	found := make([]*Server, len(local))
	var wg sync.WaitGroup
	for i, p := range local {
		wg.Go(func() {
			if models, err := serverModels(ctx, s.Client, p, ""); err == nil {
				found[i] = &Server{Profile: p.Name, Label: p.Label, BaseURL: p.BaseURL, Models: models}
			}
		})
	}
	wg.Wait()
	var servers []Server
	for _, f := range found {
		if f != nil {
			servers = append(servers, *f)
		}
	}
	return servers
}

func (s Search) at(p Profile) Profile {
	if port, ok := s.Ports[p.Name]; ok {
		p.BaseURL, p.also = fmt.Sprintf("http://127.0.0.1:%d/v1", port), nil
	}
	return p
}

// maxModelList bounds what a server may answer, in bytes.
const maxModelList = 4 << 20

// ServerModels asks a service which models it has, in the way of its wire. key
// may be empty. client may be nil: one that uses no proxy for a loopback
// address. Redirects are not followed.
func ServerModels(ctx context.Context, client *http.Client, p Profile, key string) ([]string, error) {
	models, err := serverModels(ctx, client, p, key)
	if err == nil {
		return models, nil
	}
	err = fmt.Errorf("ask %s for its models: %w", p.Name, err)
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" && p.Local {
		err = fmt.Errorf("%w; start the server, or say where it is: oh provider edit %s --base-url ADDRESS", err, p.Name)
	}
	return nil, err
}

// orPlain returns the client, with redirects refused: a key or a question must
// not travel on. Without one it makes one that uses no proxy for the loopback
// interface.
func orPlain(client *http.Client, to *url.URL) *http.Client {
	own := http.Client{}
	if client != nil {
		own = *client
	} else {
		transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}
		if loopback(to.Hostname()) {
			transport.Proxy = nil
		}
		own.Transport = transport
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

func serverModels(ctx context.Context, client *http.Client, p Profile, key string) ([]string, error) {
	if p.Host != "" {
		return nil, errors.New("the cloud's services do not list them here; name one")
	}
	u, err := url.Parse(strings.TrimRight(p.BaseURL, "/"))
	if err != nil || u.Host == "" {
		return nil, errors.New("its address cannot be read; write it like https://host/v1")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, modelsURL(*u, p.Wire), nil)
	if err != nil {
		return nil, err
	}
	for name, values := range p.Headers {
		req.Header[name] = values
	}
	authorize(req.Header, p.Wire, key)
	resp, err := orPlain(client, u).Do(req)
	if err != nil {
		return nil, bareURL(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", u.Redacted(), resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxModelList))
	if err != nil {
		return nil, fmt.Errorf("read the list: %w", err)
	}
	return modelList(body)
}

// modelsURL is where the list is, for a base that may lack its version.
func modelsURL(u url.URL, wire string) string {
	query := u.Query()
	switch wire {
	case Gemini:
		if u.Path == "" {
			u.Path = "/v1beta"
		}
		query.Set("pageSize", "1000")
	case Anthropic:
		u.Path = strings.TrimSuffix(u.Path, "/v1") + "/v1"
		query.Set("limit", "1000")
	default:
		if u.Path == "" {
			u.Path = "/v1"
		}
	}
	u.Path += "/models"
	u.RawQuery = query.Encode()
	return u.String()
}

func authorize(h http.Header, wire, key string) {
	if wire == Anthropic {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	switch {
	case key == "":
	case wire == Anthropic:
		h.Set("X-Api-Key", key)
	case wire == Gemini:
		h.Set("X-Goog-Api-Key", key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
}

var errNoList = errors.New("the answer is no list of models")

// modelList reads a list in the form of OpenAI and Anthropic, or of Gemini, where
// models that do not chat are left out, as is what cannot be read or shown.
func modelList(body []byte) ([]string, error) {
	var list struct {
		Object string           `json:"object"`
		Data   *json.RawMessage `json:"data"`
		Models *json.RawMessage `json:"models"`
	}
	if json.Unmarshal(body, &list) != nil || list.Data == nil && list.Models == nil && list.Object != "list" {
		return nil, errNoList
	}
	var data []json.RawMessage
	for _, raw := range []*json.RawMessage{list.Data, list.Models} {
		if raw != nil && data == nil && json.Unmarshal(*raw, &data) != nil {
			return nil, errNoList
		}
	}
	var ids []string
	for _, raw := range data {
		var m struct {
			ID   string   `json:"id"`
			Name string   `json:"name"`
			Does []string `json:"supportedGenerationMethods"`
		}
		if json.Unmarshal(raw, &m) != nil {
			continue
		}
		if m.ID == "" && list.Data == nil && (m.Does == nil || slices.Contains(m.Does, "generateContent")) {
			m.ID = strings.TrimPrefix(m.Name, "models/")
		}
		if showable(m.ID) {
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
