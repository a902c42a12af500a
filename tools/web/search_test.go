package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// ducks is a page of results of DuckDuckGo: an advertisement, a result without
// a snippet, a plain link, and what follows.
const ducks = `<html><body><div class="serp__results"><div id="links" class="results">
<div class="result results_links result--ad"><h2><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=x">Ad</a></h2><a class="result__snippet">Buy</a></div>
<div class="result results_links web-result"><h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fone.example%2Fa%3Fb%3D1&amp;rut=abc">First <b>title</b></a></h2></div>
<div class="result results_links web-result"><h2 class="result__title"><a class="result__a" href="https://two.example/">Second</a></h2>
<a class="result__url" href="#">two.example</a><a class="result__snippet" href="#">About <b>two</b> &amp;
more</a></div>
<div class="result"><a class="result__a" href="javascript:alert(1)">Bad</a><a class="result__snippet">bad</a></div>
<div class="result"><a class="result__a" href="/l/?uddg=https%3A%2F%2Fsub.one.example%2F">Third</a><div class="result__snippet">About three</div></div>
</div></div></body></html>`

// lite is the same in the form with tables.
const lite = `<table><tr><td>1.&nbsp;</td><td><a rel="nofollow" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fone.example%2F" class='result-link'>One</a></td></tr>
<tr><td></td><td><span class='link-text'>one.example</span></td></tr>
<tr class="result-sponsored"><td><a href="https://ad.example/" class="result-link">Ad</a></td></tr><tr class="result-sponsored"><td class="result-snippet">ad</td></tr>
<tr><td>2.</td><td><a href="https://two.example/" class="result-link">Two</a></td></tr><tr><td></td><td class='result-snippet'>About two</td></tr></table>`

func TestDuckHits(t *testing.T) {
	base := &url.URL{Scheme: "https", Host: "html.duckduckgo.com", Path: "/html/"}
	for name, c := range map[string]struct {
		page string
		want []hit
	}{
		"blocks": {ducks, []hit{{"First title", "https://one.example/a?b=1", ""}, {"Second", "https://two.example/", "About two &\nmore"}, {"Third", "https://sub.one.example/", "About three"}}},
		"tables": {lite, []hit{{"One", "https://one.example/", ""}, {"Two", "https://two.example/", "About two"}}},
		"empty":  {"<p>nothing", nil},
	} {
		got, err := duckHits(c.page, base)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(hit{})); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
	if _, err := duckHits(`<form id="challenge-form"><div class="anomaly-modal__title">`, base); err != errHuman {
		t.Errorf("a page that asks for a proof: %v", err)
	}
	if _, err := duckHits(strings.Repeat("<div>", 1000), base); err == nil {
		t.Error("a page nested too deep is no error")
	}
}

// seen is a request as an engine got it.
type seen struct {
	method, path, query, body string
	head                      map[string]string
}

func record(t *testing.T, into *seen, contentType, answer string) string {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*into = seen{r.Method, r.URL.Path, r.URL.RawQuery, string(body), map[string]string{}}
		for _, k := range []string{"X-Subscription-Token", "Authorization", "X-Api-Key"} {
			if v := r.Header.Get(k); v != "" {
				into.head[k] = v
			}
		}
		w.Header().Set("Content-Type", contentType)
		fmt.Fprint(w, answer)
	})
}

