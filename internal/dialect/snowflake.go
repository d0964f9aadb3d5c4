package dialect

var snowflake = engine{
	name: "snowflake", title: "Snowflake", quote: doubleQuotes, text: backslashText,
	lexis:    Lexis{Backslash: true, SlashComments: true, Names: FoldsToUpper},
	keywords: words(`account connection gscluster increment issue minus organization regexp revoke rlike sample schema start trigger`),
}
