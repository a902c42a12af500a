package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/config/disk"
)

// Source is where the catalogue is refreshed from unless the user says where.
const Source = "https://models.dev/api.json"

// FileName is the name of the refreshed file.
const FileName = "catalog.json"

const (
	maxSource    = 32 << 20 // bytes of an answer
	refreshLimit = 60 * time.Second
)

// Refreshed says what [Refresh] did.
type Refreshed struct {
	Source   string    `json:"source"`
	Fetched  time.Time `json:"fetched"`
	Same     bool      `json:"unchanged"` // the source had nothing newer
	Services int       `json:"services"`
	Models   int       `json:"models"`
}

// Refresh reads the catalogue at source ([Source] when empty; the form is that
// of models.dev's api.json: services by id, each with its models) and keeps what
// it says of the built-in profiles in file. The file is replaced as a whole or
// not at all. The error says what is wrong and leaves the file as it was.
// client may be nil.
func Refresh(ctx context.Context, client *http.Client, source, file string) (Refreshed, error) {
	if source == "" {
		source = Source
	}
	ctx, cancel := context.WithTimeout(ctx, refreshLimit)
	defer cancel()
	var done Refreshed
	err := disk.File{Path: file}.Update(ctx, func(old []byte) ([]byte, error) {
		next, err := fetchLatest(ctx, client, source, orEmpty(decodeLatest(old)))
		if err != nil {
			return nil, err
		}
		done.Source, done.Fetched, done.Services = source, next.Fetched, len(next.Services)
		for id := range next.Services {
			done.Models += len(next.Services[id])
		}
		done.Same = next.same
		data, err := next.encode()
		if err == nil && len(data) > disk.MaxSize {
			return nil, fmt.Errorf("%s lists more models than can be kept (%d MiB)", source, disk.MaxSize>>20)
		}
		return data, err
	})
	if err != nil {
		return Refreshed{}, fmt.Errorf("refresh the catalogue: %w", err)
	}
	return done, nil
}

type fetched struct {
	latest
	same bool
}

func fetchLatest(ctx context.Context, client *http.Client, source string, old *latest) (*fetched, error) {
	req, err := sourceRequest(ctx, source)
	if err != nil {
		return nil, err
	}
	if old.Source == source && old.ETag != "" {
		req.Header.Set("If-None-Match", old.ETag)
	}
	resp, err := orPlain(client, req.URL).Do(req)
	if err != nil {
		return nil, bareURL(err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusNotModified && old.Source == source:
		old.Fetched = time.Now().UTC().Truncate(time.Second)
		return &fetched{*old, true}, nil
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answered %s", source, resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxSource+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", source, err)
	}
	if len(body) > maxSource {
		return nil, fmt.Errorf("%s sent more than %d MiB", source, maxSource>>20)
	}
	services, err := reduce(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	head := head{Version: latestVersion, Source: source, ETag: resp.Header.Get("ETag"), Fetched: time.Now().UTC().Truncate(time.Second)}
	return &fetched{latest{head, services}, false}, nil
}

func sourceRequest(ctx context.Context, source string) (*http.Request, error) {
	u, err := url.Parse(source)
	if err != nil || u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())) || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("the address must begin with https:// and hold no name or password; set catalog_url to such a one")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", u.Host, err)
	}
	req.Header.Set("Accept", "application/json")
	return req, nil
}

// bareURL drops the method and all but the place that net/http puts before an
// error.
func bareURL(err error) error {
	wrapped, ok := errors.AsType[*url.Error](err)
	if !ok {
		return err
	}
	u, bad := url.Parse(wrapped.URL)
	if bad != nil {
		return wrapped.Err
	}
	return fmt.Errorf("reach %s://%s%s: %w", u.Scheme, u.Host, u.Path, wrapped.Err)
}

// sourceModel is what models.dev says of a model, so far as it is used.
type sourceModel struct {
	ToolCall   *bool `json:"tool_call"`
	Modalities struct {
		Input  []string `json:"input"`
		Output []string `json:"output"`
	} `json:"modalities"`
	Limit struct {
		Context float64 `json:"context"`
		Input   float64 `json:"input"` // where a prompt may not fill the window
		Output  float64 `json:"output"`
	} `json:"limit"`
	Cost      map[string]json.RawMessage `json:"cost"`
	Reasoning []struct {
		Type   string    `json:"type"`
		Values []*string `json:"values"`
	} `json:"reasoning_options"`
}

