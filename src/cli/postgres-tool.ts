import { spawnSync } from 'node:child_process';

/** libpq's variable for each part of the address. */
const PARAMETERS: Readonly<Record<string, string>> = {
  host: 'PGHOST',
  port: 'PGPORT',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
};

/**
 * Runs pg_dump or pg_restore on the database. Its address and password are variables, because other users of
 * the machine can read arguments. Throws if the tool is missing or fails.
 */
export function runPostgresTool(
  tool: 'pg_dump' | 'pg_restore',
  url: string,
  args: readonly string[],
): void {
  const variables = connectionVariables(url);
  const env = { PATH: process.env.PATH, ...variables };
  const { error, status } = spawnSync(tool, ['--dbname', variables.PGDATABASE ?? '', ...args], {
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (error) {
    const reason = `${tool} cannot be run here (${'code' in error ? error.code : error.message})`;
    throw new Error(`${reason}: run it with the client tools of PostgreSQL, see docs/shipping.md`);
  }
  if (status !== 0) throw new Error(`${tool} failed with exit code ${status}`);
}

export function connectionVariables(address: string): Readonly<Record<string, string>> {
  const url = new URL(address);
  const parts = {
    PGHOST: decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1'),
    PGPORT: url.port,
    PGUSER: decodeURIComponent(url.username),
    PGPASSWORD: decodeURIComponent(url.password),
    PGDATABASE: decodeURIComponent(url.pathname.slice(1)),
  };
  const parameters = [...url.searchParams].flatMap(([name, value]) => {
    const variable = PARAMETERS[name];
    return variable === undefined ? [] : [[variable, value]];
  });
  const given = Object.entries(parts).filter(([, value]) => value !== '');
  return withLibpqTls(Object.fromEntries([...given, ...parameters]));
}

type Variables = Readonly<Record<string, string>>;

/** libpq has no no-verify, and uses the public CAs only on request (since version 16). */
function withLibpqTls(variables: Variables): Variables {
  const { PGSSLMODE: mode, PGSSLROOTCERT: ca = 'system' } = variables;
  if (mode === 'no-verify') return { ...variables, PGSSLMODE: 'require' };
  return mode === 'verify-full' ? { ...variables, PGSSLROOTCERT: ca } : variables;
}
