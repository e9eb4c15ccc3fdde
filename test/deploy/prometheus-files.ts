import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const Rule = z.strictObject({
  alert: z.string().startsWith('Signalbox'),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
});
const Alerts = z.strictObject({
  groups: z.tuple([z.strictObject({ name: z.string(), rules: z.array(Rule) })]),
});

/** The alert rules that are shipped, in the order of their file. */
export const RULES: readonly z.infer<typeof Rule>[] = Alerts.parse(
  parse(readFileSync('deploy/prometheus/alerts.yaml', 'utf8')),
).groups[0].rules;
