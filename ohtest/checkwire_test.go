package ohtest

import (
	"strings"
	"testing"
)

const thoughtItem = `{"type":"reasoning","id":"rs_1","encrypted_content":"gAAAAAsealed-for-responses","summary":[{"type":"summary_text","text":"Hm."}]}`

func legalResponses(t testing.TB) string {
	return `{"model":"gpt-5","instructions":"Be good.","max_output_tokens":100,"stream":true,"store":false,"include":["reasoning.encrypted_content"],` +
		`"reasoning":{"effort":"low","summary":"auto"},"prompt_cache_key":"k",` +
		`"tools":[{"type":"function","name":"read","description":"Reads.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]},"strict":false}],` +
		`"input":[{"role":"user","content":[{"type":"input_text","text":"Look"},{"type":"input_image","image_url":"data:image/png;base64,` + picture(t, 2, 2) + `"},` +
		`{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERg=="}]},` +
		thoughtItem + `,{"type":"function_call","id":"fc_1","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}"},` +
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"And."}]},` +
		`{"type":"function_call","call_id":"c2","name":"read","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"c2","output":"two"},{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"one"}]},` +
		`{"role":"assistant","content":"Done."},{"type":"message","role":"user","content":"More."}]}`
}

func TestResponsesRules(t *testing.T) {
	legal := legalResponses(t)
	tool := legal[strings.Index(legal, `{"type":"function"`):strings.Index(legal, `],"input"`)]
	output2 := `{"type":"function_call_output","call_id":"c2","output":"two"},`
	call2 := `{"type":"function_call","call_id":"c2","name":"read","arguments":"{}"},`
	testFaults(t, Responses, legal, Rules{}, []fault{
		{"", `"gpt-5"`, `"gpt-5"`},
		{"", `"store":false,`, ``},
		{"", `,"strict":false`, ``},
		{"reasoning-missing", thoughtItem + ",", ``}, // because of the id of the call
		{"json", `"model"`, `model`},
		{"utf8", "Be good", "Be \xff"},
		{"surrogate", `"two"`, `"\ud83d"`},
		{"duplicate-key", `"output":"two"`, `"output":"two","output":"two"`},
		{"unknown-field", `"stream":true`, `"stream":true,"messages":[]`},
		{"unknown-field", `"output":"two"`, `"output":"two","is_error":true`},
		{"unknown-field", `"text":"Look"`, `"text":"Look","cache_control":{}`},
		{"unknown-field", `"description":"Reads."`, `"description":"Reads.","function":{}`},
		{"model", `"model":"gpt-5"`, `"model":""`},
		{"max-tokens", `"max_output_tokens":100`, `"max_output_tokens":15`},
		{"stream", `"stream":true`, `"stream":false`},
		{"field-type", `"prompt_cache_key":"k"`, `"prompt_cache_key":"` + strings.Repeat("k", 65) + `"`},
		{"field-type", `"store":false`, `"store":"no"`},
		{"not-stored", `"store":false`, `"store":false,"previous_response_id":"resp_1"`},
		{"not-stored", output2, output2 + `{"type":"item_reference","id":"rs_1"},`},
		{"include", `["reasoning.encrypted_content"]`, `["reasoning"]`},
		{"include", `"gpt-5"`, `"gpt-4.1"`},
		{"thinking-type", `"gpt-5"`, `"gpt-4o"`},
		{"thinking-type", `"effort":"low"`, `"effort":"much"`},
		{"thinking-type", `"summary":"auto"`, `"summary":"long"`},
		{"blank-text", `"Be good."`, `""`},
		{"messages-empty", legal[strings.Index(legal, `"input"`):], `"input":[]}`},
		{"messages-empty", legal[strings.Index(legal, `"input"`):], `"input":null}`},
		{"blank-text", legal[strings.Index(legal, `"input"`):], `"input":" "}`},
		{"", legal[strings.Index(legal, `"input"`):], `"input":"hi"}`},
		{"role", `"role":"user","content":"More."`, `"role":"tool","content":"More."`},
		{"role-last", `,{"type":"message","role":"user","content":"More."}`, ``},
		{"content-empty", `"content":"Done."`, `"content":null`},
		{"content-empty", `"content":"Done."`, `"content":[]`},
		{"blank-text", `"content":"Done."`, `"content":""`},
		{"blank-text", `"output":"two"`, `"output":""`},
		{"blank-text", `"text":"And."`, `"text":" \n"`},
		{"block-type", `"type":"output_text"`, `"type":"input_text"`},
		{"block-type", `"type":"input_text","text":"Look"`, `"type":"output_text","text":"Look"`},
		{"block-type", `"type":"input_text","text":"Look"`, `"type":"text","text":"Look"`},
		{"block-type", output2, `{"type":"tool_result"},` + output2},
		{"call-id", `"call_id":"c2"`, `"call_id":"` + strings.Repeat("c", 65) + `"`},
		{"call-id", `"call_id":"c2"`, `"call_id":"a b"`},
		{"item-id", `"id":"fc_1"`, `"id":"c1"`},
		{"item-id", `"id":"rs_1"`, `"id":"1"`},
		{"item-id", `"role":"assistant","content":"Done."`, `"id":"x","role":"assistant","content":"Done."`},
		{"call-duplicate", `"call_id":"c2","name"`, `"call_id":"c1","name"`},
		{"call-input", `"arguments":"{}"`, `"arguments":""`},
		{"duplicate-key", `"arguments":"{}"`, `"arguments":"{\"a\":1,\"a\":1}"`},
		{"field-type", `"arguments":"{}"`, `"arguments":{}`},
		{"call-unanswered", output2, ``},
		{"call-unanswered", output2, `{"role":"user","content":"x"},` + output2},
		{"result-orphan", call2, ``},
		{"result-orphan", `"call_id":"c2","output"`, `"call_id":"c3","output"`},
		{"result-duplicate", output2, output2 + output2},
		{"signature", `"encrypted_content":"gAAAAAsealed-for-responses",`, ``},
		{"signature", `gAAAAAsealed-for-responses`, `gAAAAAother`},
		{"signature", `"summary":[{"type":"summary_text","text":"Hm."}]`, `"summary":[]`},
		{"signature", `"id":"rs_1"`, `"id":"rs_2"`},
		{"field-type", `"summary":[{"type":"summary_text","text":"Hm."}]`, `"content":[]`},
		{"reasoning-alone", thoughtItem + ",", thoughtItem + `,{"role":"assistant","content":"x"},`},
		{"reasoning-alone", thoughtItem + ",", thoughtItem + `,{"role":"user","content":"x"},`},
		{"reasoning-foreign", `"Done."`, `"a-secret-of-anthropic"`},
		{"image-data", `data:image/png;base64,`, `file:///a;base64,`},
		{"image-type", `data:image/png;`, `data:image/bmp;`},
		{"document", `"filename":"a.pdf",`, ``},
		{"document", `data:application/pdf;base64,`, ``},
		{"tool-name", `"name":"read","description"`, `"name":"a.b","description"`},
		{"tool-duplicate", tool, tool + "," + tool},
		{"schema", `"parameters":{`, `"output_schema":{`},
		{"schema", `"strict":false`, `"strict":true`},
		{"schema", `"properties":{"path":{"type":"string"}},"required":["path"]`, `"additionalProperties":false`},
	})
	testFaults(t, Responses, strings.Replace(legal, `"id":"fc_1",`, ``, 1), Rules{}, []fault{
		{"", thoughtItem + ",", ``},
	})
	testFaults(t, Responses, legal, Rules{RequireReasoning: true}, []fault{
		{"", `"gpt-5"`, `"gpt-5"`},
		{"reasoning-missing", thoughtItem + ",", ``},
	})
}

