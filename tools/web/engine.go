package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// maxReply bounds the answer of a search engine, in bytes.
const maxReply = 2 << 20

// engine chooses the search engine: the URL of the call, the user's own, the
// first service with a key, DuckDuckGo.
func (s *set) engine(given string) (engine, error) {
	if strings.TrimSpace(given) != "" {
		u, err := address(given)
		if err != nil {
			return engine{}, fmt.Errorf("search_url: %w", err)
		}
		e := engine{name: "SearXNG", url: u, ask: s.searxng}
		if own, err := url.Parse(s.cfg.SearchURL); err == nil && own.Scheme == u.Scheme && own.Host == u.Host {
			e.own = true
		}
		return e, nil
	}
	for _, c := range []struct {
		use            bool
		name, url, set string
		own            bool
		key            Key
		ask            func(context.Context, engine, inquiry) ([]hit, error)
	}{
		{s.cfg.SearchURL != "", "SearXNG", s.cfg.SearchURL, "OPENHARNESS_WEB_SEARCH_URL", true, "", s.searxng},
		{s.cfg.Brave != "", "Brave", s.cfg.Endpoints.Brave, "Endpoints.Brave", false, s.cfg.Brave, s.brave},
		{s.cfg.Tavily != "", "Tavily", s.cfg.Endpoints.Tavily, "Endpoints.Tavily", false, s.cfg.Tavily, s.tavily},
		{s.cfg.Exa != "", "Exa", s.cfg.Endpoints.Exa, "Endpoints.Exa", false, s.cfg.Exa, s.exa},
		{true, "DuckDuckGo", s.cfg.Endpoints.DuckDuckGo, "Endpoints.DuckDuckGo", false, "", s.duck},
	} {
		if !c.use {
			continue
		}
		u, err := url.Parse(c.url)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			return engine{}, fmt.Errorf("the address of the search engine (%s) is no http or https URL", c.set)
		}
		return engine{name: c.name, url: u, own: c.own, key: c.key, ask: c.ask}, nil
	}
	return engine{}, errors.New("no search engine")
}

// reply is the answer of an engine.
type reply struct {
	url  *url.URL
	kind kind
	body string
}

// request asks an engine; a nil body asks with GET.
func (s *set) request(ctx context.Context, e engine, u *url.URL, head http.Header, body any) (reply, error) {
	v := &visit{url: u}
	var err error
	if body == nil {
		v, err = s.open(ctx, u, head, e.own, true) // a key goes nowhere else
	} else {
		var raw []byte
		if raw, err = oh.Marshal(body); err != nil {
			return reply{}, fmt.Errorf("encode the request: %w", err)
		}
		head.Set("Content-Type", "application/json")
		v.resp, err = s.send(ctx, http.MethodPost, u, head, bytes.NewReader(raw), e.own)
	}
	if err != nil {
		return reply{}, e.hide(err)
	}
	if v.away != nil {
		return reply{}, fmt.Errorf("it redirects to %s, which is not followed; name the right address of the engine", v.away.Host)
	}
	defer v.resp.Body.Close()
	data, more, err := s.readAll(ctx, v.url, v.resp.Body, maxReply)
	if err != nil {
		return reply{}, e.hide(err)
	}
	if more {
		return reply{}, fmt.Errorf("its answer is longer than %s bytes", text.Number(maxReply))
	}
	kind, _ := media(v.resp.Header.Get("Content-Type"), data[:min(len(data), 1024)])
	r := reply{url: v.url, kind: kind}
	r.body, _ = decode(data, v.resp.Header.Get("Content-Type"), kind)
	if code := v.resp.StatusCode; code < 200 || code > 299 {
		return r, e.refused(code, r)
	}
	return r, nil
}

// refused words the status of an engine that does not answer.
func (e engine) refused(code int, r reply) error {
	said := ""
	if r.kind == object || r.kind == plain {
		said = ": " + text.OneLine(r.body, 300)
	}
	switch {
	case code == 401 || code == 403 && e.key != "":
		said += "; the key is not accepted: the user has to check it"
	case code == 403 && e.name == "SearXNG":
		said += "; the instance does not give JSON: its owner has to add json to search.formats in settings.yml"
	case code == 429:
		said += "; too many requests: wait, or search less"
	}
	return e.hide(fmt.Errorf("status %d %s%s", code, http.StatusText(code), said))
}

