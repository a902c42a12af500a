package aws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/openharness/oh/internal/cloud"
)

const (
	askLimit  = 15 * time.Second
	maxToken  = 64 << 10 // bytes of a web identity token
	ourName   = "openharness"
	formType  = "application/x-www-form-urlencoded; charset=utf-8"
	stsOfAPI  = "2011-06-15"
	stsRegion = "us-east-1"
)

// assume takes on the role of a profile.
func (s *Signer) assume(ctx context.Context, from keys, p section) (keys, time.Time, error) {
	form := url.Values{"Action": {"AssumeRole"}, "RoleArn": {p["role_arn"]}, "RoleSessionName": {sessionName(p["role_session_name"])}}
	if v := p["external_id"]; v != "" {
		form.Set("ExternalId", v)
	}
	if v := p["duration_seconds"]; v != "" {
		if _, err := strconv.Atoi(v); err != nil {
			return keys{}, time.Time{}, fmt.Errorf("duration_seconds of the AWS role is no number: %q", v)
		}
		form.Set("DurationSeconds", v)
	}
	return s.sts(ctx, form, p["region"], &from)
}

// webIdentity takes on a role with a token of another party.
func (s *Signer) webIdentity(ctx context.Context, file, arn, session, region string) (keys, time.Time, error) {
	f, err := os.Open(file)
	if err != nil {
		return keys{}, time.Time{}, fmt.Errorf("read the AWS web identity token: %w", err)
	}
	defer func() { _ = f.Close() }()
	token, err := io.ReadAll(io.LimitReader(f, maxToken))
	if err != nil {
		return keys{}, time.Time{}, fmt.Errorf("read the AWS web identity token: %w", err)
	}
	return s.sts(ctx, url.Values{"Action": {"AssumeRoleWithWebIdentity"}, "RoleArn": {arn},
		"RoleSessionName": {sessionName(session)}, "WebIdentityToken": {strings.TrimSpace(string(token))}}, region, nil)
}

func sessionName(name string) string {
	if name == "" {
		return ourName
	}
	return name
}

// sts asks the token service. The request is signed when there is somebody to
// sign for.
func (s *Signer) sts(ctx context.Context, form url.Values, region string, as *keys) (keys, time.Time, error) {
	if region == "" {
		if r, err := s.Region(ctx); err == nil {
			region = r
		} else {
			region = stsRegion
		}
	}
	if !isRegion(region) {
		return keys{}, time.Time{}, fmt.Errorf("%q is no AWS region; write it like us-east-1", region)
	}
	at := s.endpoint("STS", "https://sts."+region+domain(region))
	form.Set("Version", stsOfAPI)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at+"/", strings.NewReader(form.Encode()))
	if err != nil {
		return keys{}, time.Time{}, errors.New("the address of the AWS token service is no URL; correct AWS_ENDPOINT_URL_STS or AWS_ENDPOINT_URL")
	}
	req.Header.Set("Content-Type", formType)
	if as != nil {
		if err := s.sign(req, *as, "sts", region); err != nil {
			return keys{}, time.Time{}, err
		}
	}
	status, raw, err := cloud.Ask(req, s.remote, askLimit)
	if err != nil {
		return keys{}, time.Time{}, err
	}
	answer := string(raw)
	if status != http.StatusOK {
		return keys{}, time.Time{}, cloud.Refused("AWS token service, "+form.Get("Action")+" of "+form.Get("RoleArn"), status,
			strings.TrimSpace(element(answer, "Code")+" "+element(answer, "Message")))
	}
	p := printed{AccessKeyID: element(answer, "AccessKeyId"), SecretAccessKey: element(answer, "SecretAccessKey"),
		SessionToken: element(answer, "SessionToken"), Expiration: element(answer, "Expiration")}
	k, ends, err := p.keys()
	if err != nil {
		err = fmt.Errorf("AWS token service: %w", err)
	}
	return k, ends, err
}

// element returns the text of the first element of a name. The answers of the
// token service have no attributes and no element of these names twice.
func element(xml, name string) string {
	_, rest, ok := strings.Cut(xml, "<"+name+">")
	if !ok {
		return ""
	}
	text, _, ok := strings.Cut(rest, "</"+name+">")
	if !ok {
		return ""
	}
	return strings.TrimSpace(strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&#39;", "'", "&#34;", `"`, "&amp;", "&").Replace(text))
}

// endpoint returns the address of a service: what the environment sets for it,
// for all, or the usual one.
func (s *Signer) endpoint(service, usual string) string {
	for _, name := range []string{"AWS_ENDPOINT_URL_" + service, "AWS_ENDPOINT_URL"} {
		if v := s.env(name); v != "" {
			return strings.TrimRight(v, "/")
		}
	}
	return usual
}
