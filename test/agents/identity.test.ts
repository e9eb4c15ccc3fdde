import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createIdentifier, type Identified, type Unidentified } from '../../src/agents/identity.ts';
import { Secret } from '../../src/base/errors.ts';
import { getDocument } from '../../src/base/http.ts';
import {
  agentsConfig,
  CI_CLAIMS,
  DOCUMENTS,
  GITHUB,
  KEY_SET,
  LOGIN,
  OWN_KEY,
  PERSON_CLAIMS,
  SIGNING,
  signedHeaders,
  TEAM,
  type TokenParts,
  tokenOf,
  URL_OF_DOOR,
} from './issuer.ts';

const NOW = new Date('2026-11-28T12:00:00Z');

function identifier(documents = DOCUMENTS, seen: string[] = []) {
  return createIdentifier({
    config: agentsConfig(),
    signingSecret: new Secret(SIGNING),
    isForeignTeam: (team) => team !== TEAM,
    now: () => NOW,
    read: async (url) => {
      seen.push(url);
      const text = documents[url];
      return text === undefined ? { status: 404, text: 'Not found' } : { status: 200, text };
    },
  });
}

const identify = identifier();

function byHeaders(
  headers: Readonly<Record<string, string>>,
  raw = '{}',
  slack: unknown = undefined,
  own = identify,
) {
  return own({ header: (name) => headers[name] ?? null, raw: Buffer.from(raw), slack });
}

const byToken = (token: string, slack?: unknown, own = identify) =>
  byHeaders({ authorization: `Bearer ${token}` }, '{}', slack, own);

function outcome(found: Identified | Unidentified) {
  if ('why' in found) return `${found.status} ${found.why}`;
  if (found.caller === null) return `${found.agent.name} without a person`;
  const { agent, person, subject } = found.caller;
  return `${agent} for ${person ?? 'itself'} by ${subject}`;
}

const ci = { claims: CI_CLAIMS, issuer: GITHUB, now: NOW };
const ana = { claims: PERSON_CLAIMS, issuer: LOGIN, now: NOW };
const anaToken = await tokenOf(ana);
const CI = `ci for itself by ${CI_CLAIMS.sub}`;
const ANA = 'assistant for U0ANA0000 by ana@example.com';

test('a provider may name a second audience: the client and the person decide', async () => {
  const audience = ['https://login.example.com/userinfo', URL_OF_DOOR];
  expect(outcome(await byToken(await tokenOf({ ...ana, audience })))).toBe(ANA);
});

test('while keys are exchanged, both count; a third one does not', async () => {
  const next = { ...JSON.parse(KEY_SET).keys[0], kid: 'k2' };
  const both = JSON.stringify({ keys: [...JSON.parse(KEY_SET).keys, next] });
  const own = identifier({ ...DOCUMENTS, [`${GITHUB}/.well-known/jwks`]: both });
  const of = async (kid: string) =>
    outcome(await byToken(await tokenOf({ ...ci, header: { kid } }), null, own));
  expect([await of('k1'), await of('k2')]).toEqual([CI, CI]);
  expect(await of('k3')).toBe('401 This credential is not accepted.');
});

test('an access token by its type needs no pinned client', async () => {
  const typed = { ...ana, audience: 'typed', claims: { ...PERSON_CLAIMS, azp: 'other' } };
  const access = await byToken(await tokenOf({ ...typed, typ: 'at+jwt' }));
  expect(outcome(access)).toBe('typed for U0ANA0000 by ana@example.com');
  expect(outcome(await byToken(await tokenOf(typed)))).toMatch(/^401/);
});

test('the person of the token counts, not the person beside it', async () => {
  const slack = { user_id: 'U0BEN0000', team_id: TEAM };
  expect(outcome(await byToken(anaToken, slack))).toBe(ANA);
});

