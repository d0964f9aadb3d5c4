package llm

import (
	"math"
	"regexp"
	"strings"

	"interlock/internal/event"
)

// A Price is in US dollars per million tokens.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
}

// Cost is what the usage costs in millionths of a dollar. Input counts tokens
// that came neither from nor into a cache; those are CacheRead and CacheWrite.
func (p Price) Cost(u event.Usage) int64 {
	return int64(math.Round(p.Input*float64(u.Input) + p.Output*float64(u.Output) +
		p.CacheRead*float64(u.CacheRead) + p.CacheWrite*float64(u.CacheWrite)))
}

// PriceOf finds the price of a model, by its own name or as a router writes it
// ("openai/gpt-5.4"), with or without a date behind it. The overrides go first:
// the longest that the name begins with. An unknown model costs nothing and is
// reported as not known.
func PriceOf(model string, overrides map[string]Price) (p Price, known bool) {
	best := -1
	for prefix, price := range overrides {
		if len(prefix) > best && strings.HasPrefix(model, prefix) {
			best, p, known = len(prefix), price, true
		}
	}
	if known {
		return p, true
	}
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	name = dated.ReplaceAllString(name, "")
	if strings.HasPrefix(name, "claude-") {
		name = strings.ReplaceAll(name, ".", "-")
	}
	p, known = prices[name]
	return p, known
}

// dated matches what follows the name of a model that is pinned to a date. Any
// other suffix names another model, which may cost something else.
var dated = regexp.MustCompile(`[-@](\d{8}|\d{4}-\d{2}-\d{2}|latest)$`)

// claudePrice returns a price with the cache rates that Anthropic derives from the
// input rate: 1.25 to write for five minutes, 0.1 to read.
func claudePrice(input, output float64) Price {
	return Price{input, output, input * 0.1, input * 1.25}
}

// gptPrice returns a price where writing to the cache costs what input costs.
func gptPrice(input, cached, output float64) Price {
	return Price{input, output, cached, input}
}

// prices lists published standard rates as of November 2026, without the
// surcharges for very long prompts.
var prices = map[string]Price{
	"claude-fable-5-1":  claudePrice(10, 50),
	"claude-fable-5":    claudePrice(10, 50),
	"claude-opus-5-5":   {4, 20, 0.20, 5},
	"claude-opus-5":     claudePrice(5, 25),
	"claude-opus-4-6":   claudePrice(5, 25),
	"claude-opus-4-5":   claudePrice(5, 25),
	"claude-opus-4-1":   claudePrice(15, 75),
	"claude-sonnet-5-5": claudePrice(2, 10),
	"claude-sonnet-5":   claudePrice(2, 10),
	"claude-sonnet-4-6": claudePrice(3, 15),
	"claude-sonnet-4-5": claudePrice(3, 15),
	"claude-sonnet-4":   claudePrice(3, 15),
	"claude-haiku-4-5":  claudePrice(1, 5),
	"claude-3-5-haiku":  claudePrice(0.80, 4),

	"gpt-6.1-sol":   {2, 10, 0.10, 2.50},
	"gpt-6.1-terra": {1, 5, 0.05, 1.25},
	"gpt-6-astra":   gptPrice(10, 1, 50),
	"gpt-6-sol":     {2, 10, 0.20, 2.50},
	"gpt-6-luna":    {0.10, 0.50, 0.01, 0.125},
	"gpt-5.6-sol":   gptPrice(5, 0.50, 30),
	"gpt-5.6-terra": gptPrice(2, 0.20, 12),
	"gpt-5.6-luna":  gptPrice(0.20, 0.02, 1.20),
	"gpt-5.4":       gptPrice(2.50, 0.25, 15),
	"gpt-5.4-mini":  gptPrice(0.75, 0.075, 4.50),
	"gpt-5.2":       gptPrice(1.75, 0.175, 14),
	"gpt-5.1":       gptPrice(1.25, 0.125, 10),
	"gpt-5":         gptPrice(1.25, 0.125, 10),
	"gpt-5-mini":    gptPrice(0.25, 0.025, 2),
	"gpt-5-nano":    gptPrice(0.05, 0.005, 0.40),
	"gpt-4.1":       gptPrice(2, 0.50, 8),
	"gpt-4.1-mini":  gptPrice(0.40, 0.10, 1.60),
	"gpt-4.1-nano":  gptPrice(0.10, 0.025, 0.40),
	"gpt-4o":        gptPrice(2.50, 1.25, 10),
	"gpt-4o-mini":   gptPrice(0.15, 0.075, 0.60),
	"o3":            gptPrice(2, 0.50, 8),
	"o4-mini":       gptPrice(1.10, 0.275, 4.40),
}
