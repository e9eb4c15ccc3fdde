import { isIP } from 'node:net';
import { z } from 'zod';
import { Secret } from '../base/errors.ts';
import { strictConfigObject, withHint } from '../base/problem.ts';

/** All variables with their formats and defaults. */
export const Variables = strictConfigObject({
  SLACK_BOT_TOKEN: token('xoxb-', 'the bot token, xoxb-…, from the page “OAuth & Permissions”'),
  SLACK_APP_TOKEN: token('xapp-', 'the app-level token, xapp-…').optional(),
  SLACK_SIGNING_SECRET: secret('the signing secret from the page “Basic Information”').optional(),
  SLACK_API_URL: address('the address of the Web API').optional(),
  SLACK_COMMAND_PREFIX: z
    .string()
    // Slack allows 32 characters for a command, and the longest noun needs nine.
    .regex(/^[a-z0-9-]{1,22}$/, 'must be at most 22 lower-case letters, digits and dashes')
    .default(''),
  PORT: port().default(3000),
  OPS_PORT: port().optional(),
  BIND_ADDRESS: z
    .string()
    .refine((text) => isIP(text) !== 0, { error: withHint('must be an IP address', '127.0.0.1') })
    .optional(),
  CLOUD_API_URL: address('the address of the cloud API, https://…'),
  CLOUD_API_KEY_ID: variable('the id of an API key, from the cloud console').regex(
    /^\S+$/,
    'must not contain spaces',
  ),
  CLOUD_API_KEY_SECRET: secret('the secret of that API key'),
  ALERTS_API_URL: address('the address of the alerts API').optional(),
  ALERTS_API_TOKEN: secret('a token of the alerts API').optional(),
  DATABASE_URL: z
    .string()
    .regex(/^(file:.|postgres(ql)?:\/\/.)/, 'must begin with file: or postgres://')
    .default('file:./signalbox.db')
    .transform((text) => new Secret(text)),
  DATABASE_INSECURE: z.enum(['allowed']).optional(),
  DATABASE_POOL_SIZE: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number')
    .transform(Number)
    .refine((size) => size >= 2 && size <= 100, { error: 'must be from 2 to 100' })
    .default(6),
  SIGNALBOX_CONFIG: z.string().default('./signalbox.yaml'),
  SIGNALBOX_KEY: z
    .string()
    .refine(isKey, { error: withHint('must be 32 bytes in base64', 'openssl rand -base64 32') })
    .transform((text) => new Secret(text))
    .optional(),
  SIGNALBOX_PREVIOUS_KEYS: z
    .string()
    .transform((text) => text.split(',').map((key) => key.trim()))
    .refine((keys) => keys.every(isKey), {
      error: withHint('must be keys of 32 bytes in base64, separated by commas', 'earlier keys'),
    })
    .transform((keys) => keys.map((key) => new Secret(key)))
    .default([]),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  STOP_WITHIN_S: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number of seconds')
    .transform(Number)
    // A shorter time finishes no request; supervisors do not wait longer.
    .refine((seconds) => seconds >= 2 && seconds <= 600, { error: 'must be from 2 to 600' })
    .default(20),
});

export const NAMES = Object.keys(Variables.shape);

/** Variables whose value can come from a file, named by the variable with the suffix `_FILE`. */
export const FROM_FILES = [
  'SLACK_BOT_TOKEN',
  'SLACK_APP_TOKEN',
  'SLACK_SIGNING_SECRET',
  'CLOUD_API_KEY_ID',
  'CLOUD_API_KEY_SECRET',
  'ALERTS_API_TOKEN',
  'DATABASE_URL',
  'SIGNALBOX_KEY',
  'SIGNALBOX_PREVIOUS_KEYS',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
];

function port() {
  return z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((value) => value <= 65_535, { error: 'must be at most 65535' });
}

// No problem quotes a value: a secret in the wrong variable must not appear in a log.
function variable(meaning: string) {
  return z.string({ error: withHint('is not set', meaning) });
}

function secret(meaning: string) {
  return variable(meaning)
    .regex(/^\S+$/, 'must not contain spaces or line breaks')
    .transform((text) => new Secret(text));
}

function token(start: string, meaning: string) {
  return variable(meaning)
    .regex(new RegExp(`^${start}\\S+$`), withHint(`must begin with ${start}`, meaning))
    .transform((text) => new Secret(text));
}

function address(meaning: string) {
  return variable(meaning).superRefine((text, context) => {
    const message = addressProblem(text);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });
}

function addressProblem(text: string): string | null {
  if (!URL.canParse(text)) return withHint('must be an address', 'https://…');
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (username + password !== '') return 'must not contain a user or a password';
  if (search + hash !== '') return 'must not contain a query or a fragment';
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return null;
  return withHint('must begin with https://', 'http is allowed for this machine only');
}

export function isLoopback(hostname: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function isKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  // The decoder ignores invalid characters, so the text is compared with its re-encoding.
  return bytes.length === 32 && bytes.toString('base64') === text;
}
