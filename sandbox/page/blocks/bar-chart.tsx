import type { Json } from '../../json.ts';
import { useIsPhone } from '../device.ts';
import { type Chart, chartOf, formatNumber, labelInterval, ticks } from './chart-model.ts';

const HEIGHT = 240;
const PLOT = { left: 52, top: 10, bottom: HEIGHT - 44 };
/** The widths of the drawing, which the page scales to that of the message. */
const WIDTH = { phone: 300, desktop: 560 };

const colorOf = (series: number): string => `var(--series-${series})`;

type Scale = ReturnType<typeof scaleOf>;

function scaleOf(chart: Chart, marks: readonly number[], right: number) {
  const low = marks[0] ?? 0;
  const range = (marks.at(-1) ?? 1) - low || 1;
  const band = (right - PLOT.left) / Math.max(1, chart.categories.length);
  return {
    right,
    band,
    x: (at: number) => PLOT.left + band * (at + 0.5),
    y: (value: number) => PLOT.bottom - ((value - low) / range) * (PLOT.bottom - PLOT.top),
  };
}

/** A data_visualization block, followed by the same numbers as a list for screen readers. */
export function BarChart({ block }: { block: Json }) {
  const chart = chartOf(block);
  const marks = ticks(chart.series.flatMap(({ values }) => values));
  const width = WIDTH[useIsPhone() ? 'phone' : 'desktop'];
  const scale = scaleOf(chart, marks, width - 8);
  return (
    <figure className="chart">
      <figcaption>{chart.title}</figcaption>
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={`bar chart: ${chart.title}`}
        className="plot"
      >
        <Axes {...{ chart, marks, scale }} />
        {chart.series.map((series, at) => (
          <Bars key={series.name} {...{ chart, at, scale }} />
        ))}
      </svg>
      <ul className="legend">
        {chart.series.map(({ name }, at) => (
          <li key={name}>
            <span className="swatch" style={{ background: colorOf(at) }} aria-hidden="true" />
            {name}
          </li>
        ))}
      </ul>
      <ul className="visually-hidden">
        {chart.series.flatMap(({ name, values }) =>
          values.map((value, at) => (
            <li key={`${name} ${chart.categories[at]}`}>
              {name}, {chart.categories[at]}: {formatNumber(value)}
            </li>
          )),
        )}
      </ul>
    </figure>
  );
}

function Axes({ chart, marks, scale }: { chart: Chart; marks: readonly number[]; scale: Scale }) {
  const interval = labelInterval(chart.categories, scale.right - PLOT.left);
  return (
    <g className="axes">
      {marks.map((mark) => (
        <g key={mark} className={mark === 0 ? 'zero' : ''}>
          <line x1={PLOT.left} x2={scale.right} y1={scale.y(mark)} y2={scale.y(mark)} />
          <text x={PLOT.left - 8} y={scale.y(mark) + 4} textAnchor="end">
            {formatNumber(mark)}
          </text>
        </g>
      ))}
      {chart.categories.map((category, at) =>
        at % interval === 0 ? (
          <text key={category} x={scale.x(at)} y={PLOT.bottom + 17} textAnchor="middle">
            {category}
          </text>
        ) : null,
      )}
      <text x={(PLOT.left + scale.right) / 2} y={HEIGHT - 6} textAnchor="middle">
        {chart.xLabel}
      </text>
      <text transform={`translate(12 ${HEIGHT / 2 - 16}) rotate(-90)`} textAnchor="middle">
        {chart.yLabel}
      </text>
    </g>
  );
}

function Bars({ chart, at, scale }: { chart: Chart; at: number; scale: Scale }) {
  const { name, values } = chart.series[at] ?? { name: '', values: [] };
  const width = Math.min(40, (scale.band * 0.72) / chart.series.length);
  const offset = (at - chart.series.length / 2) * width;
  return values.map((value, index) => (
    <rect
      key={chart.categories[index]}
      fill={colorOf(at)}
      x={scale.x(index) + offset}
      y={Math.min(scale.y(value), scale.y(0))}
      width={Math.max(1, width - 1)}
      height={Math.abs(scale.y(value) - scale.y(0))}
      rx={2}
    >
      <title>{`${chart.categories[index]}: ${formatNumber(value)} (${name})`}</title>
    </rect>
  ));
}
