package web

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func md(t *testing.T, page string) string {
	t.Helper()
	base, err := url.Parse("https://example.com/dir/page?x=1")
	if err != nil {
		t.Fatal(err)
	}
	out, err := Markdown(t.Context(), page, base)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMarkdown(t *testing.T) {
	long := strings.Repeat("enough words to count ", 12)
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"title first", "<title> A\n title </title><p>One.<p>Two.", "# A title\n\nOne.\n\nTwo."},
		{"title once", "<title>Same</title><h1>Same</h1><p>x", "# Same\n\nx"},
		{"not content", "<head><style>s</style></head><nav>menu</nav><script>js</script><noscript>no</noscript><template>t</template><svg><text>v</text></svg><button>b</button><p>seen</p><p hidden>h</p><p style='display : none'>d</p><i aria-hidden=true>a</i>", "seen"},
		{"main only", "<header>top</header><main><p>" + long + "</main><footer>end</footer>", strings.TrimSpace(long)},
		{"small main is not all", "<p>before<main>x</main>", "before\n\nx"},
		{"links", `<p><a href="/a b">A</a> <a href="sub(1)">B</a> <a href="//o.example/">C</a> <a href="#frag">D</a> <a href="javascript:alert(1)">E</a> <a href="mailto:x@y.z">F</a>`,
			"[A](https://example.com/a%20b) [B](https://example.com/dir/sub%281%29) [C](https://o.example/) D E [F](mailto:x@y.z)"},
		{"base", `<base href="https://other.example/x/"><a href="y">Y</a>`, "[Y](https://other.example/x/y)"},
		{"card", `<a href="/c"><div><h3>Head</h3><p>Text</p></div></a>`, "[Head Text](https://example.com/c)"},
		{"great card", `<a href="/c"><div><p>` + strings.Repeat("w ", 300) + `</p><p>end</p></div></a>`, strings.TrimSpace(strings.Repeat("w ", 300)) + "\n\nend"},
		{"inline", "a<b>b </b>c <em>d</em>, <s>e</s><br>f <strong><b>g</b></strong>", "a**b** c *d*, ~~e~~\nf **g**"},
		{"bold around blocks", "<b><p>x</p><p>y</p></b>", "x\n\ny"},
		{"images", `<img src="/i.png" alt="An  image"><img src="/deco.png" alt=""><img alt="data" src="data:image/png;base64,AAAA"><a href="/l"><img src="x.png" alt="logo"></a>`,
			"![An image](https://example.com/i.png)[image: data][[image: logo]](https://example.com/l)"},
		{"headings", "<h2>Two <code>c</code> <b>b</b></h2>text<h6>Six</h6><h3> </h3>", "## Two `c` b\n\ntext\n\n###### Six"},
		{"code", "<p>run <code>a  `b`</code> now<pre><code class='x language-go'>func f() {\n\tx := 1 &lt; 2\n}\n</code></pre><p>after", "run `` a `b` `` now\n\n```go\nfunc f() {\n\tx := 1 < 2\n}\n```\n\nafter"},
		{"fence in code", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"},
		{"lists", "<ul><li>a<li><p>b</p><p>c</p><ul><li>d<ol start=9><li>e<li>f</ol></ul><li></li></ul>p", "- a\n- b\n\n  c\n\n  - d\n    9. e\n    10. f\n\np"},
		{"code in a list", "<ol><li>do<pre>x\n\ny</pre></ol>", "1. do\n\n   ```\n   x\n   \n   y\n   ```"},
		{"quote", "<blockquote><p>a<p>b<ul><li>c</ul></blockquote>d", "> a\n>\n> b\n>\n> - c\n\nd"},
		{"definitions", "<dl><dt>T<dd>D1<dd>D2</dl>", "T\n: D1\n: D2"},
		{"table", "<table><caption>Cap</caption><thead><tr><th>A<th>B</tr></thead><tbody><tr><td>1|2<td><a href=/x>y</a><br>z</tr><tr><td></td><td> </td></tr></tbody></table>",
			"Cap\n\n| A | B |\n|---|---|\n| 1\\|2 | [y](https://example.com/x) z |"},
		{"layout table", "<table><tr><td><table><tr><td>a<td>b</table></td></tr><tr><td><p>c</p></td></tr></table>", "| a | b |\n|---|---|\n\nc"},
		{"spaces", "<p>a\n  b&nbsp;c\t d</p>\n\n <p> e </p>", "a b c d\n\ne"},
		{"rule", "a<hr>b", "a\n\n---\n\nb"},
		{"entities", "<p>&lt;b&gt; &amp; &eacute; *x* _y_", "<b> & é *x* _y_"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, md(t, c.in)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A page may be made to hurt: each of these must be read in a time that its
// length explains, and make no more text than is allowed.
func TestMarkdownHostile(t *testing.T) {
	long := strings.Repeat("x<br>", 100_000)
	for name, page := range map[string]string{
		"quotes":   strings.Repeat("<blockquote>", 500) + long,
		"lists":    strings.Repeat("<ul><li>", 250) + long,
		"styles":   strings.Repeat("<b><i><s>", 5000) + long,
		"headings": strings.Repeat("<h1><div>", 200) + long,
		"links":    strings.Repeat("<a href=/><div>", 5000) + long,
		"tables":   strings.Repeat("<table><tr><td>", 120) + long,
		"rows":     "<table><tr>" + strings.Repeat("<td>", 100_000) + strings.Repeat("<tr><td>a", 100_000),
		"deep":     "<script>no</script>" + strings.Repeat("<div>", 2000) + long,
		"ticks":    "<code>" + strings.Repeat("`", 500_000) + "</code>",
		"breaks":   strings.Repeat("<blockquote><ul><li>", 100) + "<pre>" + strings.Repeat("\n", 900_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			base := &url.URL{Scheme: "https", Host: "example.com"}
			out, err := Markdown(ctx, page, base)
			if err != nil {
				t.Fatal(err)
			}
			if len(out) > maxOutput+maxInline*2 {
				t.Errorf("%d bytes of text", len(out))
			}
			if strings.Contains(out, "no</script>") {
				t.Error("a script is shown")
			}
		})
	}
}

func TestMarkdownDeepKeepsText(t *testing.T) {
	out := md(t, "<style>no</style><p>first</p>"+strings.Repeat("<div>", 1000)+"deep<p>last")
	if diff := cmp.Diff("first\ndeep\nlast", out); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestMarkdownStops(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	want := errors.New("stop")
	cancel(want)
	for _, page := range []string{"<p>x", strings.Repeat("<div>", 1000)} {
		if _, err := Markdown(ctx, page, &url.URL{}); !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{
		"<title>t</title><h1>x</h1><p>a <b>b</b> <a href='/c'>d</a>", "<ul><li>a<ol><li>b</ol></ul>", "<table><tr><th>a<td>b|c</table>",
		"<pre><code class=language-go>x\n```</code></pre>", "<blockquote><p>q<hr>", "<dl><dt>a<dd>b", "<svg><a>x</a></svg><math><mi>y", "<a><table><a>", "\x00<\xff>&#0;&#x10ffff;",
		"<base href='http://['><a href='%zz'>x</a><img alt=x src=y>", "<frameset><frame>", "<select><option><p>x", strings.Repeat("<div>", 600) + "x",
	} {
		f.Add(s)
	}
	base := &url.URL{Scheme: "https", Host: "example.com", Path: "/d/"}
	f.Fuzz(func(t *testing.T, page string) {
		out, err := Markdown(context.Background(), page, base)
		if err != nil {
			t.Fatal(err)
		}
		if utf8.ValidString(page) && !utf8.ValidString(out) {
			t.Errorf("not UTF-8: %q", out)
		}
		if strings.TrimSpace(out) != out {
			t.Errorf("white space at the ends: %q", out)
		}
		if len(out) > 100*len(page)+1000 {
			t.Errorf("%d bytes made of %d", len(out), len(page))
		}
	})
}