func legalGemini(t testing.TB) string {
	return `{"systemInstruction":{"parts":[{"text":"Be good."}]},"generationConfig":{"maxOutputTokens":100,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":1024}},` +
		`"tools":[{"functionDeclarations":[{"name":"read","description":"Reads.","parameters":{"type":"OBJECT","properties":{"path":{"type":"string","description":"where"},` +
		`"tags":{"type":"array","items":{"type":"string","enum":["a"]},"nullable":true}},"required":["path"]}},{"name":"mcp:now.v2","description":"Tells.","parametersJsonSchema":{"type":"object"}}]}],` +
		`"contents":[{"role":"user","parts":[{"text":"Look"},{"inlineData":{"mimeType":"image/png","data":"` + picture(t, 2, 2) + `"}},{"inlineData":{"mimeType":"application/pdf","data":"JVBERg=="}}]},` +
		`{"role":"model","parts":[{"text":"Hm.","thought":true},{"functionCall":{"id":"c1","name":"read","args":{"path":"a","n":1.50}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"c2","name":"mcp:now.v2"}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"one"}}},{"functionResponse":{"id":"c2","name":"mcp:now.v2","response":{"error":"two"}}},{"text":"Go on."}]},` +
		`{"role":"model","parts":[{"text":"Done."},{"text":"","thoughtSignature":"ZW5k"}]},{"role":"user","parts":[{"text":"More."}]}]}`
}

