import { record, textOf, word } from '../json.ts';
import { amountText, plotOf } from './chart-model.ts';
import { Pie, slicesOf } from './pie.tsx';
import { PlotDrawing } from './plot.tsx';
import type { BlockProps } from './shown.tsx';

/** The data_visualization block, with the same numbers as a table for those who cannot see it. */
export function Chart({ block }: BlockProps) {
  const chart = record(block.chart);
  const title = textOf(block.title);
  const type = word(chart.type);
  const name = `${type} chart: ${title}`;
  const slices = slicesOf(chart);
  const plot = plotOf(chart);
  const legend =
    type === 'pie'
      ? slices.map(({ label, share }) => `${label} · ${Math.round(share * 100)} %`)
      : plot.series.map((series) => series.name);
  return (
    <figure className="chart">
      <figcaption>{title}</figcaption>
      {type === 'pie' ? <Pie {...{ slices, name }} /> : <PlotDrawing {...{ plot, name }} />}
      <ul className="legend">
        {legend.map((label, at) => (
          <li key={label}>
            <span className={`swatch back-${at}`} aria-hidden="true" />
            {label}
          </li>
        ))}
      </ul>
      <ul className="visually-hidden">
        {type === 'pie'
          ? slices.map(({ label, value }) => (
              <li key={label}>{`${label}: ${amountText(value)}`}</li>
            ))
          : plot.series.flatMap(({ name: of, values }) =>
              values.map((value, at) => (
                <li key={`${of} ${plot.categories[at]}`}>
                  {of}, {plot.categories[at]}: {amountText(value)}
                </li>
              )),
            )}
      </ul>
    </figure>
  );
}