test.for<readonly [string, Partial<TokenParts>]>([
  ['another audience', { audience: 'https://other.example.com/mcp' }],
  ['another issuer', { issuer: 'https://issuer.example.com' }],
  ['the issuer with a slash', { issuer: `${GITHUB}/` }],
  ['the wrong key with the right kid', { key: 'wrong' }],
  ['no signature', { key: 'none' }],
  ['HS256 with the public key', { key: 'shared' }],
  ['an expired token', { age: 700 }],
  ['a token of two hours ago that has not expired', { age: 7_200, lasts: 86_400 }],
  ['an algorithm that is not listed', { key: 'RS512' }],
  ['no iat', { drop: 'iat' }],
  ['no exp', { drop: 'exp' }],
  ['no sub', { drop: 'sub' }],
  ['a number as the sub', { claims: { ...CI_CLAIMS, sub: 74 as never } }],
  ['an object as the sub', { claims: { ...CI_CLAIMS, sub: { id: 74 } as never } }],
  ['another repository', { claims: { ...CI_CLAIMS, repository_id: '75' } }],
  ['another branch', { claims: { ...CI_CLAIMS, ref: 'refs/heads/evil' } }],
  ['pull_request_target', { claims: { ...CI_CLAIMS, event_name: 'pull_request_target' } }],
  ['workflow_run', { claims: { ...CI_CLAIMS, event_name: 'workflow_run' } }],
  ['its own key in the header', { key: 'wrong', header: OWN_KEY }],
  ['a place of keys in the header', { key: 'wrong', header: { jku: 'https://evil.example.com' } }],
  ['a path as the kid', { header: { kid: '../../keys' } }],
  ['an empty kid', { header: { kid: '' } }],
  ['no event', { claims: { ...CI_CLAIMS, event_name: undefined } }],
  ['a list in place of a claim', { claims: { ...CI_CLAIMS, repository_id: ['74'] } }],
])('a workload token is refused: %s', async ([, given]) => {
  const found = await byToken(await tokenOf({ ...ci, ...given }));
  expect(outcome(found)).toBe('401 This credential is not accepted.');
});

test.for<readonly [string, Partial<TokenParts>]>([
  ['another azp', { claims: { ...PERSON_CLAIMS, azp: 'other' } }],
  ['no person', { claims: { ...PERSON_CLAIMS, slack_user_id: undefined } }],
  ['an agent as the person', { claims: { ...PERSON_CLAIMS, slack_user_id: 'agent:ci' } }],
  ['an ID token', { claims: { ...PERSON_CLAIMS, nonce: 'n' } }],
])('a token for a person is refused: %s', async ([, given]) => {
  const found = await byToken(await tokenOf({ ...ana, ...given }));
  expect(outcome(found)).toBe('401 This credential is not accepted.');
});

test('the caller does not learn what another agent has to prove, the log does', async () => {
  const found = await byToken(await tokenOf({ ...ci, claims: { ...CI_CLAIMS, ref: 'x' } }));
  expect(found).toMatchObject({ cause: 'ci: the claim ref is not refs/heads/main' });
  expect(JSON.stringify('why' in found && found.why)).not.toMatch(/ref|claim/);
});

test('keys that cannot be read are no wrong token', async () => {
  const found = await byToken(anaToken, null, identifier({}));
  expect(outcome(found)).toBe('503 The keys of the issuer cannot be read. Try again in a minute.');
});

test.for([
  ['another issuer', { issuer: 'x', jwks_uri: 'https://login.example.com/keys' }],
  ['keys without TLS', { issuer: LOGIN, jwks_uri: 'http://login.example.com/keys' }],
] as const)('metadata that names %s is not believed', async ([, metadata]) => {
  const address = `${LOGIN}.well-known/openid-configuration`;
  const named = { [address]: JSON.stringify(metadata), 'http://login.example.com/keys': KEY_SET };
  const found = await byToken(anaToken, null, identifier({ ...DOCUMENTS, ...named }));
  expect(outcome(found)).toMatch(/^503/);
});

test('the keys of an issuer are read once, at the first token', async () => {
  const seen: string[] = [];
  const own = identifier(DOCUMENTS, seen);
  for (let n = 0; n < 2; n += 1) await byToken(anaToken, null, own);
  expect(seen).toEqual([
    'https://login.example.com/.well-known/openid-configuration',
    'https://login.example.com/keys',
  ]);
});