var errNotCatalogue = errors.New("this is no catalogue in the form of models.dev (an object of services, each with its models)")

// reduce keeps of a source what the built-in profiles need.
func reduce(body []byte) (map[string][]listed, error) {
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil {
		return nil, errNotCatalogue
	}
	if inner, ok := all["providers"]; ok { // as in catalog.json of models.dev
		if all = nil; json.Unmarshal(inner, &all) != nil {
			return nil, errNotCatalogue
		}
	}
	services := map[string][]listed{}
	for _, p := range builtIn() {
		if p.Listed == "" || services[p.Listed] != nil || all[p.Listed] == nil {
			continue
		}
		models, err := reduceService(all[p.Listed])
		if err != nil {
			return nil, err
		}
		if len(models) > 0 {
			services[p.Listed] = models
		}
	}
	if len(services) == 0 {
		return nil, errNotCatalogue
	}
	return services, nil
}

// maxName bounds a model's name, in bytes.
const maxName = 1024

// showable reports whether a model's name can be shown: it does nothing to a
// terminal.
func showable(id string) bool {
	odd := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	return strings.TrimSpace(id) != "" && len(id) <= maxName && !strings.ContainsFunc(id, odd)
}

// nameable reports whether a model's name can be shown, typed and kept.
func nameable(id string) bool { return showable(id) && !strings.ContainsAny(id, " *\"\\") }

// reduceService keeps the models of a service that write and of which something
// is said, by name.
func reduceService(raw json.RawMessage) ([]listed, error) {
	var service struct {
		Models map[string]json.RawMessage `json:"models"`
	}
	if json.Unmarshal(raw, &service) != nil {
		return nil, nil
	}
	var models []listed
	for _, id := range slices.Sorted(maps.Keys(service.Models)) {
		var m sourceModel
		if !nameable(id) || json.Unmarshal(service.Models[id], &m) != nil {
			continue
		}
		f := m.fields()
		if said := m.Modalities.Output; len(f) == 0 || said != nil && !slices.Contains(said, "text") {
			continue
		}
		data, err := oh.Marshal(f)
		if err != nil {
			return nil, fmt.Errorf("keep %s: %w", id, err)
		}
		models = append(models, listed{id, string(data)})
	}
	return models, nil
}

// fields says a source's facts in our own words. What it does not know or says
// badly is left out.
func (m *sourceModel) fields() Fields {
	f := Fields{}
	f.number("context_window", m.Limit.Context)
	f.number("context_window", m.Limit.Input)
	f.number("max_output_tokens", m.Limit.Output)
	if len(m.Modalities.Input) > 0 {
		f.flag("vision", slices.Contains(m.Modalities.Input, "image"))
		f.flag("documents", slices.Contains(m.Modalities.Input, "pdf"))
	}
	if m.ToolCall != nil {
		f.flag("tools", *m.ToolCall)
	}
	for from, to := range map[string]string{"input": "input_price", "output": "output_price", "cache_read": "cache_read_price", "cache_write": "cache_write_price"} {
		if raw := m.Cost[from]; raw != nil && CheckField(to, raw) == nil {
			f[to] = raw
		}
	}
	for _, o := range m.Reasoning {
		f.efforts(o.Type, o.Values)
	}
	return f
}

func (f Fields) number(key string, v float64) {
	if v == math.Trunc(v) && v > 0 && v <= 1e9 {
		f[key] = json.RawMessage(fmt.Sprintf("%.0f", v))
	}
}

func (f Fields) flag(key string, on bool) {
	f[key] = json.RawMessage("false")
	if on {
		f[key] = json.RawMessage("true")
	}
}

// efforts keeps the words that a user can ask for, in their order.
func (f Fields) efforts(kind string, values []*string) {
	if kind != "effort" {
		return
	}
	var words []string
	for _, e := range efforts() {
		if slices.ContainsFunc(values, func(v *string) bool { return v != nil && *v == e }) {
			words = append(words, e)
		}
	}
	if data, err := oh.Marshal(words); err == nil && len(words) > 0 {
		f["efforts"] = data
	}
}