func TestEngines(t *testing.T) {
	const results = `{"results":[{"title":"A","url":"https://a.example/","content":"about  a"},{"title":"","url":"https://b.example/","content":""},{"title":"bad","url":"ftp://x"},{"title":7,"url":"https://c.example/","content":5}]}`
	const list = "\n\n1. A\n   https://a.example/\n   about a\n\n2. b.example\n   https://b.example/\n\n3. c.example\n   https://c.example/"
	for _, c := range []struct {
		name, input, contentType, answer string
		cfg                              func(base string) Config
		want                             seen
		text                             string
	}{
		{
			"SearXNG", arg("query", "x y"), "application/json", results,
			func(base string) Config {
				return Config{SearchURL: strings.Replace(base, "//", "//me:s3cret@", 1), Brave: "k"} // loopback, and not allowed otherwise
			},
			seen{"GET", "/search", "format=json&q=x+y", "", map[string]string{"Authorization": "Basic bWU6czNjcmV0"}}, list,
		},
		{
			"SearXNG", arg("query", "x", "max_results", 1, "blocked_domains", []string{"https://a.example/x"}), "application/json", results,
			func(base string) Config { return Config{SearchURL: base + "/deep/search?lang=de"} },
			seen{"GET", "/deep/search", "format=json&lang=de&q=x+-site%3Aa.example", "", map[string]string{}}, "\n\n1. b.example\n   https://b.example/",
		},
		{
			"SearXNG", arg("query", "x"), "text/html", ducks,
			func(base string) Config { return Config{SearchURL: base} },
			seen{"GET", "/search", "format=json&q=x", "", map[string]string{}},
			"\n\n1. First title\n   https://one.example/a?b=1\n\n2. Second\n   https://two.example/\n   About two & more\n\n3. Third\n   https://sub.one.example/\n   About three",
		},
		{
			"Brave", arg("query", "x", "allowed_domains", []string{"a.example", "*.c.example"}), "application/json",
			`{"web":{"results":[{"title":"A &amp; <strong>B</strong>","url":"https://www.a.example/","description":"d"},{"title":"x","url":"https://xa.example/"}]}}`,
			func(base string) Config {
				return Config{Allow: local, Brave: "kb", Tavily: "kt", Endpoints: Endpoints{Brave: base + "/b"}}
			},
			seen{"GET", "/b", "count=20&q=x+%28site%3Aa.example+OR+site%3Ac.example%29&text_decorations=false", "", map[string]string{"X-Subscription-Token": "kb"}},
			"\n\n1. A & B\n   https://www.a.example/\n   d",
		},
		{
			"Tavily", arg("query", "x", "allowed_domains", []string{"a.example"}), "application/json", results,
			func(base string) Config {
				return Config{Allow: local, Tavily: "kt", Exa: "ke", Endpoints: Endpoints{Tavily: base}}
			},
			seen{"POST", "/", "", `{"query":"x","max_results":20,"include_domains":["a.example"]}`, map[string]string{"Authorization": "Bearer kt"}},
			"\n\n1. A\n   https://a.example/\n   about a",
		},
		{
			"Exa", arg("query", "x"), "application/json", `{"results":[{"title":"A","url":"https://a.example/","text":"about a"}]}`,
			func(base string) Config { return Config{Allow: local, Exa: "ke", Endpoints: Endpoints{Exa: base}} },
			seen{"POST", "/", "", `{"query":"x","numResults":5,"contents":{"text":{"maxCharacters":500}}}`, map[string]string{"X-Api-Key": "ke"}},
			"\n\n1. A\n   https://a.example/\n   about a",
		},
		{
			"DuckDuckGo", arg("query", "x", "allowed_domains", []string{"one.example"}), "text/html", ducks,
			func(base string) Config {
				return Config{Allow: local, Endpoints: Endpoints{DuckDuckGo: base + "/html/"}}
			},
			seen{"GET", "/html/", "q=x+site%3Aone.example", "", map[string]string{}},
			"\n\n1. First title\n   https://one.example/a?b=1\n\n2. Third\n   https://sub.one.example/\n   About three",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got seen
			base := record(t, &got, c.contentType, c.answer)
			res := call(t, c.cfg(base), "web_search", c.input)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(seen{})); diff != "" {
				t.Errorf("request (-want +got)\n%s", diff)
			}
			var in searchInput
			if err := json.Unmarshal([]byte(c.input), &in); err != nil {
				t.Fatal(err)
			}
			host := strings.TrimPrefix(base, "http://")
			if diff := cmp.Diff("Search by "+c.name+" ("+host+"): "+in.Query+"\n"+marker()+c.text, res.Content.Text()); diff != "" || res.IsError {
				t.Errorf("error %t (-want +got)\n%s", res.IsError, diff)
			}
		})
	}
}

func TestSearchURLOfTheModel(t *testing.T) {
	var got seen
	base := record(t, &got, "application/json", `{"results":[{"title":"A","url":"https://a.example/"}]}`)
	// A private address is refused, and keys of other services never go there.
	res := call(t, Config{Brave: "kb"}, "web_search", arg("query", "x", "search_url", base))
	if !res.IsError || !strings.Contains(res.Content.Text(), "not public") || got.method != "" {
		t.Errorf("%s; request %+v", res.Content.Text(), got)
	}
	if res := call(t, Config{Brave: "kb", Allow: local}, "web_search", arg("query", "x", "search_url", base)); res.IsError || len(got.head) != 0 {
		t.Errorf("%s; request %+v", res.Content.Text(), got)
	}
	// The user's own engine may be named.
	if res := call(t, Config{SearchURL: base + "/search"}, "web_search", arg("query", "x", "search_url", base)); res.IsError {
		t.Error(res.Content.Text())
	}
}

