package provider

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// NewClient returns a client made for streams: proxies of the environment, HTTP/2,
// connections kept, limits on connecting but none on answering. Profiles may
// share one.
func NewClient() *http.Client { return ClientConfig{}.NewClient() }

// ClientConfig says what a client trusts and how it shows who it is, beyond
// what the system does. The zero value adds nothing.
type ClientConfig struct {
	CAFiles []string // PEM files of authorities that are trusted beside the system's
	Cert    string   // PEM file of the certificate that is shown to services that ask
	Key     string   // PEM file of its key; "" when it stands in Cert too
}

// NewClient is the function [NewClient] with this configuration. The files are
// read at the first request; what is wrong with one is a [*TLSError] of each
// request.
func (c ClientConfig) NewClient() *http.Client {
	if len(c.CAFiles) == 0 && c.Cert == "" && c.Key == "" {
		return &http.Client{Transport: transport(nil)}
	}
	build := func(load func() (*tls.Config, error)) func() (*http.Transport, error) {
		return sync.OnceValues(func() (*http.Transport, error) {
			conf, err := load()
			if err != nil {
				return nil, err
			}
			return transport(conf), nil
		})
	}
	return &http.Client{Transport: &lazyTransport{plain: build(c.check), secure: build(c.load), proxy: environment()}}
}

func transport(conf *tls.Config) *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  environment(),
		OnProxyConnectResponse: connected,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        conf,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    20 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        90 * time.Second,
		DisableCompression:     true, // a compressed stream may arrive in lumps
		// A connection that died while the machine slept is found by a ping,
		// not by the idle limit of a stream.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// lazyTransport reads the files of its configuration when the first request
// comes. The system's authorities take ten milliseconds to read, so they are
// read only when a request needs them.
type lazyTransport struct {
	plain  func() (*http.Transport, error) // for requests without TLS
	secure func() (*http.Transport, error)
	proxy  func(*http.Request) (*url.URL, error)
}

// RoundTrip implements [http.RoundTripper].
func (l *lazyTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	get := l.secure
	if req.URL.Scheme == "http" && !l.overTLS(req) {
		get = l.plain
	}
	t, err := get()
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	return t.RoundTrip(req)
}

// overTLS reports whether a request goes to a proxy that is spoken to over TLS.
func (l *lazyTransport) overTLS(req *http.Request) bool {
	proxy, err := l.proxy(req)
	return err == nil && proxy != nil && proxy.Scheme == "https"
}

// ProxyOf returns the proxy that a request goes to; nil for none.
func (l *lazyTransport) ProxyOf(req *http.Request) (*url.URL, error) { return l.proxy(req) }

// TLSError says that a file with certificates or keys cannot be used. It holds
// nothing of the file.
type TLSError struct {
	File    string
	Problem string
}

// Error implements error.
func (e *TLSError) Error() string { return fmt.Sprintf("%s: %s", e.File, e.Problem) }

// check finds what load would find wrong, for requests that need no TLS: it
// reads neither the system's authorities nor more of a file than its first.
func (c ClientConfig) check() (*tls.Config, error) {
	for _, file := range c.CAFiles {
		data, err := readPEM(file)
		if err != nil {
			return nil, err
		}
		if !holdsCertificate(data) {
			return nil, noCertificate(file)
		}
	}
	c.CAFiles = nil
	return c.load()
}

func holdsCertificate(data []byte) bool {
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			return false
		}
		if block.Type != "CERTIFICATE" || len(block.Headers) > 0 {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err == nil {
			return true
		}
	}
}

func noCertificate(file string) error {
	return &TLSError{file, "it holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)"}
}

func (c ClientConfig) load() (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(c.CAFiles) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		for _, file := range c.CAFiles {
			data, err := readPEM(file)
			if err != nil {
				return nil, err
			}
			if !pool.AppendCertsFromPEM(data) {
				return nil, noCertificate(file)
			}
		}
		conf.RootCAs = pool
	}
	if c.Cert == "" && c.Key == "" {
		return conf, nil
	}
	pair, err := c.pair()
	if err != nil {
		return nil, err
	}
	conf.Certificates = []tls.Certificate{pair}
	return conf, nil
}

// pair reads the client's certificate and its key.
func (c ClientConfig) pair() (tls.Certificate, error) {
	var none tls.Certificate
	if c.Cert == "" {
		return none, &TLSError{c.Key, "it is the key of a client certificate, but no certificate is set (tls.client_cert)"}
	}
	cert, err := readPEM(c.Cert)
	if err != nil {
		return none, err
	}
	file, key := c.Cert, cert
	if c.Key != "" {
		file = c.Key
		if key, err = readPEM(c.Key); err != nil {
			return none, err
		}
	}
	if strings.Contains(string(key), "ENCRYPTED") {
		return none, &TLSError{file, "the key is encrypted, which is not supported; decrypt it with: openssl pkey -in FILE -out NEW"}
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return none, &TLSError{file, "the client certificate and its key cannot be used: " + strings.TrimPrefix(err.Error(), "tls: ")}
	}
	return pair, nil
}

// maxPEM bounds a file of certificates, in bytes; a system's bundle has a
// quarter of a megabyte.
const maxPEM = 16 << 20

func readPEM(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		return nil, &TLSError{file, "it cannot be read: " + err.Error()}
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	switch {
	case err != nil:
		return nil, &TLSError{file, "it cannot be read: " + err.Error()}
	case len(data) > maxPEM:
		return nil, &TLSError{file, "it is larger than any file of certificates"}
	}
	return data, nil
}
