// Package proxy is the way to the network for commands that can reach nothing
// but its port: it judges by name and address to which hosts they may connect.
//
// It reads nothing of what passes but the target of each request, keeps no
// records but of what it refused, and never connects to an address that it has
// not judged. Where another proxy stands before the network it goes through
// that, and judges by name alone.
package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Config is what a proxy is made of.
type Config struct {
	Rules *Rules // required

	// Upstream says through which proxy a URL is reached; nil, or a nil URL, is
	// none. Names are then looked up there, and judged by name alone.
	Upstream func(*url.URL) (*url.URL, error)

	// Resolve looks a name up; nil asks the system.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// Proxy is an HTTP proxy on this machine, for commands that can connect to
// nothing else. It passes on CONNECT and plain http requests to the hosts that
// its rules allow, at most 256 at a time. It does not look into what is sent.
type Proxy struct {
	cfg    Config
	ln     net.Listener
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup
	slots  chan struct{}
	direct *http.Transport
	chain  *http.Transport

	mu    sync.Mutex // guards what follows
	conns map[net.Conn]bool
	no    []string // hosts that were refused
}

const (
	mostConns   = 256
	mostHead    = 1 << 20 // bytes of a request before its body
	mostRefused = 50
	idleTime    = 5 * time.Minute  // between requests
	dialTime    = 30 * time.Second // until a host answers
)

// Listen starts a proxy on a free port of 127.0.0.1.
func Listen(cfg Config) (*Proxy, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the proxy: %w", err)
	}
	p := &Proxy{cfg: cfg, ln: ln, slots: make(chan struct{}, mostConns), conns: map[net.Conn]bool{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.direct = &http.Transport{DialContext: p.dial, DisableCompression: true, DisableKeepAlives: true}
	p.chain = &http.Transport{Proxy: func(r *http.Request) (*url.URL, error) { return p.upstream(r.URL) }, DisableCompression: true, DisableKeepAlives: true}
	p.wait.Go(p.accept)
	return p, nil
}

// Addr is the proxy's address, 127.0.0.1:PORT.
func (p *Proxy) Addr() string { return p.ln.Addr().String() }

// Port is the port of Addr.
func (p *Proxy) Port() int {
	if a, ok := p.ln.Addr().(*net.TCPAddr); ok {
		return a.Port
	}
	return 0
}

// Close ends the proxy and all connections through it.
func (p *Proxy) Close() error {
	p.cancel()
	err := p.ln.Close()
	p.mu.Lock()
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wait.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Refused returns the refused hosts since the last call.
func (p *Proxy) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.no
	p.no = nil
	return out
}

func (p *Proxy) accept() {
	for {
		select {
		case p.slots <- struct{}{}:
		case <-p.ctx.Done():
			return
		}
		conn, err := p.ln.Accept()
		if err != nil {
			<-p.slots
			if p.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			select { // out of descriptors, most likely
			case <-time.After(50 * time.Millisecond):
			case <-p.ctx.Done():
			}
			continue
		}
		p.wait.Go(func() {
			defer func() { <-p.slots }()
			if p.keep(conn) {
				p.serve(conn)
			}
			p.drop(conn)
		})
	}
}

// keep notes a connection, for Close to end. It reports false when that has
// been called.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = true
	return p.ctx.Err() == nil
}

func (p *Proxy) drop(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// serve answers the requests of one connection.
func (p *Proxy) serve(conn net.Conn) {
	limit := &io.LimitedReader{R: conn}
	r := bufio.NewReader(limit)
	for {
		limit.N = mostHead
		_ = conn.SetReadDeadline(time.Now().Add(idleTime))
		req, err := http.ReadRequest(r)
		if err != nil {
			if limit.N <= 0 {
				reply(conn, http.StatusRequestHeaderFieldsTooLarge, "the request's header is too long")
			} else if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				reply(conn, http.StatusBadRequest, "this is no HTTP request that a proxy can read")
			}
			return
		}
		limit.N = math.MaxInt64
		_ = conn.SetReadDeadline(time.Time{})
		if req.Method == http.MethodConnect {
			p.tunnel(conn, r, req)
			return
		}
		if !p.pass(conn, req) {
			return
		}
	}
}

// judge says why a host may not be reached, and notes that.
func (p *Proxy) judge(host string) string {
	why := p.cfg.Rules.Judge(host)
	if a, err := netip.ParseAddr(host); why == "" && err == nil {
		why = p.cfg.Rules.judgeAddr(host, a)
	}
	if why != "" {
		p.note(host)
	}
	return why
}

func (p *Proxy) note(host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.no) < mostRefused && !slices.Contains(p.no, host) {
		p.no = append(p.no, host)
	}
}