test.for([
  ['readable', DOCUMENTS, 2],
  ['not readable', {}, 1],
] as const)('50 tokens at once read an issuer once that is %s', async ([, documents, reads]) => {
  const seen: string[] = [];
  const own = identifier(documents, seen);
  const call = () => byToken(anaToken, null, own);
  await Promise.all(Array.from({ length: 50 }, call));
  expect(seen).toHaveLength(reads);
  // A failure is not kept.
  await call();
  expect(seen).toHaveLength(2);
});

/** What an identifier says of Ana when her issuer serves its keys by `serve`. */
async function withServedKeys(serve: RequestListener) {
  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const read: typeof getDocument = (url, signal) =>
    url.endsWith('/keys')
      ? getDocument(`http://127.0.0.1:${port}`, signal)
      : Promise.resolve({ status: 200, text: DOCUMENTS[url] ?? '' });
  const own = createIdentifier({
    ...{ config: agentsConfig(), signingSecret: null, isForeignTeam: () => false },
    ...{ now: () => NOW, read },
  });
  return outcome(await byToken(anaToken, null, own));
}

test('a key set without an end is left, and the token is not accepted', async () => {
  let sent = 0;
  const left = Promise.withResolvers<void>();
  const found = await withServedKeys((_, response) => {
    const chunk = 'x'.repeat(64 * 1024);
    response.writeHead(200).write('{"keys":[');
    response.on('close', left.resolve);
    const more = () => {
      do sent += chunk.length;
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    more();
  });
  expect(found).toMatch(/^503 The keys of the issuer cannot be read/);
  await left.promise;
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});

test('of a key set with many keys for one id none is tried', async () => {
  const [key] = JSON.parse(KEY_SET).keys;
  const many = JSON.stringify({ keys: Array.from({ length: 400 }, () => key) });
  const found = await withServedKeys((_, response) => void response.end(many));
  expect(found).toBe('401 This credential is not accepted.');
});

const RAW = '{"jsonrpc":"2.0"}';
const SLACK = { user_id: 'U0ANA0000', team_id: TEAM };

test('the signature of Slack names the person', async () => {
  const found = await byHeaders(signedHeaders(RAW, NOW), RAW, SLACK);
  expect(outcome(found)).toBe('slackbot for U0ANA0000 by slack');
});

test('discovery by Slack has no person', async () => {
  const found = await byHeaders(signedHeaders(RAW, NOW), RAW);
  expect(outcome(found)).toBe('slackbot without a person');
});

test('a copy of a request of Slack names the same delivery', async () => {
  const [one, copy] = await Promise.all(
    [0, 1].map(() => byHeaders(signedHeaders(RAW, NOW), RAW, SLACK)),
  );
  expect(one).toEqual(copy);
});

const REFUSED = '401 This credential is not accepted.';
const FOREIGN = '403 This is another workspace.';
const SIGNED = signedHeaders(RAW, NOW);

test.for([
  ['another body', signedHeaders('{}', NOW), SLACK, REFUSED],
  ['six minutes old', signedHeaders(RAW, NOW, { age: 400 }), SLACK, REFUSED],
  ['six minutes ahead', signedHeaders(RAW, NOW, { age: -400 }), SLACK, REFUSED],
  ['another secret', signedHeaders(RAW, NOW, { secret: 'x'.repeat(32) }), SLACK, REFUSED],
  ['no signature', {}, SLACK, '401 Send a bearer token, or the signature of Slack.'],
  ['both credentials', { ...SIGNED, authorization: `Bearer ${anaToken}` }, SLACK, REFUSED],
  ['another workspace', SIGNED, { ...SLACK, team_id: 'T0OTHER' }, FOREIGN],
  ['no workspace', SIGNED, { user_id: 'U0ANA0000' }, FOREIGN],
  ['an agent as the person', SIGNED, { ...SLACK, user_id: 'agent:ci' }, REFUSED],
  ['a list as the person', SIGNED, { ...SLACK, user_id: ['U0ANA0000'] }, REFUSED],
] as const)('a request of Slack is refused: %s', async ([, headers, slack, expected]) => {
  expect(outcome(await byHeaders(headers, RAW, slack))).toBe(expected);
});
