package shrink

import (
	"fmt"
	"time"

	yaml "go.yaml.in/yaml/v3"

	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/expect"
)

// cutOff is a scenario whose run ends early, written as one that lasts no longer.
func (p *parts) cutOff(c *Config) (*scenario.Scenario, error) {
	p.cut(c.Scenario, c.Until)
	text, err := p.yaml()
	if err != nil {
		return nil, err
	}
	scenarios, problems := alone().Decode(c.Scenario.File, text)
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s, cut off at %s: %w", c.Scenario.Name, span.String(c.Until), problems)
	}
	return scenarios[0], nil
}

// cut has the run end at an instant, and omits steps that come later and expectations that nothing can decide until then.
func (p *parts) cut(s *scenario.Scenario, end time.Duration) {
	p.fixed["duration"] = span.String(end)
	var timeline, expected []any
	for _, step := range p.timeline {
		m, is := step.(mapping)
		if is && (instant(m["at"]) > end || instant(m["from"]) > end) {
			continue
		}
		if is && instant(m["until"]) > end {
			m["until"] = span.String(end)
		}
		timeline = append(timeline, step)
	}
	for i, e := range p.expect {
		if of := &s.Expect[i]; of.From > end || of.Mode <= expect.Within && of.Until > end {
			continue
		}
		clip(e.(*yaml.Node), end)
		expected = append(expected, e)
	}
	p.timeline, p.expect = timeline, expected
}

// instant is an offset from the start as it is written; zero: there is none.
func instant(v any) time.Duration {
	at, err := span.Parse(Text(v))
	if err != nil { // it was read before
		return 0
	}
	return at
}

// clip has the window of an expectation end at an instant, if it ends later.
func clip(n *yaml.Node, end time.Duration) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if v := n.Content[i+1]; n.Content[i].Value == "until" && instant(v) > end {
			v.SetString(span.String(end))
		}
	}
}
