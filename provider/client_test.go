package provider

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// identity is a certificate with its key, signed by itself.
type identity struct {
	cert *x509.Certificate
	pair tls.Certificate
	pem  string // of the certificate
	key  string
}

func newIdentity(t *testing.T, name string) identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	id := identity{pem: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), key: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))}
	if id.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	if id.pair, err = tls.X509KeyPair([]byte(id.pem), []byte(id.key)); err != nil {
		t.Fatal(err)
	}
	return id
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestClient: a service with a certificate of its own authority that asks for
// one is reached with both files, and with nothing less.
func TestClient(t *testing.T) {
	service, person, other := newIdentity(t, "service"), newIdentity(t, "person"), newIdentity(t, "other")
	pool := x509.NewCertPool()
	pool.AddCert(person.cert)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{service.pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	srv.StartTLS()
	defer srv.Close()
	ca, cert, key := write(t, "ca.pem", "# our authority\n"+service.pem), write(t, "c.pem", person.pem), write(t, "k.pem", person.key)
	both := write(t, "both.pem", person.pem+person.key)
	none := write(t, "none.pem", "secret words")
	gone := filepath.Join(t.TempDir(), "gone.pem")
	for _, tt := range []struct {
		name string
		c    ClientConfig
		want string // the answer, or a part of the error
		file string // of the TLSError
	}{
		{"all", ClientConfig{[]string{ca}, cert, key}, "person", ""},
		{"one file", ClientConfig{[]string{write(t, "o.pem", other.pem), ca}, both, ""}, "person", ""},
		{"nothing", ClientConfig{}, "certificate", ""},
		{"another authority", ClientConfig{[]string{write(t, "o.pem", other.pem)}, cert, key}, "unknown authority", ""},
		{"without a certificate", ClientConfig{CAFiles: []string{ca}}, "certificate required", ""},
		{"no such authority", ClientConfig{CAFiles: []string{gone}}, "it cannot be read: ", gone},
		{"no PEM", ClientConfig{CAFiles: []string{ca, none}}, "it holds no certificate in PEM form", none},
		{"no such certificate", ClientConfig{Cert: gone, Key: key}, "it cannot be read", gone},
		{"no such key", ClientConfig{Cert: cert, Key: gone}, "it cannot be read", gone},
		{"a key alone", ClientConfig{Key: key}, "no certificate is set (tls.client_cert)", key},
		{"another key", ClientConfig{Cert: cert, Key: write(t, "k2.pem", other.key)}, "private key does not match", ""},
		{"no key", ClientConfig{Cert: cert, Key: none}, "cannot be used", none},
		{"a locked key", ClientConfig{Cert: cert, Key: write(t, "l.pem", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n")}, "is encrypted", ""},
		{"a folder", ClientConfig{CAFiles: []string{filepath.Dir(none)}}, "cannot be read", filepath.Dir(none)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client := tt.c.NewClient()
			got := ""
			resp, err := client.Get(srv.URL)
			if err == nil {
				body, readErr := io.ReadAll(resp.Body)
				got, err = string(body), readErr
				_ = resp.Body.Close()
			}
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.want) || strings.Contains(got, "secret words") || tt.want == "person" && err != nil {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if e, ok := errors.AsType[*TLSError](err); tt.file != "" && (!ok || e.File != tt.file) {
				t.Errorf("the error names %v, want %s", e, tt.file)
			}
		})
	}
}

// TestClientIsLazy: what is wrong with a file does not matter before a request.
func TestClientIsLazy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "later.pem")
	client := ClientConfig{CAFiles: []string{path}}.NewClient()
	service := newIdentity(t, "service")
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{service.pair}}
	srv.StartTLS()
	defer srv.Close()
	if err := os.WriteFile(path, []byte(service.pem), 0o600); err != nil {
		t.Fatal(err)
	}
	resp, err := client.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}

// TestClientProxy: with files of its own a client still says through which proxy
// it goes.
func TestClientProxy(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "https_proxy", "NO_PROXY", "no_proxy", "REQUEST_METHOD"} {
		t.Setenv(name, "")
	}
	t.Setenv("HTTPS_PROXY", "http://p.test:8080")
	client := ClientConfig{CAFiles: []string{"x.pem"}}.NewClient()
	req, err := http.NewRequest(http.MethodPost, "https://a.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	by, ok := client.Transport.(interface {
		ProxyOf(*http.Request) (*url.URL, error)
	})
	if !ok {
		t.Fatalf("%T does not say", client.Transport)
	}
	if u, err := by.ProxyOf(req); err != nil || u.Host != "p.test:8080" {
		t.Error(u, err)
	}
}