func TestGeminiRules(t *testing.T) {
	legal := legalGemini(t)
	fn := legal[strings.Index(legal, `{"name":"read","desc`):strings.Index(legal, `,{"name":"mcp:now.v2","desc`)]
	response1 := `{"functionResponse":{"id":"c1","name":"read","response":{"output":"one"}}},`
	schema := `"properties":{"path":{"type":"string","description":"where"}`
	testFaults(t, Gemini, legal, Rules{}, []fault{
		{"", `"Be good."`, `"Be better."`},
		{"", `"thoughtSignature":"c2ln"`, `"thoughtSignature":"skip_thought_signature_validator"`},
		{"", `,"thoughtSignature":"c2ln"`, ``},
		{"", `,{"text":"","thoughtSignature":"ZW5k"}`, ``},
		{"", `{"text":"Done."},{"text":"","thoughtSignature":"ZW5k"}`, `{"text":"Done.","thoughtSignature":"ZW5k"}`},
		{"", `{"id":"c1","name":"read","response"`, `{"name":"read","response"`},
		{"", `{"text":"Hm.","thought":true},`, ``},
		{"", `"thinkingBudget":1024`, `"thinkingLevel":"LOW"`},
		{"json", `"contents"`, `contents`},
		{"utf8", "Be good", "Be \xff"},
		{"surrogate", `"one"`, `"\ud83d"`},
		{"duplicate-key", `"role":"user"`, `"role":"user","role":"user"`},
		{"unknown-field", `"contents":`, `"stream":true,"contents":`},
		{"unknown-field", `"maxOutputTokens":100`, `"max_tokens":100`},
		{"unknown-field", `"thinkingBudget":1024`, `"effort":"low"`},
		{"unknown-field", `"thought":true`, `"thought":true,"signature":"x"`},
		{"unknown-field", `"name":"read","args"`, `"name":"read","type":"function","args"`},
		{"unknown-field", `"response":{"output":"one"}`, `"response":{"output":"one"},"isError":true`},
		{"max-tokens", `"maxOutputTokens":100`, `"maxOutputTokens":0`},
		{"thinking-budget", `"thinkingBudget":1024`, `"thinkingBudget":99999`},
		{"thinking-budget", `"thinkingBudget":1024`, `"thinkingBudget":1024,"thinkingLevel":"low"`},
		{"thinking-type", `"thinkingBudget":1024`, `"thinkingLevel":"much"`},
		{"field-type", `"systemInstruction":{"parts":[{"text":"Be good."}]}`, `"systemInstruction":"Be good."`},
		{"block-type", `[{"text":"Be good."}]`, `[{"inlineData":{}}]`},
		{"blank-text", `"Be good."`, `""`},
		{"messages-empty", legal[strings.Index(legal, `"contents"`):], `"contents":[]}`},
		{"role", `"role":"model"`, `"role":"assistant"`},
		{"role-order", `{"role":"model","parts":[{"text":"Done."`, `{"role":"user","parts":[{"text":"Done."`},
		{"role-order", `"contents":[`, `"contents":[{"role":"model","parts":[{"text":"x"}]},`},
		{"role-last", `,{"role":"user","parts":[{"text":"More."}]}`, ``},
		{"content-empty", `[{"text":"More."}]`, `[]`},
		{"blank-text", `{"text":"More."}`, `{"text":" "}`},
		{"block-type", `{"text":"More."}`, `{}`},
		{"block-type", `{"text":"More."}`, `{"text":"More.","inlineData":{}}`},
		{"block-type", `{"text":"More."}`, `{"text":"More.","thought":true}`},
		{"block-type", `{"text":"Done."}`, response1[:len(response1)-1]},
		{"call-id", `"functionCall":{"id":"c2"`, `"functionCall":{"id":""`},
		{"call-duplicate", `"functionCall":{"id":"c2"`, `"functionCall":{"id":"c1"`},
		{"call-input", `"args":{"path":"a","n":1.50}`, `"args":"{}"`},
		{"call-unanswered", response1, ``},
		{"result-duplicate", response1, response1 + response1},
		{"result-orphan", `"name":"read","response"`, `"name":"write","response"`},
		{"result-orphan", `{"id":"c1","name":"read","response"`, `{"id":"c9","name":"read","response"`},
		{"result-order", response1, `{"text":"first"},` + response1},
		{"content-empty", `"response":{"output":"one"}`, `"response":{}`},
		{"content-empty", `"response":{"output":"one"}`, `"response":"one"`},
		{"signature", `"thoughtSignature":"c2ln"`, `"thoughtSignature":"Zm9yZ2Vk"`},
		{"signature", `"thoughtSignature":"c2ln"`, `"thoughtSignature":""`},
		{"signature", `"n":1.50`, `"n":2`},
		{"signature", `{"text":"Hm.","thought":true}`, `{"text":"Hm.","thought":true,"thoughtSignature":"c2ln"}`},
		{"signature", `"functionCall":{"id":"c2","name":"mcp:now.v2"}`, `"functionCall":{"id":"c2","name":"mcp:now.v2"},"thoughtSignature":"c2ln"`},
		{"reasoning-foreign", `"text":"Hm."`, `"text":"Ha."`},
		{"reasoning-foreign", `"Done."`, `"gAAAAAsealed-for-responses"`},
		{"image-type", `image/png`, `image/gif`},
		{"image-type", `image/png`, `image/jpeg`},
		{"image-data", `"data":"` + picture(t, 2, 2), `"data":"AAAA`},
		{"image-size", picture(t, 2, 2), picture(t, 8001, 1)},
		{"document", `application/pdf`, `application/zip`},
		{"document", `"JVBERg=="`, `"%"`},
		{"tool-name", `"name":"mcp:now.v2","desc`, `"name":"2nd","desc`},
		{"tool-name", `"name":"mcp:now.v2","desc`, `"name":"a/b","desc`},
		{"tool-duplicate", fn, fn + "," + fn},
		{"field-type", `[{"functionDeclarations"`, `[{},{"functionDeclarations"`},
		{"schema", `"parametersJsonSchema":{"type":"object"}`, `"parametersJsonSchema":{"type":"string"}`},
		{"schema", `"parametersJsonSchema":{"type":"object"}`, `"parameters":{"type":"object"}`},
		{"schema", `"parametersJsonSchema"`, `"parameters":{},"parametersJsonSchema"`},
		{"schema", schema, `"additionalProperties":false,` + schema},
		{"schema", schema, `"$schema":"x",` + schema},
		{"schema", `"description":"where"`, `"const":"x"`},
		{"schema", `"description":"where"`, `"format":"uri"`},
		{"schema", `"description":"where"`, `"enum":[""]`},
		{"schema", `"description":"where"`, `"enum":[1]`},
		{"schema", `{"type":"string","description":"where"}`, `{"type":["string","null"]}`},
		{"schema", `{"type":"string","description":"where"}`, `{"description":"where"}`},
		{"schema", `{"type":"string","description":"where"}`, `{"type":"integer","enum":["1"]}`},
		{"", `{"type":"string","description":"where"}`, `{"type":"object"}`},
		{"schema", `{"type":"string","description":"where"}`, `true`},
		{"", `{"type":"string","description":"where"}`, `{"anyOf":[{"type":"string"},{"type":"integer"}]}`},
		{"schema", `{"type":"string","description":"where"}`, `{"anyOf":[]}`},
		{"schema", `{"type":"string","description":"where"}`, `{"description":"where","anyOf":[{"type":"string"},{"type":"integer"}]}`},
		{"schema", `"items":{"type":"string","enum":["a"]},`, ``},
		{"schema", `"required":["path"]`, `"required":["way"]`},
	})
	testFaults(t, Gemini, legal, Rules{RequireReasoning: true}, []fault{{"reasoning-missing", `,"thoughtSignature":"c2ln"`, ``}})
	testFaults(t, Gemini, legal, Rules{ClosedObjects: true}, []fault{
		{"", `"Be good."`, `"Be better."`},
		{"schema", `{"type":"string","description":"where"}`, `{"type":"object"}`},
	})
	// The text after the responses begins a new turn, so the calls are old.
	testFaults(t, Gemini, legal, Rules{SignedCalls: true}, []fault{{"", `,"thoughtSignature":"c2ln"`, ``}})
	open := legal[:strings.Index(legal, `,{"text":"Go on."}`)] + "]}]}"
	testFaults(t, Gemini, open, Rules{SignedCalls: true}, []fault{
		{"", `"c2ln"`, `"c2ln"`},
		{"", `"c2ln"`, `"skip_thought_signature_validator"`},
		{"signature", `,"thoughtSignature":"c2ln"`, ``},
	})
	for model, want := range map[string]bool{"gemini-2.5-pro": false, "gemini-3-pro-preview": true, "google/gemini-3.1-flash": true, "gemini-pro": false, "gemini-": false, "": false} {
		if signsCalls(model) != want {
			t.Errorf("%s: %v", model, !want)
		}
	}
}

