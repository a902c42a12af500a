package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/openharness/oh/internal/cloud"
)

const (
	// reread is how long keys of a file are used before it is read again: other
	// programs renew them there.
	reread = time.Minute

	processLimit = time.Minute
)

// find walks the places where credentials may be and takes the first.
func (s *Signer) find(ctx context.Context) (keys, time.Time, error) {
	if token := s.env("AWS_BEARER_TOKEN_BEDROCK"); token != "" {
		return keys{bearer: token}, time.Time{}, nil
	}
	if s.cfg.Profile == "" {
		switch k, ok := s.environment(); {
		case ok:
			return k, time.Time{}, nil
		case k.id != "" || k.secret != "":
			return keys{}, time.Time{}, errors.New("only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set; set both, or neither")
		}
		if file, arn := s.env("AWS_WEB_IDENTITY_TOKEN_FILE"), s.env("AWS_ROLE_ARN"); file != "" && arn != "" {
			return s.webIdentity(ctx, file, arn, s.env("AWS_ROLE_SESSION_NAME"), "")
		}
	}
	files, err := s.load()
	if err != nil {
		return keys{}, time.Time{}, err
	}
	name := s.profile()
	k, ends, err := s.ofProfile(ctx, files, name, nil)
	if err == nil || !errors.Is(err, errNothing) {
		return k, ends, err
	}
	if name != "default" && !files.has(name) {
		return keys{}, time.Time{}, fmt.Errorf("there is no AWS profile %s in %s or %s", name, s.configFile(), s.credentialsFile())
	}
	if s.inContainer() {
		return s.container(ctx)
	}
	if s.onInstance() {
		k, ends, err = s.instance(ctx)
		if err == nil || ctx.Err() != nil {
			return k, ends, err
		}
	}
	return keys{}, time.Time{}, fmt.Errorf("no AWS credentials were found; looked at AWS_BEARER_TOKEN_BEDROCK, AWS_ACCESS_KEY_ID, "+
		"profile %s of %s and %s, and this machine's own role; run aws configure or aws sso login, or set the variables",
		name, s.configFile(), s.credentialsFile())
}

// errNothing says that a profile holds no credentials.
var errNothing = errors.New("no credentials")

func (s *Signer) environment() (keys, bool) {
	k := keys{id: s.env("AWS_ACCESS_KEY_ID"), secret: s.env("AWS_SECRET_ACCESS_KEY"), session: s.env("AWS_SESSION_TOKEN")}
	return k, k.id != "" && k.secret != ""
}

// ofProfile returns the credentials of a profile. seen lists the profiles that
// led to it.
func (s *Signer) ofProfile(ctx context.Context, f files, name string, seen []string) (keys, time.Time, error) {
	p := f.profile(name)
	static := keys{id: p["aws_access_key_id"], secret: p["aws_secret_access_key"], session: p["aws_session_token"]}
	again := len(seen) > 0 && seen[len(seen)-1] == name // a role on the profile's own keys
	switch {
	case p["role_arn"] != "" && !again:
		return s.role(ctx, f, name, p, seen)
	case static.id != "" && static.secret != "":
		return static, s.now().Add(reread), nil
	case static.id != "" || static.secret != "":
		return keys{}, time.Time{}, fmt.Errorf("AWS profile %s has only one of aws_access_key_id and aws_secret_access_key", name)
	case p["sso_session"] != "" || p["sso_start_url"] != "":
		return s.signOn(ctx, f, name, p)
	case p["credential_process"] != "":
		return s.process(ctx, name, p["credential_process"])
	}
	return keys{}, time.Time{}, errNothing
}

// role takes on the role of a profile with the credentials of another.
func (s *Signer) role(ctx context.Context, f files, name string, p section, seen []string) (keys, time.Time, error) {
	if file := p["web_identity_token_file"]; file != "" {
		return s.webIdentity(ctx, file, p["role_arn"], p["role_session_name"], p["region"])
	}
	if p["mfa_serial"] != "" {
		return keys{}, time.Time{}, fmt.Errorf("AWS profile %s wants a code (mfa_serial), which nobody can be asked for here; "+
			"put credentials made with it into the environment, or use credential_process", name)
	}
	var from keys
	var err error
	switch source := p["source_profile"]; {
	case source != "":
		for _, s := range seen {
			if s == source {
				return keys{}, time.Time{}, fmt.Errorf("AWS profile %s: source_profile leads in a circle", name)
			}
		}
		if len(seen) >= 8 {
			return keys{}, time.Time{}, fmt.Errorf("AWS profile %s: more than 8 roles in a row", name)
		}
		if from, _, err = s.ofProfile(ctx, f, source, append(seen, name)); errors.Is(err, errNothing) {
			err = fmt.Errorf("AWS profile %s: its source_profile %s holds no credentials", name, source)
		}
	default:
		from, err = s.source(ctx, name, p["credential_source"])
	}
	if err != nil {
		return keys{}, time.Time{}, err
	}
	return s.assume(ctx, from, p)
}

// source returns the credentials that credential_source names.
func (s *Signer) source(ctx context.Context, name, source string) (keys, error) {
	switch source {
	case "Environment":
		if k, ok := s.environment(); ok {
			return k, nil
		}
		return keys{}, fmt.Errorf("AWS profile %s takes its credentials from the environment, which has no AWS_ACCESS_KEY_ID", name)
	case "Ec2InstanceMetadata":
		k, _, err := s.instance(ctx)
		return k, err
	case "EcsContainer":
		k, _, err := s.container(ctx)
		return k, err
	}
	return keys{}, fmt.Errorf("AWS profile %s has role_arn without source_profile, or a credential_source that is not one of "+
		"Environment, Ec2InstanceMetadata, EcsContainer", name)
}

// process runs the command of a profile.
func (s *Signer) process(ctx context.Context, name, line string) (keys, time.Time, error) {
	words, err := cloud.Words(line, onWindows)
	if err != nil {
		return keys{}, time.Time{}, fmt.Errorf("AWS profile %s: %w", name, err)
	}
	raw, err := cloud.Run(ctx, words, nil, processLimit)
	if err != nil {
		return keys{}, time.Time{}, fmt.Errorf("AWS profile %s: %w", name, err)
	}
	var out struct {
		Version int
		printed
	}
	if json.Unmarshal(raw, &out) != nil || out.Version != 1 {
		return keys{}, time.Time{}, fmt.Errorf("AWS profile %s: what its credential_process prints is no JSON of Version 1", name)
	}
	k, ends, err := out.keys()
	if err != nil {
		err = fmt.Errorf("AWS profile %s: its credential_process: %w", name, err)
	}
	return k, ends, err
}

// printed is the form in which commands, containers and instances tell
// credentials.
type printed struct {
	AccessKeyID     string `json:"AccessKeyId"`
	SecretAccessKey string
	SessionToken    string
	Token           string // containers and instances
	Expiration      string
}

func (p *printed) keys() (keys, time.Time, error) {
	k := keys{id: p.AccessKeyID, secret: p.SecretAccessKey, session: p.SessionToken}
	if k.session == "" {
		k.session = p.Token
	}
	if k.id == "" || k.secret == "" {
		return keys{}, time.Time{}, errors.New("it tells no credentials")
	}
	if p.Expiration == "" {
		return k, time.Time{}, nil
	}
	ends, err := time.Parse(time.RFC3339, p.Expiration)
	if err != nil {
		return keys{}, time.Time{}, errors.New("its Expiration is no time")
	}
	if !ends.After(time.Now()) {
		return keys{}, time.Time{}, errors.New("its credentials have ended already")
	}
	return k, ends, nil
}
