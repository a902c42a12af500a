package web

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// header is what stands above the marker: all of it is ours, so that a page
// cannot pretend to be it.
func (f fetching) header(p *page, age time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "URL: %s\n", f.url)
	for _, h := range p.hops[min(1, len(p.hops)):] {
		fmt.Fprintf(&b, "Redirected to: %s\n", h)
	}
	if p.url != f.url.String() {
		fmt.Fprintf(&b, "Final URL: %s\n", p.url)
	}
	fmt.Fprintf(&b, "Status: %s\nType: %s\n", p.status, text.OneLine(text.Clean(p.form), 200))
	if age >= time.Second {
		fmt.Fprintf(&b, "Fetched: %s ago\n", age.Round(time.Second))
	}
	for _, n := range p.notes {
		b.WriteString(n + "\n")
	}
	return b.String()
}

// show returns the part of a page that was asked for, or the answer to a
// prompt about it.
func (f fetching) show(ctx context.Context, p *page, age time.Duration) (oh.Result, error) {
	head := f.header(p, age)
	if f.in.Prompt != "" && f.cfg.Summarise != nil && f.in.Start == 0 && p.chars > 0 {
		answer, err := f.cfg.Summarise(ctx, f.emit, f.in.Prompt, text.Head(p.text, askChars))
		if err == nil {
			head += "Shown: the answer of a model to the prompt, from the page\n"
			return f.result(p, age, head, text.Cut(text.Clean(answer), f.in.MaxChars)), nil
		}
		if ctx.Err() != nil {
			return oh.Result{}, context.Cause(ctx)
		}
		head += "The prompt could not be answered (" + text.OneLine(text.Clean(err.Error()), 200) + "), so this is the page.\n"
	}
	if f.in.Start > 0 && f.in.Start >= p.chars {
		return oh.Result{}, fmt.Errorf("start=%d is past the end: %s has %s", f.in.Start, f.url, text.Plural(p.chars, "character"))
	}
	part := text.Head(skip(p.text, f.in.Start), f.in.MaxChars)
	end := min(f.in.Start+f.in.MaxChars, p.chars)
	switch {
	case p.chars == 0:
		head += "The page holds no text.\n"
	case end < p.chars:
		head += fmt.Sprintf("Shown: characters %d-%d of %d; go on with start=%d\n", f.in.Start, end, p.chars, end)
	case f.in.Start > 0:
		head += fmt.Sprintf("Shown: characters %d-%d, the end\n", f.in.Start, end)
	}
	return f.result(p, age, head, part), nil
}

// skip drops the first n code points.
func skip(s string, n int) string { return s[len(text.Head(s, n)):] }

func (f fetching) result(p *page, age time.Duration, head, body string) oh.Result {
	res := oh.TextResult(head)
	if body != "" {
		res = oh.TextResult(head + "\n" + marker() + "\n\n" + body)
	}
	res.Meta = f.meta(p, age)
	res.Display = oh.Count{N: p.chars, Unit: "character", In: f.url.String()}
	return res
}

func (f fetching) meta(p *page, age time.Duration) json.RawMessage {
	raw, err := oh.Marshal(struct {
		URL    string `json:"url"`
		Final  string `json:"final_url"`
		Status string `json:"status"`
		Type   string `json:"type"`
		Chars  int    `json:"chars"`
		Cached bool   `json:"cached,omitempty"`
	}{f.url.String(), p.url, p.status, text.OneLine(text.Clean(p.form), 200), p.chars, age > 0})
	if err != nil {
		return nil
	}
	return raw
}
