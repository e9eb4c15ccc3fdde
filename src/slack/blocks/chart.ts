import type { AnswerPart } from '../../intent/answers/answer.ts';
import type { AnyBlock, MessagePart as Shown } from './blocks.ts';
import { bounded, mrkdwnOf, oneLine, visible } from './rich-text.ts';

const POINTS_MAX = 20;

/** A bar chart of one series, with the same figures as text. */
export function chart(part: AnswerPart & { kind: 'chart' }): Shown | null {
  const { title, unit, axis, points } = part;
  const shown = points.slice(-POINTS_MAX).map(({ label, value }) => ({
    label: bounded(oneLine(visible(label)), 20),
    value: Math.round(value * 100) / 100,
  }));
  if (shown.length === 0) return null;
  const block: AnyBlock = {
    type: 'data_visualization',
    title: bounded(visible(title), 50),
    chart: {
      type: 'bar',
      series: [{ name: bounded(unit, 20), data: shown }],
      axis_config: {
        categories: shown.map(({ label }) => label),
        x_label: bounded(axis, 50),
        y_label: bounded(unit, 50),
      },
    },
  };
  const words = shown.map(({ label, value }) => `${label}: ${value}`).join(', ');
  return { block, text: mrkdwnOf([`${title} · ${axis} · ${words}`]) };
}
