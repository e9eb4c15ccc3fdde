import type { AnswerPart, ChartPoint } from '../../domain/answer.ts';
import type { AnyBlock, MessagePart as Shown } from './blocks.ts';
import { bounded, mrkdwnOf, oneLine, visible } from './rich-text.ts';

const POINTS_MAX = 20;

/**
 * A bar chart with the same figures as text. Values that are not final are a second series, because
 * Slack colors a series and not a bar.
 */
export function chart(part: AnswerPart & { kind: 'chart' }): Shown | null {
  const { title, unit, axis, points } = part;
  const shown = points.slice(-POINTS_MAX).map(({ label, value, isFinal }) => ({
    label: bounded(oneLine(visible(label)), 20),
    value: Math.round(value * 100) / 100,
    isFinal,
  }));
  if (shown.length === 0) return null;
  const block: AnyBlock = {
    type: 'data_visualization',
    title: bounded(visible(title), 50),
    chart: {
      type: 'bar',
      series: allSeries(shown),
      axis_config: {
        categories: shown.map(({ label }) => label),
        x_label: bounded(axis, 50),
        y_label: bounded(unit, 50),
      },
    },
  };
  const words = shown.map(({ label, value, isFinal }) => {
    return `${label}: ${value}${isFinal ? '' : ' (not final)'}`;
  });
  return { block, text: mrkdwnOf([`${title} · ${axis} · ${words.join(', ')}`]) };
}

/**
 * Slack colors a series by its position. *Not final* is always the second one, so that it has the same
 * color in all charts, also without any final value.
 */
function allSeries(points: readonly ChartPoint[]) {
  const final = seriesOf('final', points, true);
  return points.every(({ isFinal }) => isFinal)
    ? [final]
    : [final, seriesOf('not final', points, false)];
}

/** Slack needs a value of every series for every label, and draws 0 as nothing. */
function seriesOf(name: string, points: readonly ChartPoint[], isFinal: boolean) {
  const data = points.map((point) => ({
    label: point.label,
    value: point.isFinal === isFinal ? point.value : 0,
  }));
  return { name, data };
}