// pass answers a plain request. It reports whether the connection goes on.
func (p *Proxy) pass(conn net.Conn, req *http.Request) bool {
	if req.URL.Scheme != "http" || req.URL.Hostname() == "" {
		reply(conn, http.StatusBadRequest, "this is a proxy: ask it for http://HOST/PATH, or CONNECT")
		return false
	}
	if why := p.judge(req.URL.Hostname()); why != "" {
		refuse(conn, req.URL.Hostname(), why)
		return false
	}
	req.RequestURI = ""
	req.Host = req.URL.Host
	hopHeaders(req.Header)
	over := p.direct
	if up, err := p.upstream(req.URL); err == nil && up != nil {
		over = p.chain
	}
	resp, err := over.RoundTrip(req.WithContext(p.ctx))
	if err != nil {
		p.fail(conn, req.URL.Hostname(), err)
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	hopHeaders(resp.Header)
	resp.Close = resp.Close || req.Close
	return resp.Write(conn) == nil && !resp.Close
}

// hopHeaders takes out what is meant for the next hop only.
func hopHeaders(h http.Header) {
	for _, name := range [...]string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authorization", "Proxy-Authenticate", "Te", "Trailer", "Upgrade", "Expect"} {
		h.Del(name)
	}
}

// tunnel joins a connection with a host.
func (p *Proxy) tunnel(conn net.Conn, r *bufio.Reader, req *http.Request) {
	host, port, err := net.SplitHostPort(req.Host)
	if n, perr := strconv.ParseUint(port, 10, 16); err != nil || perr != nil || n == 0 {
		reply(conn, http.StatusBadRequest, "CONNECT needs HOST:PORT")
		return
	}
	if why := p.judge(host); why != "" {
		refuse(conn, host, why)
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, dialTime)
	defer cancel()
	far, err := p.reach(ctx, host, port)
	if err != nil {
		p.fail(conn, host, err)
		return
	}
	if !p.keep(far) {
		p.drop(far)
		return
	}
	defer p.drop(far)
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	p.wait.Go(func() {
		_, _ = io.Copy(far, r)
		closeWrite(far)
	})
	_, _ = io.Copy(conn, far)
	closeWrite(conn)
}

// closeWrite tells the other side that no more comes.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = c.Close()
}

func refuse(conn net.Conn, host, why string) {
	reply(conn, http.StatusForbidden, "the sandbox does not let commands reach "+host+": "+why)
}

// fail answers when a host cannot be reached.
func (p *Proxy) fail(conn net.Conn, host string, err error) {
	var private *refusedError
	if errors.As(err, &private) {
		p.note(host)
		refuse(conn, host, private.why)
		return
	}
	reply(conn, http.StatusBadGateway, "the sandbox's proxy cannot reach "+host+": "+err.Error())
}

// reply writes a short answer and leaves the connection to be closed.
func reply(conn net.Conn, code int, msg string) {
	reason := http.StatusText(code)
	if code == http.StatusForbidden {
		reason = Reason
	}
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n", code, reason, len(msg)+1, msg)
}

// Reason is the reason in the status line, which many clients show.
const Reason = "Refused by the sandbox"
