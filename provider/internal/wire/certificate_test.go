package wire

import (
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
)

// TestCertificateWanted: a service that wants another certificate does not
// change its mind, and a file that cannot be used is not the service's silence.
func TestCertificateWanted(t *testing.T) {
	kind, err := connection(&url.Error{Op: "Post", URL: "https://h", Err: &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}})
	if kind != oh.KindInvalid || !strings.Contains(err.Error(), "tls.client_cert") {
		t.Errorf("%s %v", kind, err)
	}
	gone := filepath.Join(t.TempDir(), "gone.pem")
	_, err = open(t, "https://127.0.0.1:1", provider.Config{Client: provider.ClientConfig{CAFiles: []string{gone}}.NewClient()})
	if oh.KindOf(err) != oh.KindInvalid || strings.Contains(err.Error(), "no answer") || !strings.Contains(err.Error(), gone) {
		t.Error(err)
	}
}
