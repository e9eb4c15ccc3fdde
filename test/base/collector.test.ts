import { expect, test } from 'vitest';
import { secretsIn } from '../../src/base/log.ts';
import { type Behaviour, startCollector } from '../ops/collector.ts';
import { startDoctorSandbox } from '../ops/doctor-sandbox.ts';
import { load } from '../ops/fixtures.ts';
import { line } from '../ops/lines.ts';

const NAME = 'collector';

test('without tracing the report has no collector line', async () => {
  const sandbox = await startDoctorSandbox();
  expect(line(await sandbox.diagnose(), NAME)).toBeUndefined();
});

test.for<[string, Behaviour, object]>([
  ['takes what comes', 'taking', { status: 'ok', says: 'accepts traces without TLS' }],
  ['never answers', 'hanging', { status: 'warning', says: 'is not reachable' }],
  [
    'does not know the key',
    401,
    { status: 'warning', fix: expect.stringContaining('OTEL_EXPORTER_OTLP_HEADERS') },
  ],
  [
    'is something else',
    404,
    {
      status: 'warning',
      says: expect.stringContaining('does not accept traces at this address (404)'),
    },
  ],
])('a collector that %s causes at most a warning', async ([, behaviour, reported]) => {
  const sandbox = await startDoctorSandbox();
  const collector = await startCollector(behaviour);
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=canary',
  };
  const report = await sandbox.diagnose(env, 500);
  expect(line(report, NAME)).toMatchObject(reported);
  expect(collector.headers.map(({ authorization }) => authorization)).toEqual(['canary']);
  expect(collector.spans).toEqual([]);
  expect(JSON.stringify(report)).not.toContain('canary');
});

test('the collector key is removed from every report', () => {
  const loaded = load({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=the-key-of-the-collector',
  });
  expect(loaded.ok && secretsIn(loaded.config)).toContain('the-key-of-the-collector');
});
