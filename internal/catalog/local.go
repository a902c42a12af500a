package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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
		if p.Local {
			local = append(local, s.at(p))
		}
	}
	found := make([]*Server, len(local))
	var wg sync.WaitGroup
	for i, p := range local {
		wg.Go(func() {
			if models, err := ServerModels(ctx, p.BaseURL, ""); err == nil {
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
		p.BaseURL = fmt.Sprintf("http://127.0.0.1:%d/v1", port)
	}
	return p
}

// maxModelList bounds what a server may answer, in bytes.
const maxModelList = 4 << 20

// ServerModels asks an OpenAI-compatible server for its models (GET
// base/models). key may be empty. No proxy is used for a loopback address, and
// redirects are not followed.
func ServerModels(ctx context.Context, base, key string) ([]string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/models", nil)
	if err != nil {
		return nil, fmt.Errorf("ask %s for its models: %w", base, err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}
	if loopback(req.URL.Hostname()) {
		transport.Proxy = nil
	}
	client := http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask %s for its models: %w", base, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask %s for its models: it answered %s", base, resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxModelList))
	if err != nil {
		return nil, fmt.Errorf("ask %s for its models: %w", base, err)
	}
	models, err := modelList(body)
	if err != nil {
		return nil, fmt.Errorf("ask %s for its models: %w", base, err)
	}
	return models, nil
}

var errNoList = errors.New("the answer is no list of models")

func modelList(body []byte) ([]string, error) {
	var list struct {
		Object string           `json:"object"`
		Data   *json.RawMessage `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil || list.Data == nil && list.Object != "list" {
		return nil, errNoList
	}
	if list.Data == nil {
		return nil, nil
	}
	var data []struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(*list.Data, &data) != nil {
		return nil, errNoList
	}
	var ids []string
	for _, m := range data {
		if m.ID != "" {
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
