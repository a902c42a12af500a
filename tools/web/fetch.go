package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

type fetchInput struct {
	URL      string `json:"url"`
	Prompt   string `json:"prompt,omitempty"`
	MaxChars int    `json:"max_chars,omitempty" oh:"min=500,max=50000,default=12000"`
	Start    int    `json:"start,omitempty" oh:"min=0,default=0"`
}

const (
	accept     = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, application/json;q=0.9, text/plain;q=0.9, */*;q=0.5"
	headSize   = 1024    // bytes that tell what a body is
	errorChars = 1000    // code points shown of the page of a failure
	askChars   = 100_000 // code points of a page that a prompt is answered from
)

func (s *set) fetch(_ context.Context, _ *oh.Call, in fetchInput) (oh.Action, error) {
	u, err := address(in.URL)
	if err != nil {
		return oh.Action{}, err
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		if err := s.guard.check(u.Hostname(), a); err != nil {
			return oh.Action{}, err
		}
	}
	return oh.Action{
		Access: oh.Access{ReadOnly: true, URLs: []string{u.String()}},
		Run: func(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
			f := fetching{set: s, in: in, url: u, emit: emit}
			return f.run(ctx)
		},
	}, nil
}

// fetching is one call of web_fetch.
type fetching struct {
	*set
	in   fetchInput
	url  *url.URL
	emit func(oh.Event)
}

func (f fetching) run(ctx context.Context) (oh.Result, error) {
	now := time.Now()
	if p := f.pages.get(f.url.String(), now); p != nil {
		return f.show(ctx, p, now.Sub(p.fetched))
	}
	limited, cancel := within(ctx, f.cfg.Timeout, f.url.Host)
	p, res, err := f.load(limited)
	cancel() // an answer to a prompt may take longer
	if p == nil || err != nil {
		return res, err
	}
	f.pages.put(f.url.String(), p)
	return f.show(ctx, p, 0)
}

// load asks for the URL: a page, or the result of what is none.
func (f fetching) load(ctx context.Context) (*page, oh.Result, error) {
	v, err := f.open(ctx, f.url, http.Header{"Accept": {accept}}, false, false)
	if err != nil {
		return nil, oh.Result{}, err
	}
	if v.away != nil {
		return nil, f.moved(v), nil
	}
	defer v.resp.Body.Close()
	head, err := io.ReadAll(io.LimitReader(v.resp.Body, headSize))
	if err != nil {
		return nil, oh.Result{}, f.explain(ctx, v.url, err)
	}
	b := &body{visit: v, head: head, ended: len(head) < headSize}
	b.kind, b.media = media(v.resp.Header.Get("Content-Type"), b.head)
	switch {
	case v.resp.StatusCode >= 400:
		return nil, f.failed(ctx, b), nil
	case b.kind == picture:
		res, err := f.picture(ctx, b)
		return nil, res, err
	}
	p, err := f.take(ctx, b)
	return p, oh.Result{}, err
}

// body is an answer of which the beginning was read.
type body struct {
	*visit
	head  []byte
	ended bool // head is all
	kind  kind
	media string
}

// rest reads the body up to a limit in bytes.
func (f fetching) rest(ctx context.Context, b *body, limit int64) (data []byte, more bool, err error) {
	if b.ended {
		data, more = b.head, int64(len(b.head)) > limit
	} else {
		data, more, err = f.readAll(ctx, b.url, io.MultiReader(bytes.NewReader(b.head), b.resp.Body), limit)
	}
	if more {
		data = data[:limit]
	}
	return data, more, err
}

// length says how large a body is, as far as it is known.
func (b *body) length() string {
	switch n := b.resp.ContentLength; {
	case n >= 0:
		return text.Number(int(n)) + " bytes"
	case b.ended:
		return text.Number(len(b.head)) + " bytes"
	}
	return "unknown size"
}

// take makes a page of an answer.
func (f fetching) take(ctx context.Context, b *body) (*page, error) {
	switch {
	case b.kind == foreign:
		return nil, f.refuse(b, "it is neither text nor an image")
	case b.kind == pdf && f.cfg.PDF == nil:
		return nil, f.refuse(b, "the text of PDF files is not extracted here")
	}
	data, more, err := f.rest(ctx, b, f.cfg.MaxBytes)
	if err != nil {
		return nil, err
	}
	if more && b.kind == pdf {
		return nil, f.refuse(b, "it is larger than "+text.Number(int(f.cfg.MaxBytes))+" bytes")
	}
	p := &page{url: b.url.String(), hops: b.hops, status: b.status(), fetched: time.Now()}
	if more {
		p.notes = append(p.notes, "The download was stopped at "+text.Number(int(f.cfg.MaxBytes))+" bytes: the end is missing.")
	}
	if err := f.read(ctx, p, b, data); err != nil {
		return nil, err
	}
	p.chars = utf8.RuneCountInString(p.text)
	return p, nil
}

// read fills in a page's text.
func (f fetching) read(ctx context.Context, p *page, b *body, data []byte) error {
	size := text.Number(len(data)) + " bytes"
	if b.kind == pdf {
		s, err := f.cfg.PDF(ctx, data)
		if err != nil {
			return fmt.Errorf("read the PDF file %s: %w", b.url, err)
		}
		p.text, p.form = text.Clean(s), b.media+", "+size+", its text"
		return nil
	}
	s, charset := decode(data, b.resp.Header.Get("Content-Type"), b.kind)
	p.form = b.media + ", " + charset + ", " + size
	switch b.kind {
	case markup:
		md, err := Markdown(ctx, s, b.url)
		if err != nil {
			return fmt.Errorf("convert %s: %w", b.url, err)
		}
		p.text, p.form = md, p.form+", as Markdown"
	case object:
		p.text = pretty(s)
	default:
		p.text = s
	}
	return nil
}

// refuse says what a file is that is not shown.
func (f fetching) refuse(b *body, reason string) error {
	return fmt.Errorf("%s is %s (%s) and is not shown: %s. If it is needed, download it with a command (curl -LO) and look at the file",
		b.url, text.Cut(text.Clean(b.media), 100), b.length(), reason)
}

func (f fetching) picture(ctx context.Context, b *body) (oh.Result, error) {
	if f.cfg.Image == nil {
		return oh.Result{}, f.refuse(b, "images are not shown here")
	}
	data, more, err := f.rest(ctx, b, f.cfg.MaxBytes)
	if err != nil {
		return oh.Result{}, err
	}
	if more {
		return oh.Result{}, f.refuse(b, "images of more than "+text.Number(int(f.cfg.MaxBytes))+" bytes cannot be")
	}
	if !complete(b.media, data) {
		return oh.Result{}, f.refuse(b, "it is broken or not complete")
	}
	fit, note, err := f.cfg.Image(oh.Image{MediaType: b.media, Data: data})
	if err != nil {
		return oh.Result{}, f.refuse(b, "it is "+err.Error())
	}
	p := &page{url: b.url.String(), hops: b.hops, status: b.status(), form: fmt.Sprintf("%s, %s bytes", b.media, text.Number(len(data)))}
	if note != "" {
		p.notes = append(p.notes, note)
	}
	res := oh.TextResult(f.header(p, 0) + "\n" + marker())
	res.Content = append(res.Content, fit)
	res.Display = oh.Count{N: len(data), Unit: "byte", In: p.url}
	res.Meta = f.meta(p, 0)
	return res, nil
}

// failed is the result of an answer that is an error.
func (f fetching) failed(ctx context.Context, b *body) oh.Result {
	p := &page{url: b.url.String(), hops: b.hops, status: b.status(), form: b.media}
	if after := b.resp.Header.Get("Retry-After"); after != "" {
		p.notes = append(p.notes, "Retry after: "+text.OneLine(text.Clean(after), 60))
	}
	if b.kind == markup || b.kind == object || b.kind == plain {
		// What cannot be read of an error page is not missed.
		if data, _, err := f.rest(ctx, b, 64<<10); err == nil {
			_ = f.read(ctx, p, b, data)
		}
	}
	p.text = text.Cut(strings.TrimSpace(p.text), errorChars)
	res := oh.ErrorResult(strings.TrimRight(f.header(p, 0)+"\n"+marker()+"\n\n"+p.text, "\n"))
	res.Meta = f.meta(p, 0)
	return res
}

// moved reports a redirect that was not followed: what was permitted was the
// first host.
func (f fetching) moved(v *visit) oh.Result {
	res := oh.TextResult(fmt.Sprintf("URL: %s\nRedirected to another host, which was not followed:\n%s\nTo read it, call web_fetch with that URL.",
		strings.Join(v.hops, "\nRedirected to: "), v.away))
	if raw, err := oh.Marshal(map[string]string{"url": f.url.String(), "redirect": v.away.String()}); err == nil {
		res.Meta = raw
	}
	return res
}

func (b *body) status() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", b.resp.StatusCode, http.StatusText(b.resp.StatusCode)))
}
