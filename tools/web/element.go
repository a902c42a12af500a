package web

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/openharness/oh/internal/text"
)

const (
	maxQuotes = 4  // quotations within each other that are marked
	maxLists  = 10 // lists within each other that are indented
	maxInline = 64 << 10
	maxLink   = 600 // bytes of a link's address; longer ones carry data, not a place
	maxCells  = 100 // cells of a row
)

func (w *writer) children(n *html.Node) {
	for c := n.FirstChild; c != nil && !w.done(); c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			w.text(c.Data)
		case html.ElementNode:
			if !dropped(c) {
				w.element(c)
			}
		}
	}
}

func (w *writer) element(n *html.Node) {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.heading(n)
	case atom.A:
		w.link(n)
	case atom.Img:
		w.image(n)
	case atom.Strong, atom.B:
		w.styled(n, "**", &w.inside.bold)
	case atom.Em, atom.I:
		w.styled(n, "*", &w.inside.italic)
	case atom.Del, atom.S, atom.Strike:
		w.styled(n, "~~", &w.inside.strike)
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		w.code(textOf(n))
	case atom.Pre:
		w.pre(n)
	case atom.Br:
		w.gap(1)
	case atom.Hr:
		if !w.flat {
			w.gap(2)
			w.word("---")
			w.gap(2)
		}
	case atom.Table:
		w.table(n)
	default:
		w.block(n)
	}
}

// block writes elements that set their content apart, and all that are not
// known.
func (w *writer) block(n *html.Node) {
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Menu:
		w.list(n)
	case atom.Li: // outside a list
		w.item(n, "- ")
	case atom.Blockquote:
		w.quote(n)
	case atom.Dd:
		w.gap(1)
		w.within(mark{": ", "  "}, func() { w.children(n) })
		w.gap(1)
	case atom.P, atom.Article, atom.Section, atom.Figure, atom.Main, atom.Header, atom.Footer, atom.Aside, atom.Dl, atom.Dt, atom.Details, atom.Form:
		w.gap(2)
		w.children(n)
		w.gap(map[bool]int{true: 1, false: 2}[n.DataAtom == atom.Dt])
	default:
		if !isBlock(n) {
			w.children(n)
			return
		}
		w.gap(1)
		w.children(n)
		w.gap(1)
	}
}

func (w *writer) heading(n *html.Node) {
	if w.flat {
		w.space = true
		w.children(n)
		w.space = true
		return
	}
	line := w.apart(w.inside, maxInline, func(in *writer) {
		in.inside.bold = true // a heading is bold as it is
		in.children(n)
	})
	if line == "" {
		return
	}
	w.gap(2)
	w.word(strings.Repeat("#", int(n.Data[1]-'0')))
	w.space = true
	w.word(line)
	w.gap(2)
}

// styled sets marks around text. Around whole blocks they would mean nothing.
func (w *writer) styled(n *html.Node, sign string, within *bool) {
	if *within || holds(n, isBlock) {
		w.children(n)
		return
	}
	*within = true
	s := w.apart(w.inside, maxInline, func(in *writer) { in.children(n) })
	*within = false
	w.around(n, func() {
		if s != "" {
			w.word(sign + s + sign)
		}
	})
}

// around keeps the white space at the edges of an inline element.
func (w *writer) around(n *html.Node, do func()) {
	if c := n.FirstChild; c != nil && c.Type == html.TextNode && strings.IndexFunc(c.Data, isSpace) == 0 {
		w.space = true
	}
	do()
	if c := n.LastChild; c != nil && c.Type == html.TextNode && strings.IndexFunc(c.Data[max(0, len(c.Data)-1):], isSpace) == 0 {
		w.space = true
	}
}

// maxCard is the longest text, in bytes, that a link around blocks may have.
const maxCard = 400

func (w *writer) link(n *html.Node) {
	href := w.absolute(attr(n, "href"))
	if href == "" || w.inside.link {
		w.children(n)
		return
	}
	inside := w.inside
	inside.link = true
	limit := maxInline
	card := holds(n, isBlock)
	if card {
		limit = maxCard
	}
	full := false
	s := w.apart(inside, limit, func(in *writer) {
		in.children(n)
		full = in.full
	})
	if card && full {
		w.inside.link = true
		w.children(n)
		w.inside.link = false
		return
	}
	w.around(n, func() {
		if s == "" {
			s = text.OneLine(attr(n, "aria-label")+attr(n, "title"), 200)
		}
		if s != "" {
			w.word("[" + s + "](" + href + ")")
		}
	})
}