func TestGeminiModelRules(t *testing.T) {
	media := strings.Replace(legalGemini(t), `"response":{"output":"one"}`, `"response":{"output":"one"},"parts":[{"inlineData":{"mimeType":"image/png","data":"`+picture(t, 2, 2)+`"}}]`, 1)
	level := strings.Replace(legalGemini(t), `"thinkingBudget":1024`, `"thinkingLevel":"low"`, 1)
	for _, tt := range []struct{ body, model, rule string }{
		{media, "", ""}, {media, "gemini-3-pro", ""}, {media, "gemini-2.5-pro", "block-type"},
		{level, "gemini-3-pro", ""}, {level, "gemini-2.5-flash", "thinking-type"},
	} {
		found := check(Gemini, tt.model, []byte(tt.body), Rules{}, sentBoth())
		if (len(found) == 0) != (tt.rule == "") || (tt.rule != "" && found[0].Rule != tt.rule) {
			t.Errorf("%s: %v, want %q", tt.model, found, tt.rule)
		}
	}
}

func legalBedrock(t testing.TB) string {
	return `{"system":[{"text":"Be good."},{"cachePoint":{"type":"default"}}],"inferenceConfig":{"maxTokens":100},` +
		`"toolConfig":{"tools":[{"toolSpec":{"name":"read","description":"Reads.","inputSchema":{"json":{"type":"object","properties":{"path":{"type":"string"}}}}}}]},` +
		`"messages":[{"role":"user","content":[{"text":"Look"},{"image":{"format":"png","source":{"bytes":"` + picture(t, 2, 2) + `"}}},{"document":{"format":"pdf","name":"a (1)","source":{"bytes":"JVBERg=="}}}]},` +
		`{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"sig"}}},{"reasoningContent":{"redactedContent":"cmVk"}},{"toolUse":{"toolUseId":"c1","name":"read","input":{}}}]},` +
		`{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"one"}],"status":"error"}},{"text":"Go on."}]}]}`
}

