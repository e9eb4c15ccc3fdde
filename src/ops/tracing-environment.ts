// The variables of OpenTelemetry, as far as Signalbox checks them.
import { z } from 'zod';
import { Secret } from '../base/errors.ts';
import { isThisMachine } from '../base/http-limits.ts';
import { type ConfigProblem, type ConfigResult, withHint } from '../base/problem.ts';
import {
  choice,
  type Env,
  isSet,
  type ReadFile,
  readVariables,
  urlProblem,
} from './environment.ts';

/** What Signalbox checks of OpenTelemetry's variables. Its SDK reads the others itself. */
export type Tracing = ReturnType<typeof tracingOf>;

// OpenTelemetry ignores an unusable address, and sends a key without TLS. Signalbox refuses to start with them.
const Variables = z.object({
  OTEL_TRACES_EXPORTER: choice('otlp', 'none').default('otlp'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .string()
    .superRefine((text, context) => {
      const message = /^https?:/i.test(text)
        ? urlProblem(text)
        : withHint('must be an address', 'https://…');
      if (message !== null) context.addIssue({ code: 'custom', message });
    })
    .default('http://localhost:4318'),
  OTEL_EXPORTER_OTLP_HEADERS: headers(),
  OTEL_TRACES_SAMPLER: choice('parentbased_always_on', 'parentbased_traceidratio').default(
    'parentbased_always_on',
  ),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .refine((text) => /^[\d.]+$/.test(text) && Number(text) <= 1, { error: 'must be from 0 to 1' })
    .default('1')
    .transform(Number),
});

/** The validated settings; null if tracing is off. */
export function readTracing(env: Env, readFile: ReadFile): ConfigResult<Tracing | null> {
  if (!isEnabled(env)) return { ok: true, value: null };
  const { reading, unread } = readVariables(Variables, env, readFile, (name) =>
    sourceOf(name, env),
  );
  if (!reading.ok) return { ok: false, problems: [...unread, ...reading.problems.map(named(env))] };
  const open = plainHttpProblems(reading.value).map(named(env));
  if (unread.length + open.length > 0) return { ok: false, problems: [...unread, ...open] };
  return { ok: true, value: tracingOf(reading.value, env) };
}

function isEnabled(env: Env): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return false;
  const endpoint = sourceOf('OTEL_EXPORTER_OTLP_ENDPOINT', env);
  return env.OTEL_TRACES_EXPORTER !== 'none' && Boolean(env[endpoint] || env.OTEL_TRACES_EXPORTER);
}

/** These variables have a variant for traces only, which wins. */
const OTLP_PREFIX = /^OTEL_EXPORTER_OTLP_/;
const TRACES_PREFIX = 'OTEL_EXPORTER_OTLP_TRACES_';

function sourceOf(name: string, env: Env): string {
  const own = name.replace(OTLP_PREFIX, TRACES_PREFIX);
  return isSet(own, env) ? own : name;
}

/** The problem under the name of the variable that was set, with a hint to switch tracing off. */
function named(env: Env) {
  return ({ where, problem, hint }: ConfigProblem): ConfigProblem => ({
    where: sourceOf(where, env),
    problem,
    hint: hint ?? 'OTEL_TRACES_EXPORTER=none switches tracing off',
  });
}

function tracingOf(variables: z.output<typeof Variables>, env: Env) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = variables;
  const whole = sourceOf('OTEL_EXPORTER_OTLP_ENDPOINT', env).startsWith(TRACES_PREFIX);
  return {
    url: whole ? endpoint : `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: new Map(
      variables.OTEL_EXPORTER_OTLP_HEADERS.map(([key, value]) => [key, new Secret(value)]),
    ),
    /** The sampled share of new traces, from 0 to 1. */
    ratio:
      variables.OTEL_TRACES_SAMPLER === 'parentbased_traceidratio'
        ? variables.OTEL_TRACES_SAMPLER_ARG
        : 1,
  };
}

/** Collectors in a cluster often have no TLS; a key is never sent to them without it. */
function plainHttpProblems(variables: z.output<typeof Variables>): readonly ConfigProblem[] {
  const { protocol, hostname } = new URL(variables.OTEL_EXPORTER_OTLP_ENDPOINT);
  const hasKey = variables.OTEL_EXPORTER_OTLP_HEADERS.length > 0;
  if (protocol === 'https:' || isThisMachine(hostname) || !hasKey) return [];
  const problem = 'must begin with https://, because the headers may contain a key';
  return [{ where: 'OTEL_EXPORTER_OTLP_ENDPOINT', problem, hint: null }];
}

const HEADER = /^[\w!#$%&'*+.^`|~-]+$/;

/** Parses `key=value,key=value` with percent-encoded values. Problems never quote a value. */
function headers() {
  return z
    .string()
    .default('')
    .transform((text, context) =>
      text
        .split(',')
        .filter((part) => part.trim() !== '')
        .map((part): readonly [string, string] => {
          const [name = '', ...rest] = part.split('=');
          const value = decoded(rest.join('=').trim());
          if (HEADER.test(name.trim()) && value !== null && rest.length > 0) {
            return [name.trim(), value];
          }
          context.addIssue({ code: 'custom', message: 'must be key=value,key=value' });
          return ['', ''];
        }),
    );
}

function decoded(text: string): string | null {
  try {
    const value = decodeURIComponent(text);
    return /\p{Cc}/u.test(value) ? null : value;
  } catch {
    return null;
  }
}
