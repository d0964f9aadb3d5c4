package dialect

var clickhouse = engine{
	name: "clickhouse", title: "ClickHouse", quote: escapedBackticks, text: backslashText,
	lexis: Lexis{Backslash: true, Backticks: true, Names: KeepsCase},
	keywords: words(`apply array date day div extract final first format global hour inf interval last mod month nan prewhere quarter sample
		second settings substring timestamp trim week year`),
}