func TestSearchErrors(t *testing.T) {
	answer := func(code int, contentType, body string) string {
		return serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		})
	}
	brave := func(url string) Config {
		return Config{Allow: local, Brave: "s3cret", Endpoints: Endpoints{Brave: url}}
	}
	for name, c := range map[string]struct {
		cfg   Config
		input string
		want  string
	}{
		"no query":        {Config{}, `{"query":" "}`, "query is empty"},
		"long query":      {Config{}, arg("query", strings.Repeat("x", maxQuery+1)), "at most 2000"},
		"bad domain":      {Config{}, arg("query", "x", "allowed_domains", []string{"a b"}), `allowed_domains: "a b" is no domain`},
		"bad url":         {Config{}, arg("query", "x", "search_url", "ftp://x"), "search_url: the scheme"},
		"bad config":      {Config{SearchURL: "nonsense"}, `{"query":"x"}`, "OPENHARNESS_WEB_SEARCH_URL"},
		"key refused":     {brave(answer(401, "application/json", `{"error":"s3cret is bad"}`)), `{"query":"x"}`, `status 401 Unauthorized: {"error":"[key] is bad"}; the key is not accepted`},
		"too many":        {brave(answer(429, "text/html", "<p>x")), `{"query":"x"}`, "status 429 Too Many Requests; too many requests"},
		"no JSON":         {brave(answer(200, "text/html", "<p>x")), `{"query":"x"}`, "its answer is no JSON"},
		"JSON is off":     {Config{SearchURL: answer(403, "text/html", "no")}, `{"query":"x"}`, "search.formats"},
		"none":            {brave(answer(200, "application/json", `{}`)), `{"query":"x"}`, "No results. Try other words."},
		"none that fits":  {brave(answer(200, "application/json", `{"web":{"results":[{"url":"https://a.example"}]}}`)), arg("query", "x", "blocked_domains", []string{"a.example"}), "1 result, none of them"},
		"nobody listens":  {brave("http://127.0.0.1:1/"), `{"query":"x"}`, "search with Brave (127.0.0.1:1): connect to 127.0.0.1:1"},
		"too long answer": {brave(answer(200, "application/json", `"`+strings.Repeat("x", maxReply))), `{"query":"x"}`, "longer than 2,097,152 bytes"},
		"proof":           {Config{Allow: local, Endpoints: Endpoints{DuckDuckGo: answer(202, "text/html", `<form id="challenge-form">`)}}, `{"query":"x"}`, "BRAVE_API_KEY"},
	} {
		res := call(t, c.cfg, "web_search", c.input)
		if !res.IsError || !strings.Contains(res.Content.Text(), c.want) || strings.Contains(res.Content.Text(), "s3cret") {
			t.Errorf("%s: %s", name, res.Content.Text())
		}
	}
}

// A redirect of a search engine must not take the key elsewhere.
func TestSearchRedirect(t *testing.T) {
	var got seen
	other := record(t, &got, "application/json", `{}`)
	for _, to := range []string{"", other, strings.Replace(other, "127.0.0.1", "localhost", 1)} {
		base := serve(t, func(w http.ResponseWriter, r *http.Request) {
			where := to
			if where == "" { // itself, by another scheme
				where = "https://" + r.Host
			}
			http.Redirect(w, r, where, 302)
		})
		res := call(t, Config{Allow: local, Brave: "s3cret", Endpoints: Endpoints{Brave: base}}, "web_search", `{"query":"x"}`)
		if !res.IsError || !strings.Contains(res.Content.Text(), "it redirects to "+strings.TrimPrefix(to, "http://")) || strings.Contains(res.Content.Text(), "connect") || got.method != "" {
			t.Errorf("%s; request %+v", res.Content.Text(), got)
		}
	}
	// On the engine itself a redirect is followed.
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/new?"+r.URL.RawQuery, 301)
			return
		}
		fmt.Fprintf(w, `{"web":{"results":[{"title":%q,"url":"https://a.example/"}]}}`, r.Header.Get("X-Subscription-Token")[:1])
	})
	res := call(t, Config{Allow: local, Brave: "key", Endpoints: Endpoints{Brave: base}}, "web_search", `{"query":"x"}`)
	if res.IsError || !strings.Contains(res.Content.Text(), "1. k\n") {
		t.Error(res.Content.Text())
	}
}

func TestSearchAccess(t *testing.T) {
	act, err := tool(t, Tools(Config{SearchURL: "https://me:pw@s.example/search?key=abc"}), "web_search").Prepare(t.Context(), &oh.Call{Input: json.RawMessage(`{"query":"x"}`), Env: &oh.Env{}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(oh.Access{ReadOnly: true, URLs: []string{"https://s.example/search"}}, act.Access); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func FuzzDuckHits(f *testing.F) {
	for _, s := range []string{ducks, lite, "", `<a class="result__a" href="//duckduckgo.com/l/?uddg=%zz">x`, `<div class=result><a class=result__a href="http://[">`, `<form id=challenge-form>`} {
		f.Add(s)
	}
	base := &url.URL{Scheme: "https", Host: "html.duckduckgo.com", Path: "/html/"}
	f.Fuzz(func(t *testing.T, page string) {
		hits, err := duckHits(page, base)
		if err != nil {
			return
		}
		list, _ := inquiry{max: 10}.fit(hits)
		for _, h := range list {
			if u, err := url.Parse(h.url); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
				t.Errorf("result with the address %q", h.url)
			}
			if !utf8.ValidString(h.title+h.snippet) || strings.ContainsAny(h.title+h.snippet, "\n\x1b") {
				t.Errorf("result %+v", h)
			}
		}
	})
}
