package web

import (
	"sync"
	"time"
)

const (
	cacheTime  = 15 * time.Minute
	cacheBytes = 16 << 20
)

// page is a text that was fetched.
type page struct {
	url     string // that answered
	hops    []string
	status  string
	form    string // media type, charset, size
	text    string
	chars   int // code points of text
	notes   []string
	fetched time.Time
}

// cache keeps pages for a while, so that reading on costs no request. The
// least recently used go first.
type cache struct {
	mu    sync.Mutex // guards all below
	pages map[string]*page
	order []string // least recently used first
	bytes int
}

// get returns the page of a URL unless it is too old.
func (c *cache) get(url string, now time.Time) *page {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pages[url]
	if p == nil {
		return nil
	}
	c.drop(url)
	if now.Sub(p.fetched) >= cacheTime {
		return nil
	}
	c.add(url, p)
	return p
}

// put stores a page; one that is too large is not kept.
func (c *cache) put(url string, p *page) {
	if len(p.text) > cacheBytes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(url)
	c.add(url, p)
	for c.bytes > cacheBytes {
		c.drop(c.order[0])
	}
}

func (c *cache) add(url string, p *page) {
	if c.pages == nil {
		c.pages = map[string]*page{}
	}
	c.pages[url] = p
	c.order = append(c.order, url)
	c.bytes += len(p.text) + len(url)
}

func (c *cache) drop(url string) {
	p := c.pages[url]
	if p == nil {
		return
	}
	delete(c.pages, url)
	c.bytes -= len(p.text) + len(url)
	for i, u := range c.order {
		if u == url {
			c.order = append(c.order[:i], c.order[i+1:]...)
			break
		}
	}
}
