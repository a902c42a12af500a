package web

import (
	"context"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/openharness/oh/internal/text"
)

// maxOutput bounds the text made of one page, in bytes.
const maxOutput = 8 << 20

// Markdown returns an HTML page as Markdown: its title, then what a reader
// sees, without navigation, scripts and hidden parts. Links are absolute, by
// base or the page's own. Time and memory grow with the page's length alone,
// however it is nested; a page nested too deep to be parsed comes as its bare
// text. The error is that of ctx.
//
// Characters that mean something in Markdown are not escaped: the text is for
// a model to read, not to be rendered.
func Markdown(ctx context.Context, page string, base *url.URL) (string, error) {
	doc, err := html.ParseWithOptions(&reader{ctx: ctx, s: page}, html.ParseOptionEnableScripting(false))
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return bare(ctx, page)
	}
	p := survey(doc, base)
	w := &writer{ctx: ctx, base: p.base}
	body := doc
	if p.main != nil {
		body = p.main
	}
	w.children(body)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	out := strings.TrimSpace(w.out.String())
	if w.full {
		out += "\n\n[The page is longer; the rest was left out.]"
	}
	if p.title == "" || strings.HasPrefix(out, "# "+p.title+"\n") || out == "# "+p.title {
		return out, nil
	}
	return strings.TrimSpace("# " + p.title + "\n\n" + out), nil
}

// reader reads a string until its context ends.
type reader struct {
	ctx context.Context
	s   string
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n := copy(p, r.s)
	r.s = r.s[n:]
	if n == 0 && len(p) > 0 {
		return 0, errEnd
	}
	return n, nil
}

// found is what is looked up in a page before it is written.
type found struct {
	base  *url.URL
	title string
	main  *html.Node // what holds the content, if the page says so
}

// mainShare is how much text, in bytes, a main element must hold to be taken
// for the whole.
const mainShare = 200

func survey(doc *html.Node, base *url.URL) found {
	f := found{base: base}
	var mains []*html.Node
	based := false
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Namespace != "" {
			continue
		}
		switch n.DataAtom {
		case atom.Title:
			if f.title == "" {
				f.title = text.OneLine(textOf(n), 300)
			}
		case atom.Base:
			if u, err := base.Parse(attr(n, "href")); err == nil && !based && (u.Scheme == "http" || u.Scheme == "https") {
				f.base, based = u, true
			}
		case atom.Main:
			if !hidden(n) {
				mains = append(mains, n)
			}
		}
	}
	if len(mains) == 1 && len(strings.TrimSpace(textOf(mains[0]))) >= mainShare {
		f.main = mains[0]
	}
	return f
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

// textOf returns the text below a node as it stands.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
			b.WriteString(d.Data)
		case d.DataAtom == atom.Br:
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// hidden reports whether a reader does not see an element.
func hidden(n *html.Node) bool {
	if has(n, "hidden") && attr(n, "hidden") != "until-found" || attr(n, "aria-hidden") == "true" {
		return true
	}
	style := attr(n, "style")
	if style == "" {
		return false
	}
	style = strings.ToLower(strings.ReplaceAll(style, " ", ""))
	return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

// dropped reports whether an element and all below it is not content.
func dropped(n *html.Node) bool {
	if n.Namespace == "svg" {
		return true
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Nav, atom.Head, atom.Iframe, atom.Object, atom.Embed,
		atom.Canvas, atom.Audio, atom.Video, atom.Map, atom.Button, atom.Input, atom.Select, atom.Textarea, atom.Datalist,
		atom.Dialog, atom.Noframes, atom.Frameset, atom.Rt, atom.Rp, atom.Progress, atom.Meter, atom.Title:
		return true
	}
	return attr(n, "role") == "navigation" || hidden(n)
}

// isBlock reports whether an element begins a new line.
func isBlock(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Center, atom.Dd, atom.Details, atom.Div, atom.Dl,
		atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4,
		atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Main, atom.Menu, atom.Ol,
		atom.P, atom.Pre, atom.Section, atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul:
		return true
	}
	return false
}

// holds reports whether one of the first elements below n is as asked. It
// gives up on long searches, and says yes.
func holds(n *html.Node, match func(*html.Node) bool) bool {
	left := 300
	for d := range n.Descendants() {
		if left--; left < 0 || d.Type == html.ElementNode && match(d) {
			return true
		}
	}
	return false
}

// bare returns the text of a page without its structure.
func bare(ctx context.Context, page string) (string, error) {
	z := html.NewTokenizer(&reader{ctx: ctx, s: page})
	w := &writer{ctx: ctx}
	skip := atom.Atom(0)
	for {
		switch z.Next() {
		case html.ErrorToken:
			if ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			return strings.TrimSpace(w.out.String()), nil
		case html.TextToken:
			if skip == 0 {
				w.text(string(z.Text()))
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			if a == atom.Script || a == atom.Style || a == atom.Template || a == atom.Noscript {
				skip = a
			}
			if isBlock(&html.Node{DataAtom: a}) || a == atom.Br {
				w.gap(1)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if atom.Lookup(name) == skip {
				skip = 0
			}
		}
	}
}
