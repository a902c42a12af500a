package google

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/cloud"
)

const (
	askLimit   = 15 * time.Second
	tokenURL   = "https://oauth2.googleapis.com/token"
	loginHint  = "run gcloud auth application-default login"
	grantJWT   = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	lifetime   = time.Hour
	maxSeconds = 7 * 24 * 3600
)

// serviceAccount gets a token with the key of a service account.
func (s *Signer) serviceAccount(ctx context.Context, c *credential) (string, time.Time, error) {
	to := c.TokenTo
	if to == "" {
		to = tokenURL
	}
	jwt, err := assertion(c, to, time.Now())
	if err != nil {
		return "", time.Time{}, err
	}
	return s.grant(ctx, to, url.Values{"grant_type": {grantJWT}, "assertion": {jwt}}, nil, "make a new key for the service account")
}

// assertion is the signed claim of a service account.
func assertion(c *credential, to string, now time.Time) (string, error) {
	if c.Email == "" || c.Key == "" {
		return "", errors.New("client_email or private_key is missing")
	}
	key, err := privateKey(c.Key)
	if err != nil {
		return "", err
	}
	head, err := oh.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": c.KeyID})
	if err != nil {
		return "", err
	}
	claims, err := oh.Marshal(map[string]any{"iss": c.Email, "scope": scope, "aud": to, "iat": now.Unix(), "exp": now.Add(lifetime).Unix()})
	if err != nil {
		return "", err
	}
	enc := base64.RawURLEncoding
	signed := enc.EncodeToString(head) + "." + enc.EncodeToString(claims)
	sum := sha256.Sum256([]byte(signed))
	sig, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("sign with the private key: %w", err)
	}
	return signed + "." + enc.EncodeToString(sig), nil
}

func privateKey(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("private_key is no PEM block")
	}
	if any, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		if key, ok := any.(*rsa.PrivateKey); ok {
			return key, nil
		}
		return nil, errors.New("private_key is no RSA key")
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("private_key is neither PKCS #8 nor PKCS #1")
	}
	return key, nil
}

// authorizedUser gets a token for a person who logged in with gcloud.
func (s *Signer) authorizedUser(ctx context.Context, c *credential) (string, time.Time, error) {
	if c.Refresh == "" || c.ClientID == "" {
		return "", time.Time{}, errors.New("refresh_token or client_id is missing; " + loginHint)
	}
	return s.grant(ctx, tokenURLOf(c), url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.Refresh},
		"client_id": {c.ClientID}, "client_secret": {c.Secret}}, nil, loginHint)
}

// externalUser gets a token for a person of a workforce pool.
func (s *Signer) externalUser(ctx context.Context, c *credential) (string, time.Time, error) {
	if c.Refresh == "" || c.TokenURL == "" {
		return "", time.Time{}, errors.New("refresh_token or token_url is missing; " + loginHint)
	}
	return s.grant(ctx, c.TokenURL, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.Refresh}}, c, loginHint)
}

func tokenURLOf(c *credential) string {
	if c.TokenTo != "" {
		return c.TokenTo
	}
	return tokenURL
}

// grant asks a token service. as, if any, names who asks; hint says what to do
// when it refuses.
func (s *Signer) grant(ctx context.Context, to string, form url.Values, as *credential, hint string) (string, time.Time, error) {
	if err := safe(to); err != nil {
		return "", time.Time{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return "", time.Time{}, errors.New("the address of the token service is no URL")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if as != nil && as.ClientID != "" {
		req.SetBasicAuth(url.QueryEscape(as.ClientID), url.QueryEscape(as.Secret))
	}
	status, raw, err := cloud.Ask(req, s.remote, askLimit)
	if err != nil {
		return "", time.Time{}, err
	}
	if status != http.StatusOK {
		var told struct {
			Error       json.RawMessage `json:"error"`
			Description string          `json:"error_description"`
		}
		_ = json.Unmarshal(raw, &told) // what is no JSON says nothing
		words := strings.Trim(string(told.Error), `"`) + " " + told.Description
		if strings.Contains(words, "{") {
			words = ""
		}
		if status < 500 {
			words = strings.TrimSpace(words) + "; " + hint
		}
		return "", time.Time{}, cloud.Refused(req.URL.Host, status, words)
	}
	return readToken(raw)
}

// readToken reads the answer of a token service.
func readToken(raw []byte) (string, time.Time, error) {
	var t struct {
		Access  string  `json:"access_token"`
		Seconds float64 `json:"expires_in"`
	}
	if json.Unmarshal(raw, &t) != nil || t.Access == "" {
		return "", time.Time{}, errors.New("the token service answered without a token")
	}
	seconds := max(60, min(t.Seconds, maxSeconds))
	return t.Access, time.Now().Add(time.Duration(seconds) * time.Second), nil
}

// safe holds addresses out of a file of credentials to TLS, but for this machine.
func safe(to string) error {
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLocal(u.Hostname())) {
		return errors.New("the address of the token service must begin with https://")
	}
	return nil
}

func isLocal(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1" || host == metadataHost || host == "metadata.google.internal"
}

// impersonate exchanges a token for one of a service account.
func (s *Signer) impersonate(ctx context.Context, c *credential, access string) (string, time.Time, error) {
	if err := safe(c.Impersonate); err != nil {
		return "", time.Time{}, err
	}
	want := map[string]any{"scope": []string{scope}, "lifetime": "3600s"}
	if len(c.Delegates) > 0 {
		want["delegates"] = c.Delegates
	}
	body, err := oh.Marshal(want)
	if err != nil {
		return "", time.Time{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Impersonate, bytes.NewReader(body))
	if err != nil {
		return "", time.Time{}, errors.New("service_account_impersonation_url is no URL")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+access)
	status, raw, err := cloud.Ask(req, s.remote, askLimit)
	if err != nil {
		return "", time.Time{}, err
	}
	var got struct {
		Access string    `json:"accessToken"`
		Ends   time.Time `json:"expireTime"`
		Error  struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	bad := json.Unmarshal(raw, &got) != nil
	if status != http.StatusOK {
		return "", time.Time{}, cloud.Refused("take on the service account", status, got.Error.Message)
	}
	if bad || got.Access == "" {
		return "", time.Time{}, errors.New("take on the service account: the answer has no token")
	}
	return got.Access, got.Ends, nil
}
