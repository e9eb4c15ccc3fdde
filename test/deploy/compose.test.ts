import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { secretValues, unknownVariables } from './known-variables.ts';

const Environment = z.record(z.string(), z.string());

const SCRIPT = './deploy/postgres-role.sh';
const ROLE = `${SCRIPT}:/docker-entrypoint-initdb.d/role.sh:ro`;

// Strict: a new key of compose.yaml needs a review before it is added here.
const Bot = z.strictObject({
  build: z.literal('.'),
  image: z.string(),
  restart: z.literal('unless-stopped'),
  depends_on: z.strictObject({
    migrate: z.strictObject({ condition: z.literal('service_completed_successfully') }),
  }),
  environment: Environment,
  secrets: z.array(z.string()),
  volumes: z.array(z.string().endsWith(':ro')),
  ports: z.array(z.string().startsWith('127.0.0.1:')),
  networks: z.array(z.string()),
  read_only: z.literal(true),
  tmpfs: z.array(z.string()),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
  stop_grace_period: z.literal('60s'),
  mem_limit: z.string(),
});
const Migrate = Bot.pick({ build: true, image: true, environment: true, secrets: true }).extend({
  command: z.array(z.string()),
  depends_on: z.strictObject({
    postgres: z.strictObject({ condition: z.literal('service_healthy') }),
  }),
  networks: z.tuple([z.literal('database')]),
  ...{ read_only: z.literal(true), cap_drop: z.tuple([z.literal('ALL')]) },
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
});
const Postgres = z.strictObject({
  image: z.string().regex(/^postgres:18\.\d+-bookworm@sha256:[0-9a-f]{64}$/),
  restart: z.string(),
  environment: Environment,
  secrets: z.array(z.string()),
  volumes: z.tuple([z.literal('postgres:/var/lib/postgresql'), z.literal(ROLE)]),
  networks: z.tuple([z.literal('database')]),
  healthcheck: z.strictObject({
    test: z.array(z.string()),
    interval: z.string(),
    timeout: z.string(),
    retries: z.number(),
  }),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
  stop_grace_period: z.string(),
});
const Compose = z.strictObject({
  services: z.strictObject({ signalbox: Bot, migrate: Migrate, postgres: Postgres }),
  networks: z.strictObject({
    outside: z.null(),
    database: z.strictObject({ internal: z.literal(true) }),
  }),
  volumes: z.strictObject({ postgres: z.null() }),
  secrets: z.record(z.string(), z.strictObject({ file: z.string().startsWith('./secrets/') })),
});

const reading = Compose.safeParse(parse(readFileSync('compose.yaml', 'utf8')));

function compose() {
  if (!reading.success) throw reading.error;
  return reading.data;
}

test('the bot has a read-only file system, no privileges and 60 seconds to stop', () => {
  expect(reading.error).toBeUndefined();
});

test('the bot reads each variable that is set for it', () => {
  const { signalbox, migrate } = compose().services;
  const set = [signalbox, migrate].flatMap(({ environment }) => Object.keys(environment));
  expect(unknownVariables(set)).toEqual([]);
});

test('the role of the bot is made by the script, and only its migration has the owner', () => {
  const { signalbox, migrate, postgres } = compose().services;
  const role = /create role (\S+) login/.exec(readFileSync(SCRIPT, 'utf8'))?.[1];
  expect(migrate.command).toEqual(['/app/bin/signalbox', 'migrate', '--for', role]);
  expect(migrate.image).toBe(signalbox.image);
  expect(postgres.environment.POSTGRES_USER).not.toBe(role);
  expect(signalbox.secrets).not.toContain('owner_url');
  const shipping = readFileSync('docs/shipping.md', 'utf8');
  expect(shipping).toContain(`postgres://${role}:%s@postgres:5432/signalbox`);
  expect(shipping).toContain(
    `postgres://${postgres.environment.POSTGRES_USER}:%s@postgres:5432/signalbox`,
  );
});

test('every secret is a file, declared, mounted and named by a variable', () => {
  const { signalbox, migrate, postgres } = compose().services;
  const named = Object.entries({ ...migrate.environment, ...signalbox.environment })
    .filter(([name]) => name.endsWith('_FILE'))
    .map(([, path]) => path.replace('/run/secrets/', ''));
  expect(named.sort()).toEqual(signalbox.secrets.toSorted());
  expect(migrate.environment).toMatchObject({ DATABASE_URL_FILE: '/run/secrets/owner_url' });
  const mounted = [...signalbox.secrets, ...migrate.secrets, ...postgres.secrets];
  expect(Object.keys(compose().secrets).sort()).toEqual(mounted.sort());
  expect(secretValues(Object.keys(signalbox.environment))).toEqual([]);
});

test('git ignores the secrets', () => {
  expect(readFileSync('.gitignore', 'utf8').split('\n')).toContain('secrets/');
});

test('the database is reachable from the bot only', () => {
  expect(compose().services.signalbox.networks).toEqual(['outside', 'database']);
  expect(compose().networks.database.internal).toBe(true);
});
