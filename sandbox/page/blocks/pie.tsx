import type { Json } from '../../protocol.ts';
import { amount, list, word } from '../json.ts';
import { amountText } from './chart-model.ts';

export interface Slice {
  readonly label: string;
  readonly value: number;
  readonly share: number;
  readonly from: number;
}

export function slicesOf(chart: Json): readonly Slice[] {
  const segments = list(chart.segments).map(({ label, value }) => ({
    label: word(label),
    value: Math.max(0, amount(value) ?? 0),
  }));
  const total = segments.reduce((sum, { value }) => sum + value, 0) || 1;
  let from = 0;
  return segments.map(({ label, value }) => {
    const slice = { label, value, share: value / total, from };
    from += slice.share;
    return slice;
  });
}

const RADIUS = 100;

const at = (turn: number) =>
  [Math.sin(turn * 2 * Math.PI) * RADIUS, -Math.cos(turn * 2 * Math.PI) * RADIUS].join(' ');

function arc({ from, share }: Slice): string {
  // A whole circle starts and ends in one point, which an arc cannot tell from nothing.
  const until = from + Math.min(share, 0.9999);
  return `M 0 0 L ${at(from)} A ${RADIUS} ${RADIUS} 0 ${share > 0.5 ? 1 : 0} 1 ${at(until)} Z`;
}

export function Pie({ slices, name }: { slices: readonly Slice[]; name: string }) {
  return (
    <svg viewBox="-104 -104 208 208" role="img" aria-label={name} className="pie">
      {slices.map((slice, index) => (
        <path key={slice.label} className={`fill-${index}`} d={arc(slice)}>
          <title>
            {slice.label}: {amountText(slice.value)} ({Math.round(slice.share * 100)} %)
          </title>
        </path>
      ))}
    </svg>
  );
}
