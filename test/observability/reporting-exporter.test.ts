import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { createLog } from '../../src/observability/log.ts';
import { withExportLog } from '../../src/observability/reporting-exporter.ts';

type Result = Parameters<Parameters<SpanExporter['export']>[1]>[0];

test('rejected traces and the recovery are each logged once', () => {
  const lines: { reason?: string; msg: string }[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const results: Result[] = [];
  const exporter: SpanExporter = {
    export: (_spans, done) => done(results.shift() ?? { code: 0 }),
    shutdown: async () => undefined,
  };
  const told = withExportLog(exporter, createLog({ level: 'info' }, { write }));
  const codes: number[] = [];
  const send = (result: Result) => {
    results.push(result);
    const spans: ReadableSpan[] = [];
    told.export(spans, ({ code }) => void codes.push(code));
  };
  const refused = { code: 1, error: Object.assign(new Error('canary'), { code: 401 }) };
  for (const result of [{ code: 0 }, refused, refused, { code: 0 }, { code: 0 }]) send(result);
  expect(codes).toEqual([0, 1, 1, 0, 0]);
  expect(lines.map(({ msg, reason }) => [msg, reason])).toEqual([
    ['traces are lost: the collector rejects them', '401'],
    ['the collector accepts traces again', undefined],
  ]);
  expect(JSON.stringify(lines)).not.toContain('canary');
});
