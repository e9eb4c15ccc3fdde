import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { withExplicitTls } from '../../src/ops/environment.ts';
import { databaseProblem, isLastingDatabaseError } from '../../src/storage/errors.ts';
import { openStore, reading } from '../../src/storage/index.ts';
import { CERTIFICATE, type OwnServer, ownServer } from './postgres.ts';
import { storeAt } from './stores.ts';

let server: OwnServer;
beforeAll(async () => {
  server = await ownServer({ hasTls: true });
  await server.start();
});
afterAll(() => server.remove());

/** The address of the server under this name, with these parameters. */
function urlOf(hostname: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(server.url);
  url.hostname = hostname;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

const verified = (hostname: string, sslrootcert: string) =>
  urlOf(hostname, { sslmode: 'verify-full', sslrootcert });

test('a connection with a trusted certificate is encrypted', async () => {
  const requested = urlOf('localhost', { sslmode: 'require', sslrootcert: CERTIFICATE });
  const store = await storeAt(withExplicitTls(requested, false));
  const { rows } = await reading(store, (reader) =>
    sql<{ ssl: boolean }>`
    select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(reader),
  );
  expect(rows).toEqual([{ ssl: true }]);
});

test.for<[string, () => string, string]>([
  ['an unknown issuer', () => urlOf('localhost', { sslmode: 'verify-full' }), 'is not trusted'],
  ['another host name', () => verified('127.0.0.1', CERTIFICATE), 'is for another host name'],
  [
    'a file of a CA that does not exist',
    () => verified('localhost', `${CERTIFICATE}.none`),
    `cannot be read: ${CERTIFICATE}.none (ENOENT)`,
  ],
  ['no TLS', () => `${inject('postgresUrl')}?sslmode=verify-full`, 'offers no TLS'],
])('a server with %s is refused, and only a person can fix it', async ([, url, words]) => {
  const error = await openStore(url()).catch((reason: unknown) => reason);
  expect(databaseProblem(error)).toContain(words);
  expect(isLastingDatabaseError(error)).toBe(true);
});
