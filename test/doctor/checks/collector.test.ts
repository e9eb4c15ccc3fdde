import { expect, test } from 'vitest';
import { secretsOf } from '../../../src/doctor/manifest-file.ts';
import { load } from '../../config/fixtures.ts';
import { type Behaviour, startCollector } from '../../observability/collector.ts';
import { openClinic } from '../clinic.ts';
import { line } from '../lines.ts';

const NAME = 'collector';

test('nothing is said of a collector where nobody traces', async () => {
  const clinic = await openClinic();
  expect(line(await clinic.diagnose(), NAME)).toBeUndefined();
});

test.for<[string, Behaviour, object]>([
  ['takes what comes', 'taking', { status: 'ok', says: 'takes traces, in clear' }],
  ['never answers', 'hanging', { status: 'warning', says: 'is not reached' }],
  [
    'does not know the key',
    401,
    { status: 'warning', fix: expect.stringContaining('OTEL_EXPORTER_OTLP_HEADERS') },
  ],
  [
    'is something else',
    404,
    { status: 'warning', says: expect.stringContaining('does not take traces there (404)') },
  ],
])('a collector that %s is told, and is never in the way', async ([, behaviour, told]) => {
  const clinic = await openClinic();
  const collector = await startCollector(behaviour);
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=canary',
  };
  const report = await clinic.diagnose(env, 500);
  expect(line(report, NAME)).toMatchObject(told);
  expect(collector.headers.map(({ authorization }) => authorization)).toEqual(['canary']);
  expect(collector.spans).toEqual([]);
  expect(JSON.stringify(report)).not.toContain('canary');
});

test('its key is taken out of every report, whoever may quote it', () => {
  const loaded = load({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=the-key-of-the-collector',
  });
  expect(loaded.ok && secretsOf(loaded.config)).toContain('the-key-of-the-collector');
});
