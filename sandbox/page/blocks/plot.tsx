import { amountText, labelEvery, type Plot, type Series, ticks } from './chart-model.ts';

const WIDTH = 560;
const HEIGHT = 240;
const INSIDE = { left: 52, right: WIDTH - 8, top: 10, bottom: HEIGHT - 44 };

interface Scale {
  readonly x: (at: number) => number;
  readonly y: (value: number) => number;
  readonly band: number;
}

function scaleOf(plot: Plot, marks: readonly number[]): Scale {
  const low = marks[0] ?? 0;
  const high = marks.at(-1) ?? 1;
  const band = (INSIDE.right - INSIDE.left) / Math.max(1, plot.categories.length);
  return {
    band,
    x: (at) => INSIDE.left + band * (at + 0.5),
    y: (value) =>
      INSIDE.bottom - ((value - low) / (high - low || 1)) * (INSIDE.bottom - INSIDE.top),
  };
}

/** A line, bar or area chart with its axes. */
export function PlotDrawing({ plot, name }: { plot: Plot; name: string }) {
  const marks = ticks(plot.series.flatMap(({ values }) => values));
  const scale = scaleOf(plot, marks);
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={name} className="plot">
      <Axes {...{ plot, marks, scale }} />
      {plot.series.map((series, at) =>
        plot.type === 'bar' ? (
          <Bars key={series.name} {...{ plot, series, at, scale }} />
        ) : (
          <Curve key={series.name} {...{ plot, series, at, scale }} />
        ),
      )}
    </svg>
  );
}

function Axes({ plot, marks, scale }: { plot: Plot; marks: readonly number[]; scale: Scale }) {
  const every = labelEvery(plot.categories, INSIDE.right - INSIDE.left);
  const middle = (INSIDE.left + INSIDE.right) / 2;
  return (
    <g className="axes">
      {marks.map((mark) => (
        <g key={mark} className={mark === 0 ? 'zero' : ''}>
          <line x1={INSIDE.left} x2={INSIDE.right} y1={scale.y(mark)} y2={scale.y(mark)} />
          <text x={INSIDE.left - 8} y={scale.y(mark) + 4} textAnchor="end">
            {amountText(mark)}
          </text>
        </g>
      ))}
      {plot.categories.map((category, at) =>
        at % every === 0 ? (
          <text key={category} x={scale.x(at)} y={INSIDE.bottom + 17} textAnchor="middle">
            {category}
          </text>
        ) : null,
      )}
      <text x={middle} y={HEIGHT - 6} textAnchor="middle" className="axis-name">
        {plot.xLabel}
      </text>
      <text transform={`translate(12 ${HEIGHT / 2 - 16}) rotate(-90)`} textAnchor="middle">
        {plot.yLabel}
      </text>
    </g>
  );
}

interface Drawn {
  readonly plot: Plot;
  readonly series: Series;
  readonly at: number;
  readonly scale: Scale;
}

const titleOf = ({ plot, series }: Drawn, at: number) =>
  `${plot.categories[at]}: ${amountText(series.values[at] ?? 0)} (${series.name})`;

function Bars(drawn: Drawn) {
  const { plot, series, at, scale } = drawn;
  const width = Math.min(40, (scale.band * 0.72) / plot.series.length);
  const offset = (at - plot.series.length / 2) * width;
  return series.values.map((value, index) => (
    <rect
      key={plot.categories[index]}
      className={`fill-${at}`}
      x={scale.x(index) + offset}
      y={Math.min(scale.y(value), scale.y(0))}
      width={Math.max(1, width - 1)}
      height={Math.abs(scale.y(value) - scale.y(0))}
      rx={2}
    >
      <title>{titleOf(drawn, index)}</title>
    </rect>
  ));
}

function Curve(drawn: Drawn) {
  const { plot, series, at, scale } = drawn;
  const points = series.values.map((value, index) => `${scale.x(index)},${scale.y(value)}`);
  const ends = [series.values.length - 1, 0].map((index) => `${scale.x(index)},${scale.y(0)}`);
  return (
    <g>
      {plot.type === 'area' && (
        <polygon className={`fill-${at} area`} points={[...points, ...ends].join(' ')} />
      )}
      <polyline className={`stroke-${at}`} points={points.join(' ')} />
      {series.values.map((value, index) => (
        <circle
          key={plot.categories[index]}
          className={`fill-${at}`}
          cx={scale.x(index)}
          cy={scale.y(value)}
          r={3.5}
        >
          <title>{titleOf(drawn, index)}</title>
        </circle>
      ))}
    </g>
  );
}
