import { z } from 'zod';
import { chars } from './objects.ts';
import { broken } from './problems.ts';

const Label = chars(20);

const Pie = z.strictObject({
  type: z.literal('pie'),
  segments: z
    .array(z.strictObject({ label: Label, value: z.number().positive() }))
    .min(1)
    .max(12),
});

const Points = z
  .array(z.strictObject({ label: Label, value: z.number() }))
  .min(1)
  .max(20);

const curve = <Type extends string>(type: Type) =>
  z
    .strictObject({
      type: z.literal(type),
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
    .superRefine(namesOnce)
    .superRefine(pointPerCategory);

interface Curve {
  readonly series: readonly { name: string; data: readonly { label: string }[] }[];
  readonly axis_config: { readonly categories: readonly string[] };
}

function namesOnce({ series }: Curve, ctx: z.RefinementCtx): void {
  if (new Set(series.map(({ name }) => name)).size === series.length) return;
  ctx.addIssue(broken('duplicate_series', 'series names must be unique', ['series']));
}

function pointPerCategory({ series, axis_config }: Curve, ctx: z.RefinementCtx): void {
  const wanted = [...axis_config.categories].sort().join('\n');
  series.forEach(({ data }, index) => {
    const given = data
      .map(({ label }) => label)
      .sort()
      .join('\n');
    if (given === wanted) return;
    const message = 'a series must have exactly one point for every category';
    ctx.addIssue(broken('points_mismatch', message, ['series', index, 'data']));
  });
}

export const DataVisualization = z.strictObject({
  type: z.literal('data_visualization'),
  block_id: chars(255).optional(),
  title: chars(50),
  chart: z.discriminatedUnion('type', [Pie, curve('line'), curve('bar'), curve('area')]),
});
