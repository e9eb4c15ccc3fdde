import dns from 'node:dns';
import { expect, test } from 'vitest';
import { ApiError } from '../../src/base/errors.ts';
import { mayReach } from '../../src/base/http-limits.ts';
import { replaceExport } from '../harness/replace-export.ts';
import { httpClient, json, serve } from './loopback.ts';

const API = 'api.example.com';

test.for<[string, string]>([
  ['a private one', '10.1.2.3'],
  ['another', '172.31.255.255'],
  ['a home network', '192.168.0.1'],
  ['a shared one', '100.64.0.1'],
  ['a private one of IPv6', 'fd12:3456::1'],
])('%s, %s, is reached only if private addresses are allowed', ([, address]) => {
  expect(mayReach(API, address, false)).toBe(false);
  expect(mayReach(API, address, true)).toBe(true);
});

test.for([
  ...['169.254.169.254', 'fe80::1', 'fd00:ec2::254', '100.100.100.200', '0.0.0.0', '::', '::1'],
  ...['127.0.0.1', '224.0.0.1', '255.255.255.255', '::ffff:169.254.169.254', '::ffff:127.0.0.1'],
  'no address',
])('%s is never reached', (address) => {
  expect(mayReach(API, address, true)).toBe(false);
});

test.for(['93.184.216.34', '172.32.0.1', '2606:2800:220:1::1', '::ffff:93.184.216.34'])(
  '%s is reached',
  (address) => {
    expect(mayReach(API, address, false)).toBe(true);
  },
);

test('an IPv4-mapped IPv6 address counts as the IPv4 address', () => {
  expect(mayReach(API, '::ffff:10.0.0.1', false)).toBe(false);
});

test.for(['localhost', '127.0.0.1', '127.1.2.3', '[::1]'])(
  '%s is this machine, and nothing else',
  (name) => {
    expect(mayReach(name, '127.0.0.1', false)).toBe(true);
    expect(mayReach(name, '93.184.216.34', true)).toBe(false);
    expect(mayReach(name, '10.0.0.1', true)).toBe(false);
  },
);

/** Replaces the DNS of the outside world, which no test uses. */
function resolveTo(...addresses: readonly string[]): void {
  const found = addresses.map((address) => ({ address, family: 4 }));
  const lookup = (_name: string, _options: object, done: (error: null, all: object[]) => void) =>
    done(null, found);
  // The other forms of the function are not used.
  replaceExport(dns, 'lookup', lookup as unknown as typeof dns.lookup);
}

function client(baseUrl: string) {
  const { send } = httpClient(baseUrl);
  return send({ operation: 'makeThing', method: 'POST', path: '/v1/thing', body: {} });
}

async function kindAndEffectOf(sending: Promise<unknown>) {
  const error = await sending.catch((reason: unknown) => reason);
  if (!(error instanceof ApiError)) throw new Error('It was sent');
  return { kind: error.kind, effect: error.effect };
}

const REFUSED = { kind: 'private-address', effect: 'not-sent' };

test('a name that resolves to this machine gets no request and no key', async () => {
  const server = await serve(json(200, { result: {} }));
  resolveTo('127.0.0.1');
  expect(await kindAndEffectOf(client(`http://api.example.com:${server.port}`))).toEqual(REFUSED);
  expect(server.received).toEqual([]);
});

test('one forbidden address among allowed ones is refused', async () => {
  resolveTo('93.184.216.34', '169.254.169.254');
  expect(await kindAndEffectOf(client('https://api.example.com'))).toEqual(REFUSED);
});

test.for(['http://169.254.169.254', 'https://10.0.0.1', 'https://[fe80::1]', 'https://2852039166'])(
  '%s, which nobody looks up, is refused as well',
  async (address) => {
    expect(await kindAndEffectOf(client(address))).toEqual(REFUSED);
  },
);

test('localhost is reached', async () => {
  const server = await serve(json(200, { result: {} }));
  resolveTo('127.0.0.1');
  await client(`http://localhost:${server.port}`);
  expect(server.received).toHaveLength(1);
});