// absolute returns where a link leads; "" for what leads nowhere else.
func (w *writer) absolute(href string) string {
	href = strings.TrimSpace(href)
	if href == "" || href[0] == '#' || len(href) > maxLink || w.base == nil {
		return ""
	}
	u, err := w.base.Parse(href)
	if err != nil {
		return ""
	}
	switch u.Scheme {
	case "http", "https", "mailto":
		return escapeLink(u)
	}
	return ""
}

// escapeLink writes a URL so that it ends where its Markdown link ends.
func escapeLink(u *url.URL) string {
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "|", "%7C", "<", "%3C", ">", "%3E", "\n", "").Replace(u.String())
}

func (w *writer) image(n *html.Node) {
	alt := text.OneLine(attr(n, "alt"), 300)
	if alt == "" {
		return
	}
	if src := w.absolute(attr(n, "src")); src != "" && !w.inside.link {
		w.word("![" + alt + "](" + src + ")")
		return
	}
	w.word("[image: " + alt + "]")
}

// fence returns a run of backticks longer than any in s.
func fence(s string, least int) string {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(least, min(longest+1, 100)))
}

func (w *writer) code(s string) {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return
	}
	f := fence(s, 1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	w.word(f + s + f)
}

func (w *writer) pre(n *html.Node) {
	s := textOf(n)
	if w.flat {
		w.space = true
		w.code(s)
		return
	}
	s = strings.TrimRight(strings.TrimPrefix(s, "\n"), " \t\n")
	if strings.TrimSpace(s) == "" {
		return
	}
	f := fence(s, 3)
	w.gap(2)
	w.raw(f + language(n))
	w.owed = 1
	w.raw(s)
	w.owed = 1
	w.raw(f)
	w.gap(2)
}

// language returns the language that the class of a code block names.
func language(n *html.Node) string {
	nodes := []*html.Node{n}
	if c := n.FirstChild; c != nil && c.DataAtom == atom.Code {
		nodes = append(nodes, c)
	}
	for _, n := range nodes {
		for class := range strings.FieldsSeq(attr(n, "class")) {
			for _, prefix := range [...]string{"language-", "lang-", "highlight-source-"} {
				if l, ok := strings.CutPrefix(class, prefix); ok && len(l) < 30 && !strings.Contains(l, "`") {
					return l
				}
			}
		}
	}
	return ""
}

func (w *writer) quote(n *html.Node) {
	w.gap(2)
	if w.quotes >= maxQuotes {
		w.children(n)
	} else {
		w.quotes++
		w.within(mark{"", "> "}, func() { w.children(n) })
		w.quotes--
	}
	w.gap(2)
}

func (w *writer) list(n *html.Node) {
	owe := 2
	if w.lists > 0 {
		owe = 1
	}
	w.gap(owe)
	w.lists++
	number, err := strconv.Atoi(attr(n, "start"))
	if err != nil || number < 0 || number > 1e9 {
		number = 1
	}
	for c := n.FirstChild; c != nil && !w.done(); c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			w.text(c.Data)
		case c.Type != html.ElementNode || dropped(c):
		case c.DataAtom != atom.Li:
			w.element(c)
		case n.DataAtom == atom.Ol:
			w.item(c, strconv.Itoa(number)+". ")
			number++
		default:
			w.item(c, "- ")
		}
	}
	w.lists--
	w.gap(owe)
}

func (w *writer) item(n *html.Node, sign string) {
	w.gap(1)
	m := mark{sign, strings.Repeat(" ", len(sign))}
	if w.lists > maxLists {
		m.rest = ""
	}
	if w.flat {
		w.word(strings.TrimSpace(sign))
		w.space = true
	}
	w.within(m, func() { w.children(n) })
	w.owed = min(w.owed, 1)
	w.gap(1)
}
