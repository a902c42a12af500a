package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var errHuman = errors.New("it wants to see that a person is asking, and gave no results. The user can set OPENHARNESS_WEB_SEARCH_URL, BRAVE_API_KEY, TAVILY_API_KEY or EXA_API_KEY to search elsewhere")

// duck asks DuckDuckGo for its page without scripts.
func (s *set) duck(ctx context.Context, e engine, q inquiry) ([]hit, error) {
	r, err := s.request(ctx, e, with(e.url, "q", q.narrow()), http.Header{"Accept": {"text/html"}}, nil)
	if err != nil {
		return nil, err
	}
	return duckHits(r.body, r.url)
}

// duckHits reads a page of results, of DuckDuckGo's form with or without
// tables. Title and snippet are taken from one block; where there are no
// blocks a snippet belongs to the last title before it.
func duckHits(page string, base *url.URL) ([]hit, error) {
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return nil, errors.New("its page is nested too deep to be read")
	}
	d := duckPage{base: base}
	d.walk(doc)
	if len(d.hits) == 0 && d.human {
		return nil, errHuman
	}
	return d.hits, nil
}

type duckPage struct {
	base  *url.URL
	hits  []hit
	last  *hit // that a snippet would belong to; nil: none
	human bool // a proof is asked for
}

func (d *duckPage) walk(n *html.Node) {
	if n.Type == html.ElementNode {
		switch class := classes(n); {
		case slices.Contains(class, "result--ad"), slices.Contains(class, "result-sponsored"):
			d.last = nil
			return
		case n.DataAtom == atom.Div && slices.Contains(class, "result"):
			d.last = nil
			defer func() { d.last = nil }()
		case n.DataAtom == atom.A && (slices.Contains(class, "result__a") || slices.Contains(class, "result-link")):
			d.title(n)
			return
		case slices.Contains(class, "result__snippet"), slices.Contains(class, "result-snippet"):
			if d.last != nil && d.last.snippet == "" {
				d.last.snippet = textOf(n)
			}
			return
		case attr(n, "id") == "challenge-form", slices.ContainsFunc(class, func(c string) bool { return strings.HasPrefix(c, "anomaly-modal") }):
			d.human = true
		}
	}
	for c := range n.ChildNodes() {
		d.walk(c)
	}
}

func (d *duckPage) title(n *html.Node) {
	d.last = nil
	u := unwrap(d.base, attr(n, "href"))
	if u == "" {
		return
	}
	d.hits = append(d.hits, hit{title: textOf(n), url: u})
	d.last = &d.hits[len(d.hits)-1]
}

func classes(n *html.Node) []string { return strings.Fields(attr(n, "class")) }

// unwrap returns where a link of a page of results leads in the end; "" for an
// advertisement and for what is no address.
func unwrap(base *url.URL, href string) string {
	u, err := base.Parse(strings.TrimSpace(href))
	if err != nil {
		return ""
	}
	host := u.Hostname()
	ducks := host == "duckduckgo.com" || strings.HasSuffix(host, ".duckduckgo.com") || host == base.Hostname()
	switch {
	case ducks && strings.HasPrefix(u.Path, "/y.js"):
		return ""
	case ducks && (u.Path == "/l/" || u.Path == "/l"):
		to, err := url.Parse(u.Query().Get("uddg"))
		if err != nil {
			return ""
		}
		u = to
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.HasPrefix(u.Path, "/y.js") && strings.HasSuffix(u.Hostname(), "duckduckgo.com") {
		return ""
	}
	return u.String()
}
