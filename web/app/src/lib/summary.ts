// What stands out in a result, for answers that no model put into words.

import { chooseChart } from "./chart";
import { isTime, writer } from "./column";
import type { Result } from "./result";
import { sentence } from "./words";

/** summary says where a measure is highest and lowest; "" where the rows say it best themselves. */
export function summary(result: Result): string {
  const chart = chooseChart(result);
  const measure = chart?.column[0];
  if (!chart || measure === undefined || chart.series.length !== 1 || chart.x || chart.others || result.rows.length < 3) return "";
  const values = chart.series[0].values;
  const ranked = values.map((v, i) => ({ v, i })).filter((p): p is { v: number; i: number } => p.v !== null).sort((a, b) => b.v - a.v);
  const [high, low] = [ranked[0], ranked.at(-1)!];
  if (!high || high.v === low.v || high.v === ranked[1].v) return "";
  const write = writer(result.columns[measure], result.rows.map((r) => r[measure]));
  const at = isTime(result.columns[chart.along]) ? "in" : "for";
  const named = ({ i }: { i: number }) => `${at} ${chart.labels[i].replaceAll(/[\\`*_[\]<>!|~]/g, "\\$&")} with ${write(result.rows[chart.row[i]][measure])}`;
  return sentence(`${chart.series[0].name.replaceAll(/[\\`*_[\]<>!|~]/g, "\\$&")} is highest ${named(high)} and lowest ${named(low)}`);
}
