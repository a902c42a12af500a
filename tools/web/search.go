package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

type searchInput struct {
	Query   string   `json:"query"`
	Max     int      `json:"max_results,omitempty" oh:"min=1,max=10,default=5"`
	URL     string   `json:"search_url,omitempty"`
	Allowed []string `json:"allowed_domains,omitempty"`
	Blocked []string `json:"blocked_domains,omitempty"`
}

const (
	maxQuery   = 2000 // code points
	maxDomains = 50
	maxTitle   = 200
	maxSnippet = 500
)

// hit is one result of a search.
type hit struct{ title, url, snippet string }

// inquiry is what an engine is asked.
type inquiry struct {
	query            string
	max              int // results wanted
	allowed, blocked []string
}

// engine is a search service.
type engine struct {
	name string
	url  *url.URL
	own  bool // named by the user: may be on a private address
	key  Key
	ask  func(ctx context.Context, e engine, q inquiry) ([]hit, error)
}

// where names the engine without what its URL may hold in secret.
func (e engine) where() string { return e.name + " (" + e.url.Host + ")" }

func (s *set) search(_ context.Context, _ *oh.Call, in searchInput) (oh.Action, error) {
	q := inquiry{query: strings.TrimSpace(text.Clean(in.Query)), max: in.Max}
	switch n := len([]rune(q.query)); {
	case n == 0:
		return oh.Action{}, errors.New("query is empty: say what to search for")
	case n > maxQuery:
		return oh.Action{}, fmt.Errorf("query has %d characters; at most %d are taken", n, maxQuery)
	}
	var err error
	if q.allowed, err = domains("allowed_domains", in.Allowed); err != nil {
		return oh.Action{}, err
	}
	if q.blocked, err = domains("blocked_domains", in.Blocked); err != nil {
		return oh.Action{}, err
	}
	e, err := s.engine(in.URL)
	if err != nil {
		return oh.Action{}, err
	}
	return oh.Action{
		Access: oh.Access{ReadOnly: true, URLs: []string{place(e.url)}},
		Run: func(ctx context.Context, _ func(oh.Event)) (oh.Result, error) {
			ctx, cancel := within(ctx, s.cfg.SearchTime, e.url.Host)
			defer cancel()
			hits, err := e.ask(ctx, e, q)
			if err != nil {
				return oh.Result{}, fmt.Errorf("search with %s: %w", e.where(), err)
			}
			return listing(e, q, hits), nil
		},
	}, nil
}

// domains brings names of domains into the form in which they are compared.
func domains(field string, list []string) ([]string, error) {
	if len(list) > maxDomains {
		return nil, fmt.Errorf("%s names %d domains; at most %d are taken", field, len(list), maxDomains)
	}
	var out []string
	for _, d := range list {
		name := strings.TrimSpace(d)
		if _, rest, ok := strings.Cut(name, "://"); ok {
			name = rest
		}
		name, _, _ = strings.Cut(name, "/")
		name = strings.TrimPrefix(name, "*.")
		host, err := asciiHost(name)
		if err != nil || strings.ContainsAny(host, ": ") {
			return nil, fmt.Errorf("%s: %q is no domain; write it like example.com", field, text.Cut(d, 100))
		}
		out = append(out, host)
	}
	return out, nil
}

// below reports whether a host is one of domains, or below one.
func below(host string, domains []string) bool {
	return slices.ContainsFunc(domains, func(d string) bool {
		return host == d || strings.HasSuffix(host, "."+d)
	})
}

// narrow returns the query with the domains in the form of most engines.
func (q inquiry) narrow() string {
	words := []string{q.query}
	var sites []string
	for _, d := range q.allowed {
		sites = append(sites, "site:"+d)
	}
	if len(sites) > 1 {
		words = append(words, "("+strings.Join(sites, " OR ")+")")
	} else {
		words = append(words, sites...)
	}
	for _, d := range q.blocked {
		words = append(words, "-site:"+d)
	}
	return strings.Join(words, " ")
}

// wanted is how many results to ask for: more than shown when some may be
// dropped.
func (q inquiry) wanted() int {
	if len(q.allowed)+len(q.blocked) > 0 {
		return 20
	}
	return q.max
}

// fit drops what was not asked for and what is there twice, and cleans the
// rest.
func (q inquiry) fit(hits []hit) (out []hit, dropped int) {
	seen := map[string]bool{}
	for _, h := range hits {
		u, err := url.Parse(strings.TrimSpace(h.url))
		if err != nil || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || len(h.url) > maxURL {
			continue
		}
		host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
		if len(q.allowed) > 0 && !below(host, q.allowed) || below(host, q.blocked) {
			dropped++
			continue
		}
		h.url = text.Clean(u.String())
		if seen[h.url] || len(out) == q.max {
			continue
		}
		seen[h.url] = true
		h.title = text.OneLine(text.Clean(h.title), maxTitle)
		h.snippet = text.OneLine(text.Clean(h.snippet), maxSnippet)
		if h.title == "" {
			h.title = host
		}
		out = append(out, h)
	}
	return out, dropped
}

// listing is the result of a search.
func listing(e engine, q inquiry, hits []hit) oh.Result {
	list, dropped := q.fit(hits)
	head := fmt.Sprintf("Search by %s: %s", e.where(), text.OneLine(q.query, 300))
	if len(list) == 0 {
		why := "No results. Try other words."
		if dropped > 0 {
			why = text.Plural(dropped, "result") + ", none of them from the domains that were asked for."
		}
		return oh.ErrorResult(head + "\n" + why)
	}
	var b strings.Builder
	b.WriteString(head + "\n" + marker() + "\n")
	for i, h := range list {
		fmt.Fprintf(&b, "\n%d. %s\n   %s\n", i+1, h.title, h.url)
		if h.snippet != "" {
			b.WriteString("   " + h.snippet + "\n")
		}
	}
	res := oh.TextResult(strings.TrimRight(b.String(), "\n"))
	res.Display = oh.Count{N: len(list), Unit: "result", In: text.OneLine(q.query, 100)}
	if raw, err := oh.Marshal(map[string]any{"engine": e.name, "host": e.url.Host, "results": len(list)}); err == nil {
		res.Meta = raw
	}
	return res
}
