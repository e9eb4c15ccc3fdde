import { z } from 'zod';
import { chars } from './objects.ts';
import { ruleBroken } from './problems.ts';

const Label = chars(20);

const Points = z
  .array(z.strictObject({ label: Label, value: z.number() }))
  .min(1)
  .max(20);

const BarChart = z
  .strictObject({
    type: z.literal('bar'),
    series: z
      .array(z.strictObject({ name: Label, data: Points }))
      .min(1)
      .max(12),
    axis_config: z.strictObject({
      categories: z.array(Label).min(1).max(20),
      x_label: chars(50).optional(),
      y_label: chars(50).optional(),
    }),
  })
  .superRefine(({ series, axis_config }, ctx) => {
    if (new Set(series.map(({ name }) => name)).size < series.length) {
      ctx.addIssue(ruleBroken('duplicate_series', 'series names must be unique', ['series']));
    }
    const categories = [...axis_config.categories].sort().join('\n');
    series.forEach(({ data }, index) => {
      const labels = data.map(({ label }) => label);
      if (labels.sort().join('\n') === categories) return;
      const message = 'a series must have exactly one point for every category';
      ctx.addIssue(ruleBroken('points_mismatch', message, ['series', index, 'data']));
    });
  });

export const DataVisualization = z.strictObject({
  type: z.literal('data_visualization'),
  block_id: chars(255).optional(),
  title: chars(50),
  chart: z.discriminatedUnion('type', [BarChart]),
});
