import { expect, test } from 'vitest';
import type { Env } from '../../src/ops/environment.ts';
import { casesIn } from '../harness/cases.ts';
import { envOf, load, said } from './fixtures.ts';

const ELSEWHERE = 'https://collector.example.com';

function tracing(env: Env, files: Readonly<Record<string, string>> = {}) {
  const loaded = load(env, files);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.config.tracing;
}

test.for<[string, Env]>([
  ['nothing is set', {}],
  ['only the name of the service is set', { OTEL_SERVICE_NAME: 'signalbox' }],
  ['all is switched off', { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'what?' }],
  ['the exporter is none', { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'what?' }],
])('tracing is off when %s', ([, env]) => {
  expect(tracing(env)).toBeNull();
});

test('unset variables have the defaults of OpenTelemetry', () => {
  expect(tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: `${ELSEWHERE}/` })).toEqual({
    url: `${ELSEWHERE}/v1/traces`,
    headers: new Map(),
    ratio: 1,
  });
  expect(tracing({ OTEL_TRACES_EXPORTER: 'otlp' })?.url).toBe('http://localhost:4318/v1/traces');
});

test('variables for traces win, and their endpoint is used unchanged', () => {
  const read = tracing({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://everything.example.com:4317',
    OTEL_EXPORTER_OTLP_HEADERS: 'key=of-everything',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${ELSEWHERE}/otlp/in`,
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'key=of-traces',
  });
  expect(read?.url).toBe(`${ELSEWHERE}/otlp/in`);
  expect(read?.headers.get('key')?.reveal()).toBe('of-traces');
});

test('headers are decoded as in OpenTelemetry', () => {
  const read = tracing({
    OTEL_EXPORTER_OTLP_ENDPOINT: ELSEWHERE,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a=b, x-team = data ,',
  });
  const headers = [...(read?.headers ?? [])].map(([name, value]) => [name, value.reveal()]);
  expect(headers).toEqual([
    ['authorization', 'Bearer a=b'],
    ['x-team', 'data'],
  ]);
});

test('headers can come from a file and are hidden in every output', () => {
  const files = { '/run/headers': 'authorization=canary\n' };
  const env = { OTEL_EXPORTER_OTLP_HEADERS_FILE: '/run/headers' };
  const read = tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: ELSEWHERE, ...env }, files);
  expect(read?.headers.get('authorization')?.reveal()).toBe('canary');
  expect(JSON.stringify([...(read?.headers ?? [])])).not.toContain('canary');
});

test('a collector without headers may use plain HTTP', () => {
  const read = tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.observability:4318' });
  expect(read?.url).toBe('http://collector.observability:4318/v1/traces');
  const here = { OTEL_EXPORTER_OTLP_HEADERS: 'key=canary' };
  expect(tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', ...here })).toBeTruthy();
});

const REFUSED = casesIn(`
  the address is none: { OTEL_EXPORTER_OTLP_ENDPOINT: collector }
    OTEL_EXPORTER_OTLP_ENDPOINT: must be an address (https://…)
  the address is of gRPC: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: grpc://collector:4317 }
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: must be an address (https://…)
  the address holds a password: { OTEL_EXPORTER_OTLP_ENDPOINT: https://me:canary@collector.example.com }
    OTEL_EXPORTER_OTLP_ENDPOINT: must not contain a user or a password (OTEL_TRACES_EXPORTER=none switches tracing off)
  a key would be sent in clear: { OTEL_EXPORTER_OTLP_ENDPOINT: http://collector.example.com, OTEL_EXPORTER_OTLP_HEADERS: key=canary }
    OTEL_EXPORTER_OTLP_ENDPOINT: must begin with https://, because the headers may contain a key (OTEL_TRACES_EXPORTER=none switches tracing off)
  the exporter is another one: { OTEL_TRACES_EXPORTER: canary }
    OTEL_TRACES_EXPORTER: is not a known word (one of: otlp, none)
  the headers are no pairs: { OTEL_EXPORTER_OTLP_ENDPOINT: https://collector.example.com, OTEL_EXPORTER_OTLP_HEADERS: Bearer canary }
    OTEL_EXPORTER_OTLP_HEADERS: must be key=value,key=value (OTEL_TRACES_EXPORTER=none switches tracing off)
  a header would begin another line: { OTEL_EXPORTER_OTLP_ENDPOINT: https://collector.example.com, OTEL_EXPORTER_OTLP_HEADERS: key=canary%0D%0Ax }
    OTEL_EXPORTER_OTLP_HEADERS: must be key=value,key=value (OTEL_TRACES_EXPORTER=none switches tracing off)
  the sampler is unknown: { OTEL_EXPORTER_OTLP_ENDPOINT: https://collector.example.com, OTEL_TRACES_SAMPLER: canary }
    OTEL_TRACES_SAMPLER: is not a known word (one of: parentbased_always_on, parentbased_traceidratio)
  more than all is asked for: { OTEL_EXPORTER_OTLP_ENDPOINT: https://collector.example.com, OTEL_TRACES_SAMPLER_ARG: "1.5" }
    OTEL_TRACES_SAMPLER_ARG: must be from 0 to 1 (OTEL_TRACES_EXPORTER=none switches tracing off)
  the file of the headers is not there: { OTEL_EXPORTER_OTLP_ENDPOINT: https://collector.example.com, OTEL_EXPORTER_OTLP_HEADERS_FILE: /run/nothing }
    OTEL_EXPORTER_OTLP_HEADERS: its file, named by OTEL_EXPORTER_OTLP_HEADERS_FILE, cannot be read (ENOENT) (correct OTEL_EXPORTER_OTLP_HEADERS_FILE or the file)
`);

test.for(REFUSED)('the start is refused when %s', ([, env, problem]) => {
  const problems = said(envOf(env));
  expect(problems).toEqual([problem]);
  expect(problems.join().includes('canary')).toBe(false);
});

test('tracing problems are reported together with all others', () => {
  const problems = said({ SLACK_BOT_TOKEN: undefined, OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' });
  expect(problems).toHaveLength(2);
});
