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
const Record = z.strictObject({ record: z.string().startsWith('signalbox:'), expr: z.string() });
const Group = z.strictObject({
  name: z.string(),
  interval: z.string().optional(),
  rules: z.array(z.union([Rule, Record])),
});
const File = z.strictObject({ groups: z.array(Group) });

const ALL = File.parse(parse(readFileSync('deploy/prometheus/alerts.yaml', 'utf8'))).groups.flatMap(
  ({ rules }) => rules,
);

/** The alert rules that are shipped, in the order of their file. */
export const RULES = ALL.flatMap((rule) => ('alert' in rule ? [rule] : []));
/** What is recorded for them and for the objectives. */
export const RECORDS = ALL.flatMap((rule) => ('record' in rule ? [rule] : []));