func TestBedrockRules(t *testing.T) {
	legal := legalBedrock(t)
	result := `{"toolResult":{"toolUseId":"c1","content":[{"text":"one"}],"status":"error"}},`
	testFaults(t, Bedrock, legal, Rules{}, []fault{
		{"", `"Be good."`, `"Be better."`},
		{"unknown-field", `"messages"`, `"model":"m","messages"`},
		{"max-tokens", `"maxTokens":100`, `"maxTokens":0`},
		{"cache-type", `"type":"default"`, `"type":"ephemeral"`},
		{"cache-marks", `{"text":"Go on."}`, `{"text":"Go on."}` + strings.Repeat(`,{"cachePoint":{"type":"default"}}`, 4)},
		{"tools-missing", legal[strings.Index(legal, `"toolConfig"`):strings.Index(legal, `"messages"`)], ``},
		{"tool-name", `"name":"read","desc`, `"name":"a.b","desc`},
		{"field-type", `"description":"Reads."`, `"description":""`},
		{"schema", `{"type":"object","properties"`, `{"type":"array","properties"`},
		{"role-order", `"role":"user"`, `"role":"assistant"`},
		{"role-last", legal[strings.Index(legal, `,{"role":"user","content":[{"toolResult"`):], `]}`},
		{"blank-text", `"Go on."`, `" "`},
		{"block-type", `{"text":"Go on."}`, `{"text":"Go on.","image":{}}`},
		{"block-type", `{"text":"Go on."}`, `{"type":"text"}`},
		{"block-type", `{"text":"Go on."}`, `{"toolUse":{}}`},
		{"call-id", `"toolUse":{"toolUseId":"c1"`, `"toolUse":{"toolUseId":"c.1"`},
		{"call-input", `"input":{}`, `"input":"{}"`},
		{"call-unanswered", result, ``},
		{"result-duplicate", result, result + result},
		{"result-orphan", `"toolResult":{"toolUseId":"c1"`, `"toolResult":{"toolUseId":"c2"`},
		{"result-order", result, `{"text":"first"},` + result},
		{"content-empty", `[{"text":"one"}]`, `[]`},
		{"field-type", `"status":"error"`, `"status":"bad"`},
		{"signature", `"signature":"sig"`, `"signature":"other"`},
		{"signature", `"Hm."`, `"Ha."`},
		{"signature", `"cmVk"`, `"Ymx1ZQ=="`},
		{"image-type", `"format":"png"`, `"format":"bmp"`},
		{"document", `"a (1)"`, `"a_1.pdf"`},
		{"document", `{"text":"Look"},`, ``},
	})
}