// hide takes the key, and the password of the URL, out of an error.
func (e engine) hide(err error) error {
	secrets := []string{string(e.key)}
	if p, ok := e.url.User.Password(); ok {
		secrets = append(secrets, p)
	}
	msg := err.Error()
	for _, s := range secrets {
		if s != "" && strings.Contains(msg, s) {
			msg = strings.ReplaceAll(msg, s, "[key]")
			err = errors.New(msg)
		}
	}
	return err
}

// parse reads a JSON answer into v. A member of one result that is not text is left out,
// since the others are good.
func (r reply) parse(v any) error {
	err := json.Unmarshal([]byte(r.body), v)
	if odd, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && strings.Contains(odd.Field, "results.") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("its answer is no JSON of the form that was expected (%s)", text.OneLine(err.Error(), 200))
	}
	return nil
}

// hits are the results of an answer in the form that several services share.
func (r reply) hits() ([]hit, error) {
	var out struct {
		Results []struct{ Title, URL, Content string } `json:"results"`
	}
	if err := r.parse(&out); err != nil {
		return nil, err
	}
	var hits []hit
	for _, x := range out.Results {
		hits = append(hits, hit{x.Title, x.URL, x.Content})
	}
	return hits, nil
}

// with returns a URL with parameters set; none that it has already is lost.
func with(u *url.URL, pairs ...string) *url.URL {
	to := *u
	q := to.Query()
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	to.RawQuery = q.Encode()
	return &to
}

// searxng asks a SearXNG instance, or whatever answers a GET with q in a page
// of the form of DuckDuckGo's.
func (s *set) searxng(ctx context.Context, e engine, q inquiry) ([]hit, error) {
	u := with(e.url, "q", q.narrow(), "format", "json")
	if u.Path == "" || u.Path == "/" {
		u.Path = "/search"
	}
	r, err := s.request(ctx, e, u, http.Header{"Accept": {"application/json, text/html;q=0.5"}}, nil)
	if err != nil {
		return nil, err
	}
	if r.kind == markup {
		return duckHits(r.body, r.url)
	}
	return r.hits()
}

func (s *set) brave(ctx context.Context, e engine, q inquiry) ([]hit, error) {
	u := with(e.url, "q", q.narrow(), "count", strconv.Itoa(q.wanted()), "text_decorations", "false")
	r, err := s.request(ctx, e, u, http.Header{"Accept": {"application/json"}, "X-Subscription-Token": {string(e.key)}}, nil)
	if err != nil {
		return nil, err
	}
	var out struct {
		Web struct {
			Results []struct{ Title, URL, Description string } `json:"results"`
		} `json:"web"`
	}
	if err := r.parse(&out); err != nil {
		return nil, err
	}
	var hits []hit
	for _, x := range out.Web.Results {
		hits = append(hits, hit{untag(x.Title), x.URL, untag(x.Description)})
	}
	return hits, nil
}

func (s *set) tavily(ctx context.Context, e engine, q inquiry) ([]hit, error) {
	body := struct {
		Query   string   `json:"query"`
		Max     int      `json:"max_results"`
		Include []string `json:"include_domains,omitempty"`
		Exclude []string `json:"exclude_domains,omitempty"`
	}{q.query, q.wanted(), q.allowed, q.blocked}
	r, err := s.request(ctx, e, e.url, http.Header{"Accept": {"application/json"}, "Authorization": {"Bearer " + string(e.key)}}, body)
	if err != nil {
		return nil, err
	}
	return r.hits()
}

func (s *set) exa(ctx context.Context, e engine, q inquiry) ([]hit, error) {
	type limit struct {
		Chars int `json:"maxCharacters"`
	}
	type contents struct {
		Text limit `json:"text"`
	}
	body := struct {
		Query    string   `json:"query"`
		Max      int      `json:"numResults"`
		Include  []string `json:"includeDomains,omitempty"`
		Exclude  []string `json:"excludeDomains,omitempty"`
		Contents contents `json:"contents"`
	}{q.query, q.wanted(), q.allowed, q.blocked, contents{limit{maxSnippet}}}
	r, err := s.request(ctx, e, e.url, http.Header{"Accept": {"application/json"}, "X-Api-Key": {string(e.key)}}, body)
	if err != nil {
		return nil, err
	}
	var out struct {
		Results []struct{ Title, URL, Text string } `json:"results"`
	}
	if err := r.parse(&out); err != nil {
		return nil, err
	}
	var hits []hit
	for _, x := range out.Results {
		hits = append(hits, hit{x.Title, x.URL, x.Text})
	}
	return hits, nil
}

// untag returns text that came with HTML's tags and entities as plain text.
func untag(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	z := html.NewTokenizer(strings.NewReader(s))
	var b strings.Builder
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			b.Write(z.Text())
		}
	}
}
