import type { ConfigProblem } from '../base/problem.ts';
import { isLoopback } from './variables.ts';

interface ServerAddress {
  readonly url: URL;
  /** A socket of this machine, or a loopback address. */
  readonly isLocal: boolean;
}

const ONE_SERVER = 'must be the address of one server';
const PLAIN = ['disable', 'no-verify'];
const VERIFIED = ['prefer', 'require', 'verify-ca', 'verify-full'];
const KNOWN = [...PLAIN, ...VERIFIED];

/** Null for SQLite and for an address that cannot be read. */
function serverAddress(text: string): ServerAddress | null {
  if (text.startsWith('file:') || !URL.canParse(text)) return null;
  const url = new URL(text);
  const host = decodeURIComponent(url.searchParams.get('host') ?? url.hostname);
  return { url, isLocal: host.startsWith('/') || host === '::1' || isLoopback(host) };
}

/**
 * What is wrong with the address of a PostgreSQL server, or null. Without TLS, or without a verified
 * certificate, the password and the approvals of another machine could be read and changed on their
 * way; `isInsecureAllowed` permits it.
 */
export function databaseUrlProblem(text: string, isInsecureAllowed: boolean): ConfigProblem | null {
  if (text.startsWith('file:')) return null;
  const problem = (says: string, hint: string) => ({ where: 'DATABASE_URL', problem: says, hint });
  const address = serverAddress(text);
  const host = address?.url.searchParams.get('host') ?? address?.url.hostname ?? '';
  if (address === null || host === '' || host.includes(',')) {
    return problem(ONE_SERVER, 'postgres://user:password@host:5432/database');
  }
  const { searchParams } = address.url;
  if (searchParams.has('ssl') || searchParams.has('uselibpqcompat')) {
    return problem('must not contain ssl or uselibpqcompat', 'use sslmode=verify-full');
  }
  const mode = searchParams.get('sslmode') ?? 'verify-full';
  if (!KNOWN.includes(mode)) return problem('has an unknown sslmode', 'use sslmode=verify-full');
  if (address.isLocal || isInsecureAllowed || !PLAIN.includes(mode)) return null;
  return problem(
    `has sslmode=${mode}, so that others on the network could read and change what is sent`,
    'use sslmode=verify-full, or set DATABASE_INSECURE=allowed for a network that you trust',
  );
}

/**
 * The address with an explicit `sslmode`: verify-full where TLS is requested in any form, and by
 * default for another machine. Source: docs/operating.md#tls-to-the-database.
 */
export function withExplicitTls(text: string, isInsecureAllowed: boolean): string {
  const address = serverAddress(text);
  if (address === null) return text;
  const { url, isLocal } = address;
  const mode = url.searchParams.get('sslmode');
  if (mode === null && (isLocal || isInsecureAllowed)) return text;
  if (mode === null || VERIFIED.includes(mode)) url.searchParams.set('sslmode', 'verify-full');
  return url.href;
}