func TestOllamaRules(t *testing.T) {
	legal := `{"model":"m","options":{"num_predict":100,"num_ctx":4096},"think":true,` +
		`"tools":[{"type":"function","function":{"name":"read","description":"Reads.","parameters":{"type":"object","properties":{}}}}],` +
		`"messages":[{"role":"system","content":"Be good."},{"role":"user","content":"Look","images":["` + tinyGIF + `"]},` +
		`{"role":"assistant","content":"","thinking":"Hm.","tool_calls":[{"function":{"name":"read","arguments":{}}}]},{"role":"tool","tool_name":"read","content":"one"},{"role":"user","content":"More."}]}`
	tool := `{"role":"tool","tool_name":"read","content":"one"},`
	testFaults(t, Ollama, legal, Rules{}, []fault{
		{"", `"Be good."`, `"Be better."`},
		{"unknown-field", `"think":true`, `"reasoning":true`},
		{"stream", `"think":true`, `"stream":false`},
		{"model", `"model":"m"`, `"model":""`},
		{"max-tokens", `"num_predict":100`, `"num_predict":"100"`},
		{"field-type", `"options":{"num_predict":100,"num_ctx":4096}`, `"options":1`},
		{"tool-name", `"name":"read","desc`, `"name":"a.b","desc`},
		{"role", `"role":"tool"`, `"role":"function"`},
		{"role-last", `,{"role":"user","content":"More."}`, `,{"role":"assistant","content":"More."}`},
		{"role-order", `{"role":"user","content":"More."}`, `{"role":"system","content":"More."}`},
		{"blank-text", `"More."`, `""`},
		{"call-input", `"arguments":{}`, `"arguments":"{}"`},
		{"call-unanswered", tool, ``},
		{"result-orphan", tool, tool + tool},
		{"reasoning-foreign", `"Hm."`, `"Ha."`},
		{"image-data", tinyGIF, "%"},
	})
}
